// Lines of Vowpal Wabbit's text format with labels of contextual bandits.
#pragma once

#include <stein/replay/vw_log.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// Features are `|namespace:weight feature:value feature …`; a weight or a value that is missing is 1. As in Vowpal
/// Wabbit the last word before the first bar is the line's tag if it touches the bar or begins with '.
///
/// With `actions` = 0 an event has several lines (cb_adf) and ends with an empty one, or with the file: features that
/// actions share behind the word `shared`, then a line for each action, called by its tag or else by its place, counted
/// from 1. The chosen one has the label `action:cost:probability`, whose first number says nothing.
///
/// With `actions` = K > 0 every line is an event (cb) with actions 1 to K, features of the context alone, and labels
/// `action:cost:probability` for the chosen action and `action` for others; if there are several labels, only their
/// actions could be chosen.
///
/// Examples without an outcome are contexts, and no events of the log.
class VwText final : public VwLog {
 public:
  /// Those of all logs of Vowpal Wabbit, and which of the two forms the log has.
  struct Options : VwLog::Options {
    std::int64_t actions = 0;

    template <class V>
    void describe(V& v) {
      VwLog::Options::describe(v);
      v("actions", actions, "number of actions where every line is an event (cb); 0: a line for each action (cb_adf)",
        between(0, 1'048'576));
    }
  };

  explicit VwText(const Options& options);

  LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  void begin_contexts(std::string_view) override {}
  LineVerdict read_context(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  LineVerdict finish(ArmTable& arms, LoggedEvent& event) override;
  LineVerdict finish_context(ArmTable& arms, LoggedEvent& event) override;
  void begin_file() override { pending_ = {}; }
  void restore(const Snapshot& snapshot) override;

  static bool recognises(std::string_view line);

 private:
  enum class Wanted { decision, context };
  /// Of an event of several lines that has not ended.
  struct Pending {
    bool begun = false;
    bool skipped = false;  ///< one of its lines was bad
    std::vector<float> shared, actions;
    std::vector<std::string> names;
    std::optional<Outcome> outcome;
    std::size_t chosen = 0;
  };
  /// What stands before the first bar.
  struct Head {
    std::vector<std::string_view> labels;
    std::string_view tag;
  };

  /// A line that is an event.
  LineVerdict read_event(std::string_view line, Wanted wanted, ArmTable& arms, LoggedEvent& event);
  std::string_view take_labels(ArmTable& arms, LoggedEvent& event, std::optional<Outcome>& outcome);
  /// A line of an event.
  LineVerdict read_part(std::string_view line, Wanted wanted, ArmTable& arms, LoggedEvent& event);
  std::string_view take_part(std::string_view line, const ArmTable& arms);
  std::string_view take_action(std::string_view features, const ArmTable& arms);
  LineVerdict end_event(Wanted wanted, ArmTable& arms, LoggedEvent& event);

  /// Splits a line in front of its first bar. Why it cannot be, or nothing.
  std::string_view split(std::string_view line, std::string_view& features);

  std::int64_t actions_;
  Head head_;
  Pending pending_;
  std::vector<std::string_view> names_;
};

}  // namespace stein::replay
