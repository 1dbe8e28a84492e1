// stein bench: ours against a reference, measured side by side.
#include <stein/bench/benchmark.h>
#include <stein/core/error.h>
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
  for (const auto& [key, value] : row.extra)
    std::visit([&json, &key = key](const auto& item) { json[key] = item; }, value);
  return json;
}

/// @param threads  0: as many as the benchmark uses by itself
Json measure(const std::string& name, const bench::Settings& settings, int threads) {
  static const int cores = thread_count();  // nobody has set it yet
  const bench::Benchmark& benchmark = bench::benchmarks().at(name);
  if (threads == 0) threads = benchmark.cores == bench::Cores::all ? cores : 1;
  set_thread_count(threads);
  const std::vector<bench::Row> measured = benchmark.run(settings);
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
    std::fputs(fmt::format("  {:<16}{}\n", name, benchmark.description).c_str(), stdout);
}

void print_json(const Json& result) {
  std::fputs((result.dump(2) + "\n").c_str(), stdout);
}

/// Every benchmark but those that this machine cannot measure, which are named with the reason.
void measure_all(const CommonOptions& common) {
  Json results = Json::array(), left_out = Json::array();
  for (const std::string& name : bench::benchmarks().names()) {
    if (const std::string reason = bench::benchmarks().at(name).lacking(); !reason.empty()) {
      left_out.push_back({{"benchmark", name}, {"reason", reason}});
      if (!common.json) std::fputs(fmt::format("{} is left out: {}\n", name, reason).c_str(), stdout);
      continue;
    }
    results.push_back(measure(name, {}, common.threads));
    if (!common.json) print(results.back());
  }
  if (common.json) print_json({{"benchmarks", results}, {"left_out", left_out}});
}

std::string options_text() {
  std::string text = "Options of benchmarks, for --set:\n";
  for (const auto& [name, benchmark] : bench::benchmarks().entries())
    if (const std::string options = benchmark.options(); !options.empty()) text += fmt::format("{}\n{}", name, options);
  return text;
}

struct BenchArguments {
  std::string name;
  bool all = false;
  std::vector<std::string> settings;
  CommonOptions common;
};

}  // namespace

Action bench_command(CLI::App& command, const Arguments&) {
  const auto arguments = std::make_shared<BenchArguments>();
  command.add_option("NAME", arguments->name, "The benchmark; without it they are listed");
  command.add_flag("--all", arguments->all, "Measure every benchmark");
  command.add_option("--set", arguments->settings, "key=value, an option of the benchmark; may be repeated")
      ->allow_extra_args(false);
  arguments->common.add_all(command);
  command.get_option("--threads")->description("Threads of ours (default: what the benchmark is about, mostly one)");
  command.footer(options_text);
  return [arguments] {
    arguments->common.apply();
    STEIN_CHECK(!arguments->all || arguments->settings.empty(), "--set is for one benchmark, not for --all");
    bench::Settings settings;
    for (const std::string& setting : arguments->settings) settings.push_back(runs::parse_setting(setting));
    if (arguments->all) {
      measure_all(arguments->common);
      return 0;
    }
    if (arguments->name.empty()) {
      print_names();
      return 0;
    }
    const Json result = measure(arguments->name, settings, arguments->common.threads);
    if (arguments->common.json)
      print_json(result);
    else
      print(result);
    return 0;
  };
}

}  // namespace stein::cli
