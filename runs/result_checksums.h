// Checksums of what a finished run wrote, so that nothing is made of files that were changed or cut since.
#pragma once

#include <stein/core/run_directory.h>

#include <string_view>
#include <vector>

namespace stein::runs {

/// The file in a run's folder: {file: SHA-256}.
inline constexpr const char* checksums_file = "checksums.json";

/// Writes those of the metrics and of `files`, as far as they are there.
void write_result_checksums(const RunDirectory& directory, const std::vector<std::string>& files);

/// Throws Error(data) if `content`, which was read from `file`, is not what the run wrote. Runs of before there were
/// checksums have none, nor have files that were made later.
void check_result(const RunDirectory& directory, std::string_view file, std::string_view content);

}  // namespace stein::runs
