// Files that are no longer wanted.
#pragma once

#include <filesystem>

namespace stein {

/// Removes the file at `path`, if there is one. @throws Error(io) naming the path and the system's reason
void remove_file(const std::filesystem::path& path);

}  // namespace stein
