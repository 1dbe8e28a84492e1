// The policies of a control run as a service over a pipe: `stein predict`.
#pragma once

#include <stein/agents/control/control_experiment.h>
#include <stein/agents/control/control_run.h>
#include <stein/runs/run_action.h>

#include <cstdint>
#include <string>

namespace stein::agents {

/// A line in, a line out: observations become actions, as the newest checkpoint left the policies. A line is
/// [number, …], or {"observation": [number, …]} with, if wanted, "reset": true, where an episode begins, and an "id" of
/// any kind, which comes back. The answer is {"action", "particle"}, with "log_density" where actions are drawn: of the
/// action in the task's units before it is limited to its bounds. A choice is a number, other actions are lists, in the
/// task's own units and within its bounds. What cannot be understood becomes {"error": …}, and the service goes on.
class ControlPrediction final : public runs::RunActionOn<ControlExperiment, ControlRun> {
 public:
  void describe(OptionTable& table) override;
  bool streams() const override { return true; }
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// {actions, episodes, errors}. Throws Error(usage) for a particle that the agent does not have, Error(data) where no
  /// line was understood, Error(numeric) where a policy's outputs are not finite.
  nlohmann::ordered_json perform_on(const ControlExperiment& experiment, ControlRun& run, const RunDirectory& directory,
                                    const runs::Console& console) override;

  std::int64_t seed_ = -1, particle_ = -1, draw_seed_ = 0;
  bool sampled_ = false;
};

}  // namespace stein::agents
