// What the runs of a sweep differ in: an option and its values, as a person types them.
#pragma once

#include <stein/runs/option_sources.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stein::runs {

/// One option and the values that it takes in turn.
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;

  /// From "key=a,b,c"; where values have commas themselves, from "key=a,b;c,d". Throws Error(usage) for anything else
  /// and for a value that occurs twice.
  static SweepAxis parse(std::string_view text);
  /// The option that `subcommand` compares, where `sources` give it several values: "svgd,lints". Settings of it are
  /// taken out of the sources. Throws Error(usage) for a value that is empty or occurs twice.
  static std::optional<SweepAxis> compared(std::string_view subcommand, OptionSources& sources);
  bool operator==(const SweepAxis&) const = default;
};

}  // namespace stein::runs
