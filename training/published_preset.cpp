#include <fmt/format.h>
#include <stein/core/error.h>
#include <stein/core/nearest_name.h>
#include <stein/training/published_preset.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace stein::training {

const PublishedPreset* named_preset(std::span<const PublishedPreset> presets, const runs::OptionSources& sources,
                                    std::string_view what) {
  if (sources.preset.empty() || sources.of_run) return nullptr;
  const auto preset = std::ranges::find(presets, sources.preset, &PublishedPreset::name);
  if (preset == presets.end()) {
    std::vector<std::string> names;
    for (const PublishedPreset& each : presets) names.push_back(each.name);
    fail(ErrorKind::usage, "there is no preset '{}' of {}.{}", sources.preset, what, suggestion(sources.preset, names));
  }
  for (const auto& [key, value] : {std::pair("data", preset->data), std::pair("sampler", preset->sampler)})
    STEIN_CHECK(value.empty() || sources.look_ahead(key, value) == value, "the preset '{}' has {} = {}, got {}",
                preset->name, key, value, sources.look_ahead(key, value));
  return &*preset;
}

bool is_preset(std::span<const PublishedPreset> presets, std::string_view name) {
  return std::ranges::find(presets, name, &PublishedPreset::name) != presets.end();
}

std::map<std::string, std::string> joined(std::map<std::string, std::string> first,
                                          const std::map<std::string, std::string>& second) {
  for (const auto& [key, value] : second) first[key] = value;
  return first;
}

runs::Part published_part(std::span<const PublishedPreset> presets) {
  runs::Part part{.group = "published settings"};
  for (const PublishedPreset& each : presets)
    part.presets.push_back(
        {.name = each.name,
         .description = fmt::format("--data {} --sampler {}: {}", each.data.empty() ? "FILE" : each.data, each.sampler,
                                    each.source),
         .settings = each.settings});
  return part;
}

}  // namespace stein::training
