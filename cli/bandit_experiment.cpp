#include "bandit_experiment.h"

#include <stein/core/error.h>
#include <stein/envs/vector_environment.h>

#include "bandit_summary.h"
#include "recorded_bandit_run.h"

namespace stein::cli {

BanditExperiment::BanditExperiment(const OptionSources& sources)
    : environment_(sources.look_ahead("env", default_environment)),
      policy_(sources.look_ahead("policy", default_policy)) {
  STEIN_CHECK(!envs::controls().entries().contains(environment_),
              "'{0}' is a control task, not a bandit: `stein rl --env {0}` learns it", environment_);
  environment_builder_ = envs::bandits().at(environment_).builder();
  policy_builder_ = policies::bandit_policies().at(policy_).builder();
  if (!learns()) agent_.forced_pulls = 0;
  describe_run(table_);
  agent_.describe(table_);
  environment_builder_->describe(table_);
  policy_builder_->describe(table_);
  check_names_differ(table_, name());
  const auto others = [] {
    OptionOwners owners;
    add_owners(owners, "environment", envs::bandits());
    add_owners(owners, "policy", policies::bandit_policies());
    return owners;
  };
  refuse_options_of_others(sources, table_, others, name());
  sources.apply(table_);
  static_cast<void>(seeds());
}

void BanditExperiment::describe_run(OptionTable& table) {
  table("env", environment_, "the bandit; `stein list` names them");
  table("policy", policy_, "the policy; `stein list` names them");
  table("seeds", seeds_, "independent repetitions, A:B, without B");
  table("steps", steps_, "length of every repetition", between(1, 1e12), "interactions");
  table("checkpoint_every", checkpoint_every_, "what a killed run loses at most", between(1, 1e12), "interactions");
  table("log_decisions", log_decisions_, "write decisions.jsonl, one line an interaction");
}

std::map<std::string, std::string> BanditExperiment::environment_options() const {
  return values_of(*environment_builder_);
}

Sections BanditExperiment::sections() {
  Sections sections{{"Run", {}}, {"Learning", {}}, {"Environment " + environment_, {}}, {"Policy " + policy_, {}}};
  describe_run(sections[0].second);
  agent_.describe(sections[1].second);
  environment_builder_->describe(sections[2].second);
  policy_builder_->describe(sections[3].second);
  return sections;
}

std::string BanditExperiment::help() const {
  BanditExperiment shown({.toml = "", .toml_name = "", .settings = {{"env", environment_}, {"policy", policy_}}});
  const Sections sections = shown.sections();
  shown.environment_ = default_environment;  // the tables show what the program would take, not what was asked about
  shown.policy_ = default_policy;
  return help_text(sections);
}

std::unique_ptr<RecordedRun> BanditExperiment::make_run(const std::string& data) const {
  const auto make_agent = [&](std::uint64_t seed) {
    auto environment = environment_builder_->make({.directory = data});
    auto policy = policy_builder_->make(environment->spec(), seed);
    return std::make_unique<agents::BanditAgent>(agent_, seed, std::move(environment), std::move(policy));
  };
  return std::make_unique<RecordedBanditRun>(
      *this, std::make_unique<agents::BanditRun>(seeds().first, seeds().end, make_agent), data);
}

std::string BanditExperiment::readable(const nlohmann::ordered_json& summary) const {
  return cli::readable(summary);
}

}  // namespace stein::cli
