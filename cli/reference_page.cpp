#include "reference_page.h"

#include <stein/bench/benchmark.h>
#include <stein/core/data/manifest.h>
#include <stein/envs/vector_environment.h>
#include <stein/inference/samplers/sampler_registry.h>

#include "bandit_experiment.h"
#include "control_experiment.h"

namespace stein::cli {
namespace {

constexpr const char* opening =
    "# Stein: reference\n\n"
    "Written by `scripts/docs` from the program (`stein list --reference`). A run takes the options of the run, of "
    "learning,\nof its environment and of its policy side by side, by `--set name=value` or in the file of "
    "`--config`.\n\n"
    "In C++ one folder is one library, `stein::<folder>`, and one namespace. Start with `stein/inference/target.h` "
    "and\n"
    "`stein/inference/sampler.h`: a sampler moves particles along the gradient that a target gives it.\n";

std::string part(const std::string& heading, const std::string& description, const OptionTable& table) {
  const std::string options = table.options().empty() ? "No options.\n" : markdown_text(table);
  return fmt::format("\n### {}\n\n{}{}", heading, description.empty() ? "" : description + "\n\n", options);
}

template <class Entries>
std::string parts(const std::string& heading, const Entries& entries) {
  std::string text = fmt::format("\n## {}\n", heading);
  for (const auto& [name, entry] : entries) {
    OptionTable table;
    const auto builder = entry.builder();
    builder->describe(table);
    text += part(name, entry.description, table);
  }
  return text;
}

/// Options of `stein rl`: those of its run, and those of every agent with all that a posterior and continuous actions
/// add.
std::string control_runs() {
  std::string text = "\n## Control runs\n";
  for (const auto& [name, entry] : agents::control_agents().entries()) {
    ControlExperiment experiment(
        {.toml = "", .toml_name = "", .settings = {{"env", "cartpole"}, {"agent", name}, {"posterior", "s2vgd"}}});
    const auto sections = experiment.sections();
    experiment.show_default_names();
    if (name == agents::control_agents().names().front()) text += part(sections[0].first, "", sections[0].second);
    text += part(sections[1].first, entry.description, sections[1].second);
  }
  return text;
}

std::string line(const std::string& name, const std::string& description) {
  return fmt::format("- `{}`: {}\n", name, description);
}

}  // namespace

std::string make_reference_page() {
  BanditExperiment experiment({});
  const auto sections = experiment.sections();
  std::string text = opening;
  text += "\n## Bandit runs\n";
  text += part(sections[0].first, "", sections[0].second);
  text += part(sections[1].first, "", sections[1].second);
  text += parts("Environments", envs::bandits().entries());
  text += parts("Policies", policies::bandit_policies().entries());
  text += parts("Control environments", envs::controls().entries());
  text += control_runs();
  text += "\n## Samplers\n\n";
  for (const auto& [name, entry] : inference::samplers().entries()) text += line(name, entry.description);
  text += "\n## Data sets\n\n";
  for (const DataSet& set : data_sets()) text += line(set.name, set.description);
  text += "\n## Benchmarks\n\n";
  for (const auto& [name, entry] : bench::benchmarks().entries()) text += line(name, entry.description);
  return text;
}

}  // namespace stein::cli
