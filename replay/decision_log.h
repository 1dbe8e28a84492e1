// The log of decisions that Stein writes itself: lines of JSON under a first one that says what bandit it is.
#pragma once

#include <stein/envs/bandit_spec.h>
#include <stein/envs/context_columns.h>
#include <stein/replay/log_format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// A decision with everything that a log keeps of it; spans are those of the moment.
struct LoggedDecision {
  std::uint64_t seed = 0;   ///< of the repetition that made it
  std::int64_t step = 0;    ///< its number in that repetition
  std::int64_t row = -1;    ///< of the data set that the context is of, or −1
  envs::Context context{};  ///< what was seen
  std::int64_t action = 0;  ///< the arm that was chosen
  double reward = 0;
  std::span<const double> expected_rewards{};  ///< [arms], where they are known
  std::span<const double> propensities{};      ///< [choices]
  bool deterministic = false;                  ///< the policy drew nothing
};

/// What the arm is called; its number in a bandit whose arms have no names.
std::string name_of_arm(std::int64_t arm, const envs::BanditSpec& spec);

/// The first line of a log of decisions in this bandit: JSON with the fields of `spec`.
std::string decision_log_head(const envs::BanditSpec& spec);

/// What such a line says. Throws Error(data) where it is none, or of no bandit that can be.
envs::BanditSpec bandit_of_head(std::string_view head);

/// A decision as a line: JSON with the keys seed, step, row, context or active, present, arm_features (each where there
/// is one), action, arm (its name, where it has one), reward, expected_rewards, propensities, deterministic; numbers in
/// the shortest form that reads back to the same.
std::string decision_line(const LoggedDecision& decision, const envs::BanditSpec& spec);

/// Reads such a log again. Steps of a seed ascend in a file: a decision that does not is there for the second time. A
/// policy that is replayed on it with the options and the seed of the run that wrote it makes the same decisions, and
/// so accepts all of them.
class DecisionLog final : public LogFormat {
 public:
  /// Which lines.
  struct Options {
    std::int64_t logged_seed = -1;

    template <class V>
    void describe(V& v) {
      v("logged_seed", logged_seed, "only the decisions of this repetition; -1: those of all, as they come",
        between(-1, 9e15));
    }
  };

  explicit DecisionLog(const Options& options);
  ~DecisionLog() override;

  /// Throws Error(data) unless `first_line` says what bandit the log is of.
  void begin(std::string_view first_line) override;
  const envs::BanditSpec& spec() const override { return spec_; }
  void begin_contexts(std::string_view first_line) override { begin(first_line); }
  /// Throws Error(data) for a later file that begins with another line than the first.
  LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  /// The keys context or active, arm_features, and present (numbers) or arms (names), each where the bandit has it. A
  /// context is its numbers, or, where contexts are rows of a table, an object with the row's columns as they are
  /// there.
  LineVerdict read_context(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  void begin_file() override { last_steps_.clear(); }
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;
  static bool recognises(std::string_view line);

 private:
  struct Json;

  /// Take what they are called by from the line that was parsed. Why it is bad, or nothing.
  std::string_view take_context(LoggedEvent& event);
  /// A context by the names of its columns, as the table has them: {"age": 40, "city": "Oslo"}.
  bool take_row(LoggedEvent& event);
  std::string_view check_context(const LoggedEvent& event, const ArmTable& arms) const;
  /// The names of `arms`, or the numbers of `present`, or neither: then all arms are there.
  std::string_view take_choices(LoggedEvent& event);
  std::string_view take_names();
  /// How many arms there are to choose from; 0 where nobody knows.
  std::int64_t choices(const LoggedEvent& event, const ArmTable& arms) const;
  /// Puts the arms into `event.present`; last, since names of bad lines are no arms.
  std::string_view take_present(ArmTable& arms, LoggedEvent& event);
  std::string_view take_outcome(LoggedEvent& event) const;

  std::int64_t logged_seed_;
  envs::BanditSpec spec_;
  std::vector<envs::ContextColumn> columns_;  ///< of contexts that are rows of a table
  std::string head_;                          ///< the log's first line
  std::unique_ptr<Json> json_;
  std::map<std::int64_t, std::int64_t> last_steps_;  ///< of the file, by seed
  std::vector<std::string_view> names_;
  std::string fault_;  ///< what a service is told of the last context that was bad, where there is more to say
};

}  // namespace stein::replay
