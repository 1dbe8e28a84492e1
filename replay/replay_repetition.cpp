#include <stein/distributed/agree.h>
#include <stein/distributed/shared_work.h>
#include <stein/replay/replay_repetition.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace stein::replay {
namespace {

using Clock = std::chrono::steady_clock;

/// Events that are read before the policies, each a task of its own, take them: enough to hide what tasks cost.
constexpr std::int64_t block_size = 256;
/// The same where ranks share the policies, and where they share the lines, which takes a message a block.
constexpr std::int64_t shared_block_size = 2048, exchanged_block_size = 8192;
/// What a rank has to tell is kept until then, and a stretch takes about so long: messages cost nothing beside it,
/// ranks whose policies take turns at being the slow ones wait for each other rarely, and who asks the run to stop does
/// not wait long.
constexpr std::int64_t longest_stretch = 32'768;
constexpr double stretch_seconds = 0.25;

}  // namespace

ReplayRepetition::ReplayRepetition(std::uint64_t seed, std::unique_ptr<LogReader> reader, PolicyComparison comparison,
                                   std::int64_t window)
    : seed_(seed),
      reader_(std::move(reader)),
      comparison_(std::move(comparison)),
      window_(window),
      marks_(comparison_.contenders().size()),
      block_(block_size),
      stretch_(8 * block_size) {}

void ReplayRepetition::advance(std::int64_t until, const StopToken&, runs::Records& records) {
  if (ranks_->size() > 1) return advance_together(until, records);
  const std::span<const LoggedEvent> events = read_block(std::min(until, window_end()));
  for (const LoggedEvent& event : events) note(event);
  comparison_.take(events);
  if (steps_done() == window_end() || (ended_ && steps_done() > window_begin_)) record(end_window(), records);
}

void ReplayRepetition::advance_together(std::int64_t until, runs::Records& records) {
  std::string told;
  distributed::write_numbers(std::span(&stretch_, 1), told);
  told = ranks_->broadcast(told);  // clocks differ
  std::string_view of_root = told;
  distributed::read_numbers(of_root, std::span(&stretch_, 1));
  const std::int64_t before = steps_done();
  const double exchanging = ranks_->sharing().exchange_seconds;
  const auto began = Clock::now();
  std::vector<Window> ended;
  const auto failure = play(std::min(until, before + stretch_), ended);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  ranks_->sharing().work_seconds += seconds - (ranks_->sharing().exchange_seconds - exchanging);
  comparison_.exchange(failure);
  std::int64_t counted = before;
  for (const Window& window : ended) {
    comparison_.add_up(window.end - counted);
    counted = window.end;
    record(window, records);
  }
  comparison_.add_up(steps_done() - counted);
  const double wanted = stretch_seconds * static_cast<double>(steps_done() - before) / std::max(seconds, 1e-6);
  stretch_ = static_cast<std::int64_t>(std::clamp<double>(wanted, block_size, longest_stretch));
}

std::optional<distributed::Failure> ReplayRepetition::play(std::int64_t until, std::vector<Window>& ended) {
  std::optional<distributed::Failure> failure;
  const auto attempt = [&](const auto& work) {
    const std::int64_t place = steps_done() * ranks_->size() + ranks_->rank();
    try {
      work();
    } catch (const distributed::AgreedError&) {
      throw;
    } catch (...) {
      failure = distributed::failure_of(std::current_exception(), place);
    }
  };
  // Where others wait for its part of the lines, a rank that has failed reads on.
  while (!ended_ && steps_done() < until && (!failure || has_lines_to_share())) {
    std::span<const LoggedEvent> events;
    attempt([&] { events = read_block(until); });
    if (!failure) attempt([&] { comparison_.take(events); });
    for (const LoggedEvent& event : events) {
      note(event);
      if (steps_done() == window_end()) ended.push_back(end_window());
    }
  }
  if (ended_ && steps_done() > window_begin_) ended.push_back(end_window());
  return failure;
}

ReplayRepetition::Window ReplayRepetition::end_window() {
  const std::int64_t step = steps_done(), end = window_end();
  // What is left of a log at its end may be a handful of events.
  const Window window{.begin = window_begin_,
                      .end = step,
                      .telling = window_begin_ == 0 || 2 * (step - window_begin_) >= end - window_begin_,
                      .uniform = uniform_.estimate().value};
  window_begin_ = step;
  uniform_ = {};
  return window;
}

bool ReplayRepetition::has_lines_to_share() const {
  return reader_->has_lines_to_share() && (reader_->spec().arm_features == 0 || !comparison_.sees_arm_features());
}

bool ReplayRepetition::share_with(distributed::Communicator& ranks) {
  if (comparison_.contenders().size() < 2 && !has_lines_to_share()) return false;
  comparison_.share_with(ranks);
  ranks_ = &ranks;
  const std::int64_t shared = has_lines_to_share() ? exchanged_block_size : shared_block_size;
  block_.resize(static_cast<std::size_t>(ranks.size() == 1 ? block_size : shared));
  return true;
}

void ReplayRepetition::bring_together() {
  comparison_.bring_together();
  if (has_lines_to_share()) reader_->bring_together(*ranks_);
}

std::int64_t ReplayRepetition::window_end() const {
  constexpr std::int64_t parts = 20, least = 200, most = 20'000;
  return window_begin_ + (window_ > 0 ? window_ : std::clamp(window_begin_ / parts, least, most));
}

std::span<const LoggedEvent> ReplayRepetition::read_block(std::int64_t until) {
  const std::int64_t most = std::min(until - steps_done(), std::ssize(block_));
  const auto room = std::span(block_).first(static_cast<std::size_t>(most));
  std::size_t read = 0;
  if (ranks_->size() > 1 && has_lines_to_share()) {
    read = static_cast<std::size_t>(reader_->next_together(room, *ranks_));
    ended_ = read == 0;
  } else {
    while (read < room.size() && reader_->next(room[read])) ++read;
    ended_ = read < room.size();
  }
  return room.first(read);
}

void ReplayRepetition::note(const LoggedEvent& event) {
  facts_.add(event);
  uniform_.add(uniform_terms(event));
}

double ReplayRepetition::share_done() const {
  return reader_->bytes() > 0 ? static_cast<double>(reader_->bytes_read()) / static_cast<double>(reader_->bytes()) : 0;
}

void ReplayRepetition::record(const Window& window, runs::Records& records) {
  const std::int64_t step = window.end;
  const auto& contenders = comparison_.contenders();
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const auto& [name, policy] = std::tie(contenders[i].name, *contenders[i].policy);
    Mark& mark = marks_[i];
    const auto accepted = static_cast<double>(policy.accepted() - mark.accepted);
    const double reward = policy.reward() - mark.reward;
    if (accepted > 0 && window.telling) {
      records.number(step, "reward/" + name, reward / accepted);
      if (window.uniform != 0) records.number(step, "relative/" + name, reward / accepted / window.uniform);
    }
    if (policy.accepted() > 0) {
      const Interval interval = comparison_.interval(i);
      records.number(step, "mean_reward/" + name, policy.mean_reward());
      records.number(step, "mean_reward_low/" + name, interval.low);
      records.number(step, "mean_reward_high/" + name, interval.high);
    }
    if (window.telling) records.number(step, "acceptance/" + name, accepted / static_cast<double>(step - window.begin));
    mark = {policy.accepted(), policy.reward()};
  }
}

std::optional<std::string> ReplayRepetition::warning() const {
  std::string text;
  for (const auto& contender : comparison_.contenders())
    if (const auto warning = contender.policy->warning())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", contender.name, *warning);
  return text.empty() ? std::nullopt : std::optional(text);
}

void ReplayRepetition::save(Snapshot& snapshot) const {
  snapshot.put_saved("reader", *reader_);
  snapshot.put_saved("comparison", comparison_);
  snapshot.put_saved("facts", facts_);
  snapshot.put_saved("window_uniform", uniform_);
  snapshot.put("ended", static_cast<std::int64_t>(ended_));
  snapshot.put("window_begin", window_begin_);
  std::vector<std::int64_t> accepted;
  std::vector<double> rewards;
  for (const Mark& mark : marks_) accepted.push_back(mark.accepted), rewards.push_back(mark.reward);
  snapshot.put("window_accepted", accepted);
  snapshot.put("window_rewards", rewards);
}

void ReplayRepetition::restore(const Snapshot& snapshot) {
  reader_->restore(snapshot.part("reader"));
  comparison_.restore(snapshot.part("comparison"));
  facts_.restore(snapshot.part("facts"));
  uniform_.restore(snapshot.part("window_uniform"));
  ended_ = snapshot.get_scalar<std::int64_t>("ended") != 0;
  window_begin_ = snapshot.get_scalar<std::int64_t>("window_begin");
  std::vector<std::int64_t> accepted(marks_.size());
  std::vector<double> rewards(marks_.size());
  snapshot.get("window_accepted", std::span(accepted));
  snapshot.get("window_rewards", std::span(rewards));
  for (std::size_t i = 0; i < marks_.size(); ++i) marks_[i] = {accepted[i], rewards[i]};
}

}  // namespace stein::replay
