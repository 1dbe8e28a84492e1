// Decision-service JSON, as Vowpal Wabbit reads it with --dsjson.
#pragma once

#include <stein/replay/recent_ids.h>
#include <stein/replay/vw_log.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// A line is an object: `c` is the context with the actions in `c._multi`, `_label_cost` and `_label_probability` are
/// of the chosen action, which `_labelIndex` counts from 0 and `_label_Action` from 1; where no label names it, the
/// first of `a` was chosen, and without `_label_probability` the one of `p` that stands where it stands in `a` is its
/// probability. `Timestamp` is the time, and an `EventId` that is among the last 65,536 makes a bad line.
///
/// As in Vowpal Wabbit an object is a namespace, a number a feature, a string a feature named by key and text, true a
/// feature of 1; elements of an array are features by place, or of the array's namespace if they are objects or
/// strings; keys that begin with `_` are left out but for `_text`, whose words are features. Here namespaces within
/// others are told apart by all their names. Lines without a decision to learn from are no events: no `c`, no `a`, no
/// `_label_cost`, or `_skipLearn`. An event of a kind that is dropped with probability `pdrop` has weight
/// 1 / (1 − pdrop).
class Dsjson final : public VwLog {
 public:
  /// Those of all logs of Vowpal Wabbit, and what actions are called.
  struct Options : VwLog::Options {
    std::string arm_id;

    template <class V>
    void describe(V& v) {
      VwLog::Options::describe(v);
      v("arm_id", arm_id, "feature that names the arm of an action, such as id or Action.id; empty: its place");
    }
  };

  explicit Dsjson(const Options& options);
  ~Dsjson() override;

  /// Throws Error(data) for a log of decisions that Stein wrote: its lines are JSON too, and none of them an event
  /// here.
  void begin(std::string_view first_line) override;
  void begin_contexts(std::string_view first_line) override { begin(first_line); }
  LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  /// A whole line, whose outcome does not count, or what stands in its `c`.
  LineVerdict read_context(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  static bool recognises(std::string_view line);

 private:
  struct Json;
  struct Action;

  /// Take what they are called by from the line that was parsed. Why it is bad, or nothing.
  std::string_view take_features(ArmTable& arms, LoggedEvent& event);
  std::string_view take_action(const Action& action, LoggedEvent& event);
  std::string_view take_label(LoggedEvent& event);
  std::string_view take_time_and_weight(LoggedEvent& event) const;
  std::string_view take_choice();

  std::unique_ptr<Json> json_;
  std::string arm_pointer_;  ///< JSON pointer to the name of an action
  std::size_t chosen_ = 0;   ///< place of the chosen action
  std::vector<std::string_view> names_;
  std::vector<std::string> numbers_;  ///< names that are numbers, by place
  RecentIds recent_;
};

}  // namespace stein::replay
