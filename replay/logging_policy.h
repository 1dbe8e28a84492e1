// The policy that made the log.
#pragma once

#include <stein/replay/judged_policy.h>

namespace stein::replay {

/// Accepts every event, with the propensity that the log has. Those of the arms that were not chosen are not known.
class LoggingPolicy final : public JudgedPolicy {
 public:
  explicit LoggingPolicy(const std::optional<ConfidenceSequence>& sequence) : JudgedPolicy(sequence) {}

  bool sees_arm_features() const override { return false; }

 private:
  Choice choose(const LoggedEvent& event, policies::Propensities) override {
    return {.accepted = true, .of_log = true, .propensity = event.propensity};
  }
};

}  // namespace stein::replay
