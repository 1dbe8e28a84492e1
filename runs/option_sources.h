// Where the options of a run come from.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::runs {

/// In rising rank: a preset by its name (may be empty), a TOML file (may be empty), `key = value` pairs in order.
struct OptionSources {
  std::string preset{};
  std::string toml{};
  std::string toml_name{};  ///< of the file, for messages
  std::vector<std::pair<std::string, std::string>> settings{};
  /// Options that runs beside this one have, of the same sweep: the file and the settings may name them though this run
  /// has none of that name.
  std::set<std::string> of_others{};
  std::string data{};  ///< what `--data` says, for kinds of runs that are told apart by it
  /// The file is the resolved configuration of a run: an option that it lacks was added to the program later, and
  /// takes the value declared for older runs; the preset is what the run began with, and already in the file.
  bool of_run = false;

  /// What the file and the settings make of `key`, or `otherwise`: for options that decide which others there are, and
  /// which no preset has.
  /// Throws Error(usage) if the file is no TOML.
  std::string look_ahead(std::string_view key, std::string otherwise) const;
  /// All keys that the file and the settings name. Throws Error(usage) if the file is no TOML.
  std::set<std::string> keys() const;
  /// Whether the file or a setting names `key`. Throws Error(usage) if the file is no TOML.
  bool mention(std::string_view key) const;
};

/// "key=value" as a pair. Throws Error(usage) where there is no '='. @param argument  "--set", for the message
std::pair<std::string, std::string> parse_setting(std::string_view text, std::string_view argument = "--set");

}  // namespace stein::runs
