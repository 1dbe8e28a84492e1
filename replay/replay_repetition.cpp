#include <stein/distributed/agree.h>
#include <stein/replay/replay_repetition.h>

#include <algorithm>
#include <utility>

namespace stein::replay {
namespace {

/// Events that are read before the policies, each a task of its own, take them: enough to hide what tasks cost.
constexpr std::int64_t block_size = 256;
/// The same where ranks share the policies: messages cost more than tasks do.
constexpr std::int64_t shared_block_size = 2048;

}  // namespace

ReplayRepetition::ReplayRepetition(std::uint64_t seed, std::unique_ptr<LogReader> reader, PolicyComparison comparison,
                                   std::int64_t window)
    : seed_(seed),
      reader_(std::move(reader)),
      comparison_(std::move(comparison)),
      window_(window),
      marks_(comparison_.contenders().size()),
      block_(block_size) {}

void ReplayRepetition::advance(std::int64_t until, const StopToken&, runs::Records& records) {
  const std::int64_t end = window_end();
  std::int64_t read = 0;
  distributed::agree(*ranks_, [&] {
    read = read_block(std::min({until, end, steps_done() + std::ssize(block_)}) - steps_done());
  });
  comparison_.take(std::span(block_).first(static_cast<std::size_t>(read)));
  if (steps_done() == end || (ended_ && steps_done() > window_begin_)) record(records);
}

bool ReplayRepetition::share_with(distributed::Communicator& ranks) {
  if (!comparison_.share_with(ranks)) return false;
  ranks_ = &ranks;
  block_.resize(static_cast<std::size_t>(ranks.size() == 1 ? block_size : shared_block_size));
  return true;
}

std::int64_t ReplayRepetition::window_end() const {
  constexpr std::int64_t parts = 20, least = 200, most = 20'000;
  return window_begin_ + (window_ > 0 ? window_ : std::clamp(window_begin_ / parts, least, most));
}

std::int64_t ReplayRepetition::read_block(std::int64_t most) {
  for (std::int64_t read = 0; read < most; ++read) {
    LoggedEvent& event = block_[static_cast<std::size_t>(read)];
    if (!reader_->next(event)) {
      ended_ = true;
      return read;
    }
    facts_.add(event);
    uniform_.add(uniform_terms(event));
  }
  return most;
}

double ReplayRepetition::share_done() const {
  return reader_->bytes() > 0 ? static_cast<double>(reader_->bytes_read()) / static_cast<double>(reader_->bytes()) : 0;
}

void ReplayRepetition::record(runs::Records& records) {
  const std::int64_t step = steps_done();
  const double uniform = uniform_.estimate().value;
  // What is left of a log at its end may be a handful of events.
  const bool telling = window_begin_ == 0 || 2 * (step - window_begin_) >= window_end() - window_begin_;
  const auto& contenders = comparison_.contenders();
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const auto& [name, policy] = std::tie(contenders[i].name, *contenders[i].policy);
    Mark& mark = marks_[i];
    const auto accepted = static_cast<double>(policy.accepted() - mark.accepted);
    const double reward = policy.reward() - mark.reward;
    if (accepted > 0 && telling) {
      records.number(step, "reward/" + name, reward / accepted);
      if (uniform != 0) records.number(step, "relative/" + name, reward / accepted / uniform);
    }
    if (policy.accepted() > 0) {
      const Interval interval = comparison_.interval(i);
      records.number(step, "mean_reward/" + name, policy.mean_reward());
      records.number(step, "mean_reward_low/" + name, interval.low);
      records.number(step, "mean_reward_high/" + name, interval.high);
    }
    if (telling) records.number(step, "acceptance/" + name, accepted / static_cast<double>(step - window_begin_));
    mark = {policy.accepted(), policy.reward()};
  }
  window_begin_ = step;
  uniform_ = {};
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
