// Policies that go along a log together, once, with a seed.
#pragma once

#include <stein/replay/log_facts.h>
#include <stein/replay/log_reader.h>
#include <stein/replay/policy_comparison.h>
#include <stein/runs/repetition.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stein::replay {

/// One pass over a log. A step is an event.
///
/// Recorded after every window of events, for every policy NAME: `reward/NAME`, the mean reward of events accepted in
/// the window; `relative/NAME`, the same divided by what uniformly drawn arms would have earned in it;
/// `mean_reward/NAME`, `mean_reward_low/NAME` and `mean_reward_high/NAME`, of all events so far with the interval;
/// `acceptance/NAME`, the share of accepted events in the window.
class ReplayRepetition final : public runs::Repetition {
 public:
  /// @param window  events from one record to the next; 0: a twentieth of those so far, from 200 to 20,000
  ReplayRepetition(std::uint64_t seed, std::unique_ptr<LogReader> reader, PolicyComparison comparison,
                   std::int64_t window);

  std::uint64_t seed() const override { return seed_; }
  std::int64_t steps_done() const override { return facts_.events(); }
  bool ended() const override { return ended_; }
  double share_done() const override;
  void advance(std::int64_t until, const StopToken& stop, runs::Records& records) override;
  /// Ranks share the policies; each of them reads the log.
  bool share_with(distributed::Communicator& ranks) override;
  void bring_together() override { comparison_.bring_together(); }
  std::optional<std::string> warning() const override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  const LogReader& reader() const { return *reader_; }
  const LogFacts& facts() const { return facts_; }
  const PolicyComparison& comparison() const { return comparison_; }

 private:
  /// A policy's sums when the window began.
  struct Mark {
    std::int64_t accepted = 0;
    double reward = 0;
  };
  std::int64_t window_end() const;
  std::int64_t read_block(std::int64_t most);
  void record(runs::Records& records);

  std::uint64_t seed_;
  std::unique_ptr<LogReader> reader_;
  PolicyComparison comparison_;
  std::int64_t window_;
  distributed::Communicator* ranks_ = &distributed::single_process();
  bool ended_ = false;
  LogFacts facts_;
  std::int64_t window_begin_ = 0;  ///< number of its first event
  ValueEstimator uniform_;         ///< of uniformly drawn arms, in the window
  std::vector<Mark> marks_;        ///< [policies]
  std::vector<LoggedEvent> block_;
};

}  // namespace stein::replay
