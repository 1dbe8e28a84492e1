// Why a file could not be read, as an error.
#pragma once

#include <filesystem>

namespace stein {

/// Throws Error(data) where there is no such file, or a folder of that name; else Error(io) with the system's reason.
[[noreturn]] void fail_reading(const std::filesystem::path& path, int error_number);

}  // namespace stein
