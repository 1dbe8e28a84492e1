#include <stein/agents/bandits/bandit_experiment.h>
#include <stein/agents/bandits/bandit_prediction.h>
#include <stein/replay/decision_log.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/run.h>

namespace stein::agents {
namespace {

/// What the run wrote of its bandit; runs of earlier versions wrote nothing, and the bandit is made again.
envs::BanditSpec bandit_of(const BanditExperiment& experiment, const RunDirectory& directory, const std::string& data) {
  const nlohmann::ordered_json manifest = runs::read_manifest(directory);
  const nlohmann::ordered_json& protocol = manifest.at("protocol");
  if (protocol.contains("bandit")) return replay::bandit_of_head(protocol["bandit"].dump());
  return experiment.environment_builder()
      .make({.directory = data.empty() ? runs::data_folder(manifest) : data})
      ->spec();
}

}  // namespace

std::string BanditPrediction::policy_name(const runs::Experiment& experiment) const {
  return dynamic_cast<const BanditExperiment&>(experiment).policy();
}

std::unique_ptr<replay::ServedPolicy> BanditPrediction::make_policy(const runs::Experiment& experiment,
                                                                    const Snapshot& state, std::uint64_t seed,
                                                                    const RunDirectory& directory,
                                                                    const std::string& data) const {
  const auto& bandit = dynamic_cast<const BanditExperiment&>(experiment);
  const envs::BanditSpec spec = bandit_of(bandit, directory, data);
  auto learner = bandit.make_learner(spec, seed);
  learner->restore(state.part(runs::part_of_seed(seed)));
  replay::ArmTable arms(spec.arms);
  for (std::int64_t arm = 0; arm < spec.arms; ++arm) arms.number(replay::name_of_arm(arm, spec));
  return std::make_unique<replay::ServedPolicy>(spec, std::move(arms), std::move(learner));
}

}  // namespace stein::agents
