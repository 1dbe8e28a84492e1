#include "reference_page.h"

#include <fmt/format.h>
#include <stein/bench/benchmark.h>
#include <stein/core/data/data_maker.h>
#include <stein/core/data/manifest.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/replay/value_estimate.h>
#include <stein/runs/run_kind.h>

namespace stein::cli {
namespace {

constexpr const char* opening =
    "# Stein: reference\n\n"
    "Written by `scripts/docs` from the program (`stein list --reference`). A run takes the options of all its parts "
    "side by side,\nby `--set name=value` or in the file of `--config`.\n\n"
    "In C++ one folder is one library, `stein::<folder>`, and one namespace. Start with `stein/inference/target.h` "
    "and\n"
    "`stein/inference/sampler.h`: a sampler moves particles along the gradient that a target gives it.\n";

std::string part_text(const runs::Part& part) {
  std::string text = fmt::format("\n### {}\n\n{}{}", part.title(),
                                 part.description.empty() ? "" : part.description + "\n\n", part.markdown);
  for (const Preset& preset : part.presets) {
    text += fmt::format("\nPreset `{}` ({}):", preset.name, preset.description);
    for (const auto& [key, value] : preset.settings) text += fmt::format(" `{}={}`", key, value);
    text += '\n';
  }
  return text;
}

std::string entry_line(const std::string& name, const std::string& description) {
  return fmt::format("- `{}`: {}\n", name, description);
}

}  // namespace

std::string make_reference_page() {
  std::string text = opening;
  for (const auto& [name, kind] : runs::run_kinds().entries()) {
    text += fmt::format("\n## stein {}{}\n\n{}.\n", kind.subcommand,
                        name == kind.subcommand ? "" : fmt::format(", {}", name), kind.description);
    const auto experiment = kind.make(kind, {});
    text += part_text(runs::make_part("run", "", "", experiment->sections().front().second));
    for (const runs::Part& part : kind.parts()) text += part_text(part);
  }
  text += "\n## Samplers\n\n";
  for (const auto& [name, entry] : inference::samplers().entries()) text += entry_line(name, entry.description);
  text += "\n## Estimators\n\n";
  for (const auto& [name, entry] : replay::estimators().entries()) text += entry_line(name, entry.description);
  text += "\n## Data sets\n\n";
  for (const DataSet& set : data_sets()) text += entry_line(set.name, set.description);
  text += "\nMade by `stein data make`:\n\n";
  for (const auto& [name, maker] : data_makers().entries()) {
    const auto builder = maker.builder();
    text += entry_line(name, maker.description) + "\n" + markdown_text(OptionTable::of(*builder));
  }
  text += "\n## Benchmarks\n\n";
  for (const auto& [name, entry] : bench::benchmarks().entries()) text += entry_line(name, entry.description);
  return text;
}

}  // namespace stein::cli
