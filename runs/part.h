// A part of an experiment as data: its options and presets, for help, for the reference page and for error messages.
#pragma once

#include <stein/core/options.h>

#include <set>
#include <string>
#include <vector>

namespace stein::runs {

/// One part that experiments of a kind may have: a policy, an environment, the run itself.
struct Part {
  std::string group;        ///< "policy"
  std::string name;         ///< "svgd"; empty where a group has one part only
  std::string description;  ///< one line
  std::set<std::string> options{};
  std::vector<Preset> presets{};
  std::string markdown{};  ///< a table of its options

  /// "policy svgd".
  std::string title() const { return name.empty() ? group : group + " " + name; }
};

/// A part whose options `table` holds.
Part make_part(std::string group, std::string name, std::string description, const OptionTable& table);

/// One part an entry of a registry whose entries make builders that describe themselves.
template <class Registry>
void add_parts(std::vector<Part>& parts, const std::string& group, const Registry& registry) {
  for (const auto& [name, entry] : registry.entries()) {
    const auto builder = entry.builder();
    parts.push_back(make_part(group, name, entry.description, OptionTable::of(*builder)));
  }
}

}  // namespace stein::runs
