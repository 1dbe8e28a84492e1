#include <stein/agents/bandits/bandit_experiment.h>
#include <stein/agents/bandits/bandit_run.h>
#include <stein/agents/bandits/showdown_preset.h>
#include <stein/core/error.h>
#include <stein/envs/vector_environment.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/single_name.h>

namespace stein::agents {
namespace {

Preset showdown_of(const runs::Part& part) {
  if (part.group == "environment") return showdown_bandit(part.name);
  return part.group == "policy" ? showdown_policy(part.name) : showdown_learning(true);
}

}  // namespace

BanditExperiment::BanditExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : Experiment(kind, {.steps = 2000, .checkpoint_every = 500}) {
  const std::string environment = runs::look_ahead_single(sources, "env", environment_);
  const std::string policy = sources.look_ahead("policy", policy_);
  STEIN_CHECK(!envs::controls().entries().contains(environment),
              "'{0}' is a control task, not a bandit: `stein rl --env {0}` learns it", environment);
  STEIN_CHECK(!environment.ends_with(".csv") && !environment.ends_with(".csv.gz"),
              "'{0}' is no bandit: a table of your own is --env table --set file={0} target=COLUMN", environment);
  const policies::PolicyEntry& entry = policies::bandit_policies().at(policy);
  environment_builder_ = envs::bandits().at(environment).builder();
  policy_builder_ = entry.builder();
  learns_ = entry.learns;
  if (!learns_) agent_.forced_pulls = 0;
  add_run([this](OptionTable& table) {
    table("env", environment_, "the bandit; `stein list` names them");
    table("policy", policy_, "the policy, or several to compare, with commas between; `stein list` names them");
    table("device", device_,
          "where the networks of a policy are, learn and predict: cpu, cuda (the first GPU; of several ranks on a "
          "machine each its own) or cuda:INDEX")
        .in_older_runs("cpu");
    table("log_decisions", log_decisions_, "write decisions.jsonl: every choice with its propensities, one line each");
  });
  add_part("Learning", [this](OptionTable& table) { agent_.describe(table); });
  add_part("Environment " + environment, [this](OptionTable& table) { environment_builder_->describe(table); });
  add_part("Policy " + policy, [this](OptionTable& table) { policy_builder_->describe(table); });
  environment_ = environment;
  policy_ = policy;
  for (const Preset& preset : {showdown_learning(learns_), showdown_bandit(environment), showdown_policy(policy)})
    if (!preset.settings.empty()) offer_preset(preset);
  read(sources);
  environment_builder_->make_paths_absolute();
  if (!entry.on_devices) policies::check_on_host(policy, inference::parse_device(device_));
}

std::unique_ptr<policies::BanditLearner> BanditExperiment::make_learner(const envs::BanditSpec& spec,
                                                                        std::uint64_t seed) const {
  return std::make_unique<policies::BanditLearner>(agent_, spec, seed, policy_builder_->make(spec, seed));
}

std::unique_ptr<runs::Run> BanditExperiment::make_run(const std::string& data) const {
  const inference::Device device = inference::own_device(device_);
  inference::check_present(device);
  const auto first = environment_builder_->make({.directory = data});
  const auto make_agent = [&](std::uint64_t seed) {
    auto environment = environment_builder_->copy(*first);
    auto policy = policy_builder_->make(environment->spec(), seed, device);
    return std::make_unique<BanditAgent>(agent_, seed, std::move(environment), std::move(policy));
  };
  return std::make_unique<BanditRun>(seeds(), make_agent,
                                     BanditRun::Facts{.environment = environment_,
                                                      .policy = policy_,
                                                      .environment_options = values_of("Environment " + environment_),
                                                      .learns = learns_,
                                                      .window = agent_.buffer,
                                                      .log_decisions = log_decisions_});
}

std::vector<runs::Part> bandit_parts() {
  policies::BanditLearner::Options agent;
  std::vector<runs::Part> parts{runs::make_part("learning", "", "", OptionTable::of(agent))};
  runs::add_parts(parts, "environment", envs::bandits());
  runs::add_parts(parts, "policy", policies::bandit_policies());
  for (runs::Part& part : parts)
    if (Preset preset = showdown_of(part); !preset.settings.empty()) part.presets.push_back(std::move(preset));
  return parts;
}

}  // namespace stein::agents
