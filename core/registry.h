// Things that register themselves by name: environments, policies, benchmarks.
#pragma once

#include <stein/core/error.h>
#include <stein/core/nearest_name.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stein {

/// Entries by name, in alphabetical order. A registry is filled while libraries are loaded and only read afterwards.
template <class Entry>
class Registry {
 public:
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  /// Adds an entry; returns true so that a namespace-scope constant can do it. Throws Error(usage) for a name that is
  /// taken.
  bool add(std::string name, Entry entry) {
    STEIN_CHECK(entries_.emplace(name, std::move(entry)).second, "{} '{}' is registered twice", kind_, name);
    return true;
  }
  /// The entry called `name`. Throws Error(usage) that suggests the nearest name.
  const Entry& at(std::string_view name) const {
    const auto place = entries_.find(name);
    if (place != entries_.end()) return place->second;
    fail(ErrorKind::usage, "unknown {} '{}'.{}", kind_, name, suggestion(name, names()));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, entry] : entries_) result.push_back(name);
    return result;
  }
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  std::string kind_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace stein
