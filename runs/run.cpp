#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/runs/run.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>

namespace stein::runs {
namespace {

using Json = nlohmann::ordered_json;

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
}

std::int64_t Run::steps_done() const {
  std::int64_t fewest = never, most = 0;
  for (const auto& repetition : repetitions_) {
    most = std::max(most, repetition->steps_done());
    if (!repetition->ended()) fewest = std::min(fewest, repetition->steps_done());
  }
  return fewest == never ? most : fewest;
}

bool Run::ended() const {
  return std::ranges::all_of(repetitions_, [](const auto& repetition) { return repetition->ended(); });
}

void Run::advance(std::int64_t until, const StopToken& stop, const Outputs& outputs) {
  std::vector<std::exception_ptr> errors(repetitions_.size());
  while (steps_done() < until && !ended() && !stop.stop_requested()) {
    parallel_for(count(), [&](std::int64_t i) {
      Repetition& own = repetition(i);
      const std::int64_t before = own.steps_done();
      if (before >= until || own.ended()) return;
      try {
        own.advance(until, stop, records_[static_cast<std::size_t>(i)]);
      } catch (...) {  // which of several is told must not depend on threads
        errors[static_cast<std::size_t>(i)] = std::current_exception();
      }
      outputs.progress.advance(static_cast<std::uint64_t>(own.steps_done() - before));
    });
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
    hand_over(outputs, steps_done());
    if (outputs.length_unknown) outputs.progress.expect(expected_steps());
  }
}

std::uint64_t Run::expected_steps() const {
  double sum = 0;
  for (const auto& repetition : repetitions_) {
    const double share = repetition->ended() ? 1 : repetition->share_done();
    if (share <= 0) return 0;
    sum += static_cast<double>(repetition->steps_done()) / share;
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
  for (std::size_t i = 0; i < repetitions_.size(); ++i) {
    Snapshot part;
    repetitions_[i]->save(part);
    records_[i].save(part);
    snapshot.put_part(part_of_seed(repetitions_[i]->seed()), part);
  }
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

void Run::add_cost(const Json& earlier) {
  static_cast<void>(earlier);
}

void Run::write_results(const RunDirectory& directory) {
  static_cast<void>(directory);
}

}  // namespace stein::runs
