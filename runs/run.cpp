#include <stein/core/error.h>
#include <stein/core/flush_denormals.h>
#include <stein/core/parallel.h>
#include <stein/distributed/agree.h>
#include <stein/distributed/snapshot_message.h>
#include <stein/runs/run.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace stein::runs {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// Ranks wait for each other this often: often enough for a person who watches, rarely enough to cost nothing.
constexpr auto round_length = std::chrono::seconds(1);

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// Visits the entries of all lists up to `last_step`, by step and then in the order of the lists, and removes them.
template <class Entry, class ListOf, class Visit>
void take_in_order(std::vector<Records>& records, std::int64_t last_step, const ListOf& list_of, const Visit& visit) {
  std::vector<std::size_t> next(records.size());
  while (true) {
    std::int64_t step = never;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const std::vector<Entry>& entries = list_of(records[i]);
      if (next[i] < entries.size()) step = std::min(step, entries[next[i]].step);
    }
    if (step > last_step || step == never) break;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const std::vector<Entry>& entries = list_of(records[i]);
      for (; next[i] < entries.size() && entries[next[i]].step == step; ++next[i]) visit(i, entries[next[i]]);
    }
  }
  for (std::size_t i = 0; i < next.size(); ++i) {
    std::vector<Entry>& entries = list_of(records[i]);
    entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(next[i]));
  }
}

void add(Snapshot& snapshot, const Snapshot& more) {
  for (const auto& [name, array] : more.arrays()) snapshot.put_array(name, array);
  for (const auto& [name, text] : more.texts()) snapshot.put_text(name, text);
}

/// "decisions_bytes" of "decisions.jsonl".
std::string bytes_name(const std::string& file) {
  return file.substr(0, file.find('.')) + "_bytes";
}

}  // namespace

std::string part_of_seed(std::uint64_t seed) {
  return fmt::format("seed_{}", seed);
}

Run::Run(SeedRange seeds, const MakeRepetition& make_repetition, std::string line_log)
    : line_log_(std::move(line_log)) {
  STEIN_CHECK(seeds.first < seeds.end, "seeds {}:{} hold no seed: the second number must be larger", seeds.first,
              seeds.end);
  for (std::uint64_t seed = seeds.first; seed < seeds.end; ++seed) repetitions_.push_back(make_repetition(seed));
  records_.assign(repetitions_.size(), Records(!line_log_.empty()));
  own_.resize(repetitions_.size());
  std::iota(own_.begin(), own_.end(), std::int64_t{0});
}

void Run::spread_over(distributed::Communicator& ranks) {
  elsewhere_.clear();
  for (std::int64_t i = 0; i < count(); ++i) elsewhere_.push_back(standing(i));
  ranks_ = &ranks;
  std::erase_if(own_, [&](std::int64_t i) { return !is_own(i); });
  if (!ranks.is_root()) records_.assign(records_.size(), Records(!line_log_.empty()));  // the root has what waits
  if (ranks.size() > count()) join_crew();
}

/// The ranks of a repetition, of which the first owns it and the others help.
void Run::join_crew() {
  const auto i = static_cast<std::int64_t>(ranks_->rank()) % count();
  std::shared_ptr<distributed::Communicator> crew = ranks_->split(static_cast<int>(i));
  if (crew->size() == 1 || !repetition(i).share_with(*crew)) return;
  crew_ = std::move(crew);
  shared_ = &repetition(i);
}

Snapshot Run::to_snapshot(const std::vector<Standing>& standings) {
  std::vector<std::int64_t> steps;
  std::vector<std::uint8_t> ended;
  std::vector<double> shares;
  for (const Standing& each : standings) {
    steps.push_back(each.steps);
    ended.push_back(each.ended ? 1 : 0);
    shares.push_back(each.share);
  }
  Snapshot snapshot;
  snapshot.put("steps", steps);
  snapshot.put("ended", ended);
  snapshot.put("shares", shares);
  return snapshot;
}

std::vector<Run::Standing> Run::standings_in(const Snapshot& snapshot) {
  const auto steps = snapshot.get_vector<std::int64_t>("steps");
  const auto ended = snapshot.get_vector<std::uint8_t>("ended");
  const auto shares = snapshot.get_vector<double>("shares");
  std::vector<Standing> standings;
  for (std::size_t i = 0; i < steps.size(); ++i)
    standings.push_back({.steps = steps.at(i), .ended = ended.at(i) != 0, .share = shares.at(i)});
  return standings;
}

Run::Standing Run::standing(std::int64_t i) const {
  if (!is_own(i)) return elsewhere_[static_cast<std::size_t>(i)];
  const Repetition& own = repetition(i);
  return {.steps = own.steps_done(), .ended = own.ended(), .share = own.share_done()};
}

std::int64_t Run::steps_done() const {
  std::int64_t fewest = never, most = 0;
  for (std::int64_t i = 0; i < count(); ++i) {
    const Standing now = standing(i);
    most = std::max(most, now.steps);
    if (!now.ended) fewest = std::min(fewest, now.steps);
  }
  return fewest == never ? most : fewest;
}

bool Run::ended() const {
  for (std::int64_t i = 0; i < count(); ++i)
    if (!standing(i).ended) return false;
  return true;
}

void Run::advance(std::int64_t until, const StopToken& stop, const Outputs& outputs) {
  while (steps_done() < until && !ended() && !ranks_->any(stop.stop_requested())) {
    shared_ != nullptr ? advance_together(until, stop, outputs) : advance_own(until, stop, outputs);
    if (ranks_->size() > 1) exchange(outputs);
    hand_over(outputs, steps_done());
    if (outputs.length_unknown) outputs.progress.expect(expected_steps());
  }
}

/// The repetition that it shares, until the round is over: when that is, the first of its ranks says. What goes wrong
/// goes wrong on all of them, as all compute the same; any other error is this rank's own, through which the others
/// wait, and has to end them all.
void Run::advance_together(std::int64_t until, const StopToken& stop, const Outputs& outputs) {
  const FlushDenormals flush;  // as in the tasks in which a process advances its own: the bits are the same
  const Clock::time_point began = Clock::now();
  const StopToken never_asked;
  Records unread(!line_log_.empty());
  Records& records = own_.empty() ? unread : records_[static_cast<std::size_t>(own_.front())];
  std::exception_ptr error;
  const auto goes_on = [&] {
    const bool wanted = shared_->steps_done() < until && !shared_->ended() && !stop.stop_requested() &&
                        Clock::now() - began < round_length;
    return !crew_->broadcast(wanted ? "yes" : "").empty();
  };
  while (!error && goes_on()) {
    const std::int64_t before = shared_->steps_done();
    try {
      shared_->advance(until, never_asked, records);
    } catch (const distributed::AgreedError&) {
      error = std::current_exception();
    } catch (const Error& failure) {
      if (failure.kind() != ErrorKind::numeric) throw;
      error = std::current_exception();
    }
    outputs.progress.advance(static_cast<std::uint64_t>(shared_->steps_done() - before));
  }
  const std::int64_t place = ranks_->rank() % count();
  distributed::throw_first(*ranks_, distributed::failure_of(error, place));
}

/// Each of its own repetitions once; beside other ranks, which do not wait for every few steps of this one, until the
/// round is over.
void Run::advance_own(std::int64_t until, const StopToken& stop, const Outputs& outputs) {
  const Clock::time_point began = Clock::now();
  std::vector<std::exception_ptr> errors(own_.size());
  const auto has_more = [&](std::int64_t i) { return repetition(i).steps_done() < until && !repetition(i).ended(); };
  const auto failed = [&] { return std::ranges::any_of(errors, [](const auto& error) { return error != nullptr; }); };
  do {
    parallel_for(std::ssize(own_), [&](std::int64_t k) {
      const std::int64_t i = own_[static_cast<std::size_t>(k)];
      if (!has_more(i)) return;
      const std::int64_t before = repetition(i).steps_done();
      try {
        repetition(i).advance(until, stop, records_[static_cast<std::size_t>(i)]);
      } catch (...) {  // which of several is told must not depend on threads
        errors[static_cast<std::size_t>(k)] = std::current_exception();
      }
      outputs.progress.advance(static_cast<std::uint64_t>(repetition(i).steps_done() - before));
    });
  } while (ranks_->size() > 1 && !failed() && !stop.stop_requested() && std::ranges::any_of(own_, has_more) &&
           Clock::now() - began < round_length);
  throw_first(errors);
}

void Run::throw_first(const std::vector<std::exception_ptr>& errors) const {
  const auto first = std::ranges::find_if(errors, [](const auto& error) { return error != nullptr; });
  const bool any = first != errors.end();
  if (ranks_->size() == 1) {
    if (any) std::rethrow_exception(*first);
    return;
  }
  const std::int64_t place = any ? own_[static_cast<std::size_t>(first - errors.begin())] : 0;
  distributed::throw_first(*ranks_, distributed::failure_of(any ? *first : nullptr, place));
}

void Run::conclude(const Watch& watch) {
  watch.begin("final evaluation", "seeds", own_.size());
  std::vector<std::exception_ptr> errors(own_.size());
  parallel_for(std::ssize(own_), [&](std::int64_t k) {
    errors[static_cast<std::size_t>(k)] =
        distributed::thrown_by([&] { repetition(own_[static_cast<std::size_t>(k)]).conclude(watch.stop()); });
    watch.advance();
  });
  throw_first(errors);
}

/// Brings what the repetitions of other ranks recorded to the root, and how far all are to all ranks.
void Run::exchange(const Outputs& outputs) {
  std::vector<Standing> now;
  for (std::int64_t i = 0; i < count(); ++i) now.push_back(standing(i));
  Snapshot report;
  for (const std::int64_t i : own_) {
    Records& records = records_[static_cast<std::size_t>(i)];
    Snapshot part = to_snapshot({now[static_cast<std::size_t>(i)]});
    if (!ranks_->is_root()) records.save(part), records.clear();
    report.put_part(part_of_seed(repetition(i).seed()), part);
  }
  const std::vector<std::string> reports = ranks_->gather(distributed::to_message(report));
  for (std::size_t rank = 1; rank < reports.size(); ++rank) {
    const Snapshot all = distributed::from_message(reports[rank]);
    for (auto i = static_cast<std::int64_t>(rank); i < count(); i += ranks_->size()) {
      const Snapshot part = all.part(part_of_seed(repetition(i).seed()));
      Standing& known = now[static_cast<std::size_t>(i)];
      const std::int64_t before = std::exchange(known, standings_in(part).front()).steps;
      outputs.progress.advance(static_cast<std::uint64_t>(known.steps - before));
      records_[static_cast<std::size_t>(i)].append(part);
    }
  }
  elsewhere_ = standings_in(distributed::from_message(ranks_->broadcast(distributed::to_message(to_snapshot(now)))));
}

std::vector<std::int64_t> Run::assemble() {
  std::vector<std::int64_t> arrived;
  if (ranks_->size() == 1) return arrived;
  Snapshot state;
  save_repetitions(state);
  if (shared_ != nullptr) shared_->share_with(distributed::single_process());  // on all ranks: they may leave together
  if (!ranks_->is_root()) return arrived;
  for (std::int64_t i = 0; i < count(); ++i) {
    if (is_own(i)) continue;
    repetition(i).restore(state.part(part_of_seed(repetition(i).seed())));
    arrived.push_back(i);
  }
  sharing_ = sharing();
  crew_.reset(), shared_ = nullptr;
  ranks_ = &distributed::single_process();
  own_.resize(repetitions_.size());
  std::iota(own_.begin(), own_.end(), std::int64_t{0});
  return arrived;
}

std::uint64_t Run::expected_steps() const {
  double sum = 0;
  for (std::int64_t i = 0; i < count(); ++i) {
    const Standing now = standing(i);
    const double share = now.ended ? 1 : now.share;
    if (share <= 0) return 0;
    sum += static_cast<double>(now.steps) / share;
  }
  return static_cast<std::uint64_t>(sum);
}

void Run::record_rest(const Outputs& outputs) {
  hand_over(outputs, never);
  if (lines_) lines_->flush();
}

void Run::hand_over(const Outputs& outputs, std::int64_t last_step) {
  take_in_order<Records::Number>(
      records_, last_step, [](Records & own) -> auto& { return own.numbers(); },
      [&](std::size_t i, const Records::Number& number) {
        outputs.recorder.scalar(number.tag, repetitions_[i]->seed(), static_cast<std::uint64_t>(number.step),
                                number.value);
      });
  take_in_order<Records::Line>(
      records_, last_step, [](Records & own) -> auto& { return own.lines(); },
      [&](std::size_t, const Records::Line& line) {
        if (lines_) lines_->append_line(line.text);
      });
}

std::vector<std::string> Run::warnings() const {
  std::vector<std::string> found;
  for (const auto& repetition : repetitions_)
    if (const auto warning = repetition->warning())
      found.push_back(fmt::format("seed {}: {}", repetition->seed(), *warning));
  return found;
}

void Run::save(Snapshot& snapshot) const {
  if (lines_) {
    lines_->sync();
    snapshot.put(bytes_name(line_log_), lines_->tell());
  }
  save_repetitions(snapshot);
}

/// The root adds what waits to be recorded, which it has of all.
void Run::save_repetitions(Snapshot& snapshot) const {
  if (shared_ != nullptr) shared_->bring_together();
  Snapshot own;
  for (const std::int64_t i : own_) own.put_saved(part_of_seed(repetition(i).seed()), repetition(i));
  if (ranks_->size() > 1) {
    const std::vector<std::string> parts = ranks_->gather(ranks_->is_root() ? "" : distributed::to_message(own));
    for (std::size_t rank = 1; rank < parts.size(); ++rank) add(snapshot, distributed::from_message(parts[rank]));
  }
  add(snapshot, own);
  for (std::int64_t i = 0; i < count(); ++i)
    snapshot.put_saved(part_of_seed(repetition(i).seed()), records_[static_cast<std::size_t>(i)]);
}

void Run::restore(const Snapshot& snapshot) {
  if (!line_log_.empty()) line_bytes_ = snapshot.get_scalar<std::uint64_t>(bytes_name(line_log_));
  for (std::size_t i = 0; i < repetitions_.size(); ++i) {
    const Snapshot part = snapshot.part(part_of_seed(repetitions_[i]->seed()));
    repetitions_[i]->restore(part);
    records_[i].restore(part);
  }
}

void Run::open_logs(const RunDirectory& directory) {
  if (line_log_.empty()) return;
  truncate_file(directory.file(line_log_), line_bytes_);
  lines_ = std::make_unique<AppendFile>(directory.file(line_log_));
  if (const std::string head = line_log_head(); !head.empty() && lines_->tell() == 0) lines_->append_line(head);
}

void Run::check_manifest(const Json& manifest) const {
  static_cast<void>(manifest);
}

Json Run::cost() const {
  return Json::object();
}

std::optional<distributed::SharingCost> Run::sharing() const {
  if (crew_ == nullptr) return sharing_;
  return crew_->sharing();
}

void Run::add_cost(const Json& other) {
  static_cast<void>(other);
}

void Run::write_results(const RunDirectory& directory) {
  static_cast<void>(directory);
}

}  // namespace stein::runs
