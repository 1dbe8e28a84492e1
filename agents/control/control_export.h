// The policies of a control run as a file that other programs read: `stein export`.
#pragma once

#include <stein/agents/control/control_experiment.h>
#include <stein/agents/control/control_run.h>
#include <stein/runs/run_action.h>

#include <cstdint>
#include <string>

namespace stein::agents {

/// Writes the policy networks of a seed, as the newest checkpoint left them, to a safetensors file: of each layer the
/// weights [M, inputs, outputs] and biases [M, outputs] of M particles; where observations are normalised
/// `observation.mean` and `observation.scale` [O], for limit((o − mean) scale, ±10); where actions are numbers
/// `action.low` and `action.high` [A], and `action.log_deviation` [M, A] unless outputs say it; and in the header how
/// all this becomes an action (docs/control.md).
class ControlExport final : public runs::RunActionOn<ControlExperiment, ControlRun> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  void check_experiment(const ControlExperiment& experiment) const override;
  nlohmann::ordered_json perform_on(const ControlExperiment& experiment, ControlRun& run, const RunDirectory& directory,
                                    const runs::Console& console) override;

  std::string file_;
  std::int64_t seed_ = -1;
};

}  // namespace stein::agents
