#include <stein/core/error.h>
#include <stein/replay/decision_log.h>
#include <stein/replay/replay_experiment.h>
#include <stein/replay/replay_prediction.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/run.h>

namespace stein::replay {

void ReplayPrediction::describe(OptionTable& table) {
  Prediction::describe(table);
  table("policy", policy_, "which policy of the replay; empty: its first");
}

std::unique_ptr<ServedPolicy> ReplayPrediction::make_policy(const runs::Experiment& experiment, const Snapshot& state,
                                                            std::uint64_t seed, const RunDirectory& directory,
                                                            const std::string&) const {
  const auto& replay = dynamic_cast<const ReplayExperiment&>(experiment);
  const std::string name = policy_name(experiment);
  const envs::BanditSpec spec = bandit_of_head(runs::read_manifest(directory).at("protocol").at("bandit").dump());
  auto learner = replay.make_learner(name, spec, seed);
  const Snapshot repetition = state.part(runs::part_of_seed(seed));
  learner->restore(repetition.part("comparison").part(name).part("policy").part("policy").part("learner"));
  ArmTable arms(spec.arms);
  arms.restore(repetition.part("reader").part("arms"));
  return std::make_unique<ServedPolicy>(spec, std::move(arms), std::move(learner));
}

std::string ReplayPrediction::policy_name(const runs::Experiment& experiment) const {
  return policy_.empty() ? dynamic_cast<const ReplayExperiment&>(experiment).policies().front() : policy_;
}

std::unique_ptr<LogFormat> ReplayPrediction::format_of(const runs::Experiment& experiment,
                                                       const std::string& name) const {
  const auto& replay = dynamic_cast<const ReplayExperiment&>(experiment);
  return name == replay.format() ? replay.make_format() : nullptr;
}

}  // namespace stein::replay
