// Policies that go along a log together, once, with a seed.
#pragma once

#include <stein/distributed/agree.h>
#include <stein/replay/log_facts.h>
#include <stein/replay/log_reader.h>
#include <stein/replay/policy_comparison.h>
#include <stein/runs/repetition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  /// Ranks share the policies, and the lines of the log where its format allows it and nobody sees the features of
  /// arms: to send these costs more than to read them.
  bool share_with(distributed::Communicator& ranks) override;
  void bring_together() override;
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
  /// Events from one record to the next.
  struct Window {
    std::int64_t begin = 0, end = 0;
    bool telling = true;  ///< it has enough of the events that it should
    double uniform = 0;   ///< value of uniformly drawn arms
  };
  bool has_lines_to_share() const;
  std::int64_t window_end() const;
  /// The next events, up to event `until` or fewer.
  std::span<const LoggedEvent> read_block(std::int64_t until);
  /// What an event says of the log, whoever chooses in it: it is done.
  void note(const LoggedEvent& event);
  /// Several blocks, behind which ranks tell each other what their policies chose.
  void advance_together(std::int64_t until, runs::Records& records);
  /// Reads them, and lets the policies that this rank plays choose. Returns what went wrong on this rank.
  std::optional<distributed::Failure> play(std::int64_t until, std::vector<Window>& ended);
  /// The window that ends with the last event; the next one begins.
  Window end_window();
  /// Of a window whose events are the last that were added up.
  void record(const Window& window, runs::Records& records);

  std::uint64_t seed_;
  std::unique_ptr<LogReader> reader_;
  PolicyComparison comparison_;
  std::int64_t window_;
  distributed::Communicator* ranks_ = &distributed::single_process();
  bool ended_ = false;
  LogFacts facts_;
  std::int64_t window_begin_ = 0;  ///< number of the first event of the one that is read
  ValueEstimator uniform_;         ///< of uniformly drawn arms, in the window
  std::vector<Mark> marks_;        ///< [policies]
  std::vector<LoggedEvent> block_;
  std::int64_t stretch_;  ///< events from one exchange of ranks to the next
};

}  // namespace stein::replay
