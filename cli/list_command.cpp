// stein list: what there is to run, measure and read.
#include <stein/agents/control/control_agent.h>
#include <stein/bench/benchmark.h>
#include <stein/core/data/data_maker.h>
#include <stein/core/data/manifest.h>
#include <stein/envs/bandit_environment.h>
#include <stein/envs/vector_environment.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/policies/bandit_policy.h>
#include <stein/replay/log_format.h>
#include <stein/replay/value_estimate.h>
#include <stein/runs/run_kind.h>
#include <stein/supervised/images/image_set.h>
#include <stein/supervised/tables/table_set.h>
#include <stein/training/weight_method.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "reference_page.h"

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

template <class Entries>
Json descriptions(const Entries& entries) {
  Json list = Json::array();
  for (const auto& [name, entry] : entries) list.push_back({{"name", name}, {"description", entry.description}});
  return list;
}

/// Presets of all kinds of runs: "paper" of policy s2vgd, with where its values come from.
Json presets() {
  Json list = Json::array();
  for (const auto& [name, kind] : runs::run_kinds().entries())
    for (const runs::Part& part : kind.parts())
      for (const Preset& preset : part.presets)
        list.push_back({{"name", preset.name},
                        {"description", fmt::format("{}, {}: {}", kind.subcommand, part.title(), preset.description)},
                        {"settings", preset.settings}});
  return list;
}

Json kinds() {
  Json list = Json::array();
  for (const auto& [name, kind] : runs::run_kinds().entries())
    list.push_back({{"name", name}, {"description", fmt::format("{}: `stein {}`", kind.description, kind.subcommand)}});
  return list;
}

Json everything() {
  Json sets = Json::array();
  for (const DataSet& set : data_sets()) sets.push_back({{"name", set.name}, {"description", set.description}});
  return {{"kinds of runs", kinds()},
          {"environments", descriptions(envs::bandits().entries())},
          {"control environments", descriptions(envs::controls().entries())},
          {"policies", descriptions(policies::bandit_policies().entries())},
          {"formats of logs", descriptions(replay::log_formats().entries())},
          {"estimators", descriptions(replay::estimators().entries())},
          {"agents", descriptions(agents::control_agents().entries())},
          {"posteriors", descriptions(agents::policy_posteriors().entries())},
          {"methods of networks", descriptions(training::weight_methods().entries())},
          {"tables", descriptions(supervised::table_sets().entries())},
          {"sets of images", descriptions(supervised::image_sets().entries())},
          {"samplers", descriptions(inference::samplers().entries())},
          {"benchmarks", descriptions(bench::benchmarks().entries())},
          {"presets", presets()},
          {"data sets", sets},
          {"data that are made", descriptions(data_makers().entries())}};
}

void print_lists(const Json& lists) {
  std::size_t width = 0;
  for (const Json& list : lists)
    for (const Json& item : list) width = std::max(width, item["name"].get_ref<const std::string&>().size());
  for (const auto& [heading, list] : lists.items()) {
    std::fputs((heading + "\n").c_str(), stdout);
    for (const Json& item : list) {
      const std::string line =
          fmt::format("  {:<{}}  {}\n", item["name"].get<std::string>(), width, item["description"].get<std::string>());
      std::fputs(line.c_str(), stdout);
    }
    std::fputs("\n", stdout);
  }
}

}  // namespace

Action list_command(CLI::App& command, const Arguments&) {
  const auto common = std::make_shared<CommonOptions>();
  const auto reference = std::make_shared<bool>(false);
  common->add_json(command);
  command.add_flag("--reference", *reference, "The page docs/reference.md: everything with all of its options");
  return [common, reference] {
    const Json lists = everything();
    if (*reference) {
      std::fputs(make_reference_page().c_str(), stdout);
    } else if (common->json) {
      std::fputs((lists.dump(2) + "\n").c_str(), stdout);
    } else {
      print_lists(lists);
    }
    return 0;
  };
}

}  // namespace stein::cli
