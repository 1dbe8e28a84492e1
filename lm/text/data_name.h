// What an option `data` means: a registered name, or a file.
#pragma once

#include <stein/core/registry.h>

#include <filesystem>
#include <string>

namespace stein::lm {

/// Whether `data` means a file, there or not: it is no registered name, and has a slash or an ending, or is there.
template <class Entry>
bool means_file(const std::string& data, const Registry<Entry>& registered) {
  std::error_code ignored;
  const std::filesystem::path path = data;
  return !registered.entries().contains(data) &&
         (path.has_parent_path() || path.has_extension() || std::filesystem::exists(path, ignored));
}

}  // namespace stein::lm
