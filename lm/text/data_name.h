// What an option `data` means: a registered name, or a file.
#pragma once

#include <stein/core/registry.h>

#include <filesystem>
#include <string>

namespace stein::lm {

/// Whether `data` means a file: it is no registered name, and has a slash in it or is there as a file.
template <class Entry>
bool means_file(const std::string& data, const Registry<Entry>& registered) {
  std::error_code ignored;
  return !registered.entries().contains(data) &&
         (data.find('/') != std::string::npos || std::filesystem::is_regular_file(data, ignored));
}

}  // namespace stein::lm
