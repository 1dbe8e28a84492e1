// Episodes of the policies that a run has learned: `stein eval` of a control run.
#pragma once

#include <stein/agents/control/control_experiment.h>
#include <stein/agents/control/control_run.h>
#include <stein/runs/run_action.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stein::agents {

/// Every seed's policies, as the newest checkpoint left them, play episodes in environments of their own.
class ControlEvaluation final : public runs::RunActionOn<ControlExperiment, ControlRun> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// What the policies of one seed played.
  struct Played {
    std::vector<double> returns{};             ///< [episodes]
    double discounted_return = 0, length = 0;  ///< means over episodes
    std::vector<double> of_particles{};        ///< [M] mean return; empty where one particle plays
  };
  /// @param progress  told of every episode
  Played play(const ControlAgent& agent, const envs::ControlEntry::Builder& environment, Progress& progress) const;
  /// Episodes that `play` takes where there are so many particles: of several each plays some of its own besides.
  std::int64_t episodes_in_all(std::int64_t particles) const;

  nlohmann::ordered_json perform_on(const ControlExperiment& experiment, ControlRun& run, const RunDirectory& directory,
                                    const runs::Console& console) override;

  std::int64_t episodes_ = 100, particle_ = -1, episode_seed_ = 0;
  bool sampled_ = false;
};

}  // namespace stein::agents
