// stein bench: ours against a reference, measured side by side.
#include <stein/bench/benchmark.h>
#include <stein/core/parallel.h>
#include <stein/core/simd_target.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const bench::Row& row) {
  Json json{
      {"case", row.name}, {"ours", row.ours}, {"reference", row.reference}, {"unit", row.unit}, {"ratio", row.ratio()}};
  for (const auto& [key, value] : row.extra) std::visit([&](const auto& item) { json[key] = item; }, value);
  return json;
}

Json measure(const std::string& name) {
  const std::vector<bench::Row> measured = bench::benchmarks().at(name).run();
  Json rows = Json::array();
  for (const bench::Row& row : measured) rows.push_back(to_json(row));
  return {{"benchmark", name}, {"threads", thread_count()}, {"simd_target", simd_target()}, {"rows", rows}};
}

std::string number(const Json& value) {
  return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : value.get<std::string>();
}

void print(const Json& result) {
  std::string text = fmt::format("{} ({}, {} thread{})\n", result["benchmark"].get<std::string>(),
                                 result["simd_target"].get<std::string>(), result["threads"].get<int>(),
                                 result["threads"] == 1 ? "" : "s");
  text += fmt::format("  {:<26}{:>12}{:>12}  {:<12}{:>8}\n", "case", "ours", "reference", "unit", "ratio");
  for (const Json& row : result["rows"]) {
    text += fmt::format("  {:<26}{:>12}{:>12}  {:<12}{:>8}\n", number(row["case"]), number(row["ours"]),
                        number(row["reference"]), number(row["unit"]), number(row["ratio"]));
    for (const auto& [key, value] : row.items()) {
      static const std::vector<std::string> shown{"case", "ours", "reference", "unit", "ratio"};
      if (std::ranges::find(shown, key) == shown.end()) text += fmt::format("      {}: {}\n", key, number(value));
    }
  }
  std::fputs(text.c_str(), stdout);
}

void print_names() {
  for (const auto& [name, benchmark] : bench::benchmarks().entries())
    std::fputs(fmt::format("  {:<12}{}\n", name, benchmark.description).c_str(), stdout);
}

struct Arguments {
  std::string name;
  bool all = false;
  CommonOptions common;
};

}  // namespace

Action bench_command(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("NAME", arguments->name, "The benchmark; without it they are listed");
  command.add_flag("--all", arguments->all, "Measure every benchmark");
  arguments->common.add_all(command);
  arguments->common.threads = 1;
  return [arguments] {
    arguments->common.apply();
    const std::vector<std::string> names =
        arguments->all ? bench::benchmarks().names() : std::vector<std::string>{arguments->name};
    if (!arguments->all && arguments->name.empty()) {
      print_names();
      return 0;
    }
    Json results = Json::array();
    for (const std::string& name : names) {
      results.push_back(measure(name));
      if (!arguments->common.json) print(results.back());
    }
    if (arguments->common.json) {
      const Json printed = arguments->all ? Json{{"benchmarks", results}} : results.front();
      std::fputs((printed.dump(2) + "\n").c_str(), stdout);
    }
    return 0;
  };
}

}  // namespace stein::cli
