// Whole files into memory, plain or gzip-compressed, with a limit on their size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace stein {

/// Files larger than this (after decompression) are refused unless a caller asks for more [bytes].
inline constexpr std::uint64_t default_read_limit = std::uint64_t{4} << 30;

/// All bytes of `path`.
/// @throws Error(data) if it does not exist or is larger than `limit` bytes; Error(io) if the system refuses to read it
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = default_read_limit);

/// All bytes of `path`, decompressed if its name ends in `.gz` (several gzip members are joined).
/// At most twice the size of the result is in memory at any time.
/// @throws Error(data) if it is missing, is no gzip file, is truncated or damaged, or would exceed `limit` bytes;
///         Error(io) if the system refuses to read it
std::string read_text(const std::filesystem::path& path, std::uint64_t limit = default_read_limit);

}  // namespace stein
