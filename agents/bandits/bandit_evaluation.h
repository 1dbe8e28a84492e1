// What bandit policies are worth once they have learned: `stein eval` of a bandit run.
#pragma once

#include <stein/agents/bandits/bandit_experiment.h>
#include <stein/agents/bandits/bandit_run.h>
#include <stein/runs/run_action.h>

#include <cstdint>
#include <string>

namespace stein::agents {

/// What choices were worth: sums over interactions.
struct ChoicesWorth {
  double regret = 0;          ///< exact: best minus chosen expected reward
  double uniform_regret = 0;  ///< expected regret of uniform play in the same contexts
  double reward = 0;          ///< as drawn
};

/// Lets `policy` choose in `interactions` contexts that come from `seed`, and learn nothing from them. Decisions are
/// numbered from 2^40 on: neither contexts nor draws are those of any run. @param progress  told of each
ChoicesWorth worth_of_choices(policies::BanditPolicy& policy, envs::BanditEnvironment& environment, std::uint64_t seed,
                              std::int64_t interactions, Progress& progress);

/// Every seed's policy, as its newest checkpoint left it, chooses arms in contexts that no run has seen, and learns
/// nothing from them. Regret is exact, as it is in runs.
class BanditEvaluation final : public runs::RunActionOn<BanditExperiment, BanditRun> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  nlohmann::ordered_json perform_on(const BanditExperiment& experiment, BanditRun& run, const RunDirectory& directory,
                                    const runs::Console& console) override;

  std::int64_t interactions_ = 1000, context_seed_ = 0;
};

}  // namespace stein::agents
