// Control tasks as data: what an agent needs to know of one before it meets it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace stein::envs {

/// One number of an observation, a state or an action, and the range that it stays in.
struct Quantity {
  std::string name;  ///< "cart position"
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::string unit{};
};

/// What there is to know of a control task.
struct ControlSpec {
  std::string name;
  std::int64_t version = 1;  ///< changes when the same actions no longer give the same numbers
  std::string source;        ///< paper, program or formula that it follows
  std::vector<Quantity> state{};
  std::vector<Quantity> observation{};
  std::int64_t choices = 0;        ///< > 0: an action is one of 0 … choices − 1; 0: it is the numbers below
  std::vector<Quantity> action{};  ///< of a choice: one quantity, 0 to choices − 1
  std::int64_t horizon = 0;        ///< steps after which an episode is truncated
  double step_seconds = 0;         ///< simulated time of a step; of pictures where nothing takes time
  double reward_low = 0;           ///< least reward of a step
  double reward_high = 0;          ///< largest reward of a step
  /// The mean return at which the task counts as solved; not a number where nobody has set one.
  double threshold = std::numeric_limits<double>::quiet_NaN();
  std::string ends{};  ///< what ends an episode before the horizon: "|pole angle| > 0.2 rad"; empty: nothing
  bool timed = true;   ///< whether a step takes time

  bool discrete() const { return choices > 0; }
};

}  // namespace stein::envs
