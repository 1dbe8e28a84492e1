// An episode of a trained policy as a moving picture: `stein render` of a control run.
#pragma once

#include <stein/agents/control/control_experiment.h>
#include <stein/agents/control/control_run.h>
#include <stein/runs/run_action.h>

#include <cstdint>
#include <string>

namespace stein::agents {

/// An animated SVG, or frames in the terminal, of an episode with the most likely action at every step.
class ControlRendering final : public runs::RunActionOn<ControlExperiment, ControlRun> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// Throws Error(usage) naming the tasks that have a picture, if this one has none.
  void check_experiment(const ControlExperiment& experiment) const override;
  nlohmann::ordered_json perform_on(const ControlExperiment& experiment, ControlRun& run, const RunDirectory& directory,
                                    const runs::Console& console) override;

  std::string out_;
  std::int64_t episode_seed_ = 0, seed_ = -1, particle_ = -1;
  bool terminal_ = false;
};

}  // namespace stein::agents
