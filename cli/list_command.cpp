// stein list: what there is to run, measure and read.
#include <fmt/ranges.h>
#include <stein/agents/control/control_agent.h>
#include <stein/bench/benchmark.h>
#include <stein/core/data/data_maker.h>
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>
#include <stein/core/nearest_name.h>
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
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

Json sets_of_data() {
  Json sets = Json::array();
  for (const DataSet& set : data_sets()) sets.push_back({{"name", set.name}, {"description", set.description}});
  return sets;
}

/// A heading of the list, and what stands under it.
struct Section {
  std::string name;
  std::function<Json()> entries;
};

const std::vector<Section>& sections() {
  static const std::vector<Section> all{
      {"kinds of runs", kinds},
      {"environments", [] { return descriptions(envs::bandits().entries()); }},
      {"control environments", [] { return descriptions(envs::controls().entries()); }},
      {"policies", [] { return descriptions(policies::bandit_policies().entries()); }},
      {"formats of logs", [] { return descriptions(replay::log_formats().entries()); }},
      {"estimators", [] { return descriptions(replay::estimators().entries()); }},
      {"agents", [] { return descriptions(agents::control_agents().entries()); }},
      {"posteriors", [] { return descriptions(agents::policy_posteriors().entries()); }},
      {"methods of networks", [] { return descriptions(training::weight_methods().entries()); }},
      {"tables", [] { return descriptions(supervised::table_sets().entries()); }},
      {"sets of images", [] { return descriptions(supervised::image_sets().entries()); }},
      {"samplers", [] { return descriptions(inference::samplers().entries()); }},
      {"benchmarks", [] { return descriptions(bench::benchmarks().entries()); }},
      {"presets", presets},
      {"data sets", sets_of_data},
      {"data that are made", [] { return descriptions(data_makers().entries()); }}};
  return all;
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Section& section : sections()) names.push_back(section.name);
  return names;
}

/// Entries by heading. @param words  a heading or its last words, "environments" for those of bandits and of control;
/// '-' is a space; none: all. Throws Error(usage) for words that no heading ends with.
Json lists_of(const std::vector<std::string>& words) {
  std::string typed = fmt::format("{}", fmt::join(words, " "));
  std::ranges::replace(typed, '-', ' ');
  Json lists = Json::object();
  for (const Section& section : sections())
    if (typed.empty() || section.name == typed || section.name.ends_with(" " + typed))
      lists[section.name] = section.entries();
  STEIN_CHECK(!lists.empty(), "`stein list` has no section '{}'.{}", typed, suggestion(typed, section_names()));
  return lists;
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
  const auto words = std::make_shared<std::vector<std::string>>();
  not_empty(command.add_option(
      "SECTION", *words,
      fmt::format("One section alone: {}; its last word is enough, which several may share: `stein list environments`",
                  fmt::join(section_names(), ", "))));
  common->add_json(command);
  command.add_flag("--reference", *reference, "The page docs/reference.md: everything with all of its options");
  return [common, reference, words] {
    STEIN_CHECK(!*reference || words->empty(), "--reference is a whole page: expected no section beside it, got '{}'",
                fmt::join(*words, " "));
    if (*reference) {
      std::fputs(make_reference_page().c_str(), stdout);
      return 0;
    }
    const Json lists = lists_of(*words);
    if (common->json)
      std::fputs((lists.dump(2) + "\n").c_str(), stdout);
    else
      print_lists(lists);
    return 0;
  };
}

}  // namespace stein::cli
