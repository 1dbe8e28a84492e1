// Settings of a published experiment by name.
#pragma once

#include <stein/runs/option_sources.h>
#include <stein/runs/part.h>

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace stein::training {

/// A published experiment: its data and method, and the settings that differ from the defaults.
struct PublishedPreset {
  std::string name;
  std::string source;   ///< one line: where the settings are from
  std::string data;     ///< "ptb"; empty: a file of one's own, for data that are not given out
  std::string sampler;  ///< "sgld"
  std::map<std::string, std::string> settings;
};

/// The preset that the sources name; null if they name none, and for the configuration of a run, which has its settings
/// already. Throws Error(usage) for an unknown one, and for one of other data or another method than the sources ask
/// for.
/// @param what  "language models": what the presets are of
const PublishedPreset* named_preset(std::span<const PublishedPreset> presets, const runs::OptionSources& sources,
                                    std::string_view what);

/// Whether one of them is called `name`.
bool is_preset(std::span<const PublishedPreset> presets, std::string_view name);

/// `first` with the settings of `second` over it.
std::map<std::string, std::string> joined(std::map<std::string, std::string> first,
                                          const std::map<std::string, std::string>& second);

/// A part without options that lists the presets, each with the data and method that it brings.
runs::Part published_part(std::span<const PublishedPreset> presets);

}  // namespace stein::training
