// What the formats of Vowpal Wabbit have in common: costs, and features by name.
#pragma once

#include <stein/replay/column_use.h>
#include <stein/replay/log_format.h>

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// A log of decisions with costs. Features have names and are hashed into columns (`add_hashed`), those that all
/// actions share and those of every action apart.
class VwLog : public LogFormat {
 public:
  /// How features become columns, and costs rewards.
  struct Options {
    std::int64_t shared_features = 32;
    std::int64_t action_features = 32;
    double reward_per_cost = -1;
    double reward_low = 0;
    double reward_high = 1;

    template <class V>
    void describe(V& v) {
      v("shared_features", shared_features, "columns into which features that all actions share are hashed",
        between(0, 1'048'576), "columns");
      v("action_features", action_features, "columns into which the features of an action are hashed",
        between(0, 1'048'576), "columns");
      v("reward_per_cost", reward_per_cost, "the reward is the cost times this");
      v("reward_low", reward_low, "smallest reward that there may be");
      v("reward_high", reward_high, "largest reward that there may be");
    }
  };

  const envs::BanditSpec& spec() const final { return spec_; }
  std::vector<std::string> warnings() const final;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 protected:
  /// Throws Error(usage) for options out of their ranges.
  VwLog(std::string name, std::string source, const Options& options);

  /// What is known of the chosen action.
  struct Outcome {
    double cost = 0, probability = 1;
  };
  /// Puts reward and propensity into `event`. Why they cannot be, or nothing.
  std::string_view take_outcome(const Outcome& outcome, LoggedEvent& event) const;
  /// Puts the arms that actions are called by into `event.present`, in their order; called last, since names of bad
  /// events are no arms. Why they cannot be, or nothing.
  static std::string_view take_arms(const std::vector<std::string_view>& names, ArmTable& arms, LoggedEvent& event);
  /// Whether every feature of `event` is a finite number, also where several share a column.
  static bool is_finite(const LoggedEvent& event);
  /// What an action without a name is called: its place, counted from 1.
  std::string_view name_of_place(std::size_t place);

  envs::BanditSpec spec_;
  ColumnUse shared_use_{0}, action_use_{0};

 private:
  Options options_;
  std::deque<std::string> places_;
};

}  // namespace stein::replay
