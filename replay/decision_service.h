// Lines with contexts and outcomes, answered line by line.
#pragma once

#include <stein/replay/log_format.h>
#include <stein/replay/served_policy.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stein::replay {

/// Answers lines: see Prediction for what they are.
class DecisionService {
 public:
  /// What a service does besides deciding.
  struct Options {
    bool learn = false;    ///< outcomes are learned from
    bool rewards = false;  ///< decisions come with the posterior rewards
  };

  /// @param policy, format  outlive the service
  DecisionService(ServedPolicy& policy, LogFormat& format, const Options& options)
      : policy_(policy), format_(format), options_(options) {}

  /// Appends the answer to a line, with its line end, to `answers`; nothing for a line that is no context on its own.
  void answer(std::string_view line, std::string& answers);
  /// The lines have ended: the answer to a context that none of them has ended, if there is one.
  void finish(std::string& answers);
  /// Whether the line tells what came of a decision, whatever contexts are written in: an object with both keys, or one
  /// that names both and cannot be read.
  static bool is_outcome(std::string_view line);

  std::int64_t decisions() const { return decisions_; }
  std::int64_t errors() const { return errors_; }
  /// "line 1: no JSON object"; empty without errors.
  const std::string& first_error() const { return first_error_; }

 private:
  /// `step` answers; what it cannot understand is refused.
  template <class Step>
  void guarded(std::string& answers, const Step& step);
  void take(const LineVerdict& verdict, std::string& answers);
  void learn(std::string_view line, std::string& answers);
  void decide(std::string& answers);
  void append_rewards(std::string& answers);
  void refuse(std::string_view reason, std::string& answers);

  ServedPolicy& policy_;
  LogFormat& format_;
  Options options_;
  LoggedEvent event_;
  std::int64_t lines_ = 0, decisions_ = 0, errors_ = 0;
  std::string first_error_;
};

}  // namespace stein::replay
