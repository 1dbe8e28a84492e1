// Episodes of the policies that a run has learned: `stein eval` of a control run.
#pragma once

#include <stein/agents/control/control_experiment.h>
#include <stein/agents/control/control_run.h>
#include <stein/runs/run_action.h>

#include <cstdint>
#include <string>

namespace stein::agents {

/// Every seed's policies, as the newest checkpoint left them, play episodes in environments of their own.
class ControlEvaluation final : public runs::RunActionOn<ControlExperiment, ControlRun> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  nlohmann::ordered_json perform_on(const ControlExperiment& experiment, ControlRun& run, const RunDirectory& directory,
                                    std::FILE* terminal) override;

  std::int64_t episodes_ = 100, particle_ = -1, episode_seed_ = 0;
  bool sampled_ = false;
};

}  // namespace stein::agents
