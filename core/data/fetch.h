// Data sets from the network to the disk: nothing is kept whose checksum is not the expected one.
#pragma once

#include <filesystem>

#include <stein/core/data/manifest.h>
#include <stein/core/progress.h>

namespace stein {

/// Downloads `file` (https, http or file address) to `path`, which appears only once size and SHA-256 are right.
/// @throws Error(usage) if the file has no address; Error(io) naming the address and the reason if it cannot be had;
///         Error(data) if what came is not the file of the manifest
void fetch_file(const DataFile& file, const std::filesystem::path& path, Progress& progress);

/// Downloads the files of `set` that are missing or altered into the subfolder of its name in `folder`; returns that
/// subfolder. @throws as fetch_file
std::filesystem::path fetch_data_set(const DataSet& set, const std::filesystem::path& folder, Progress& progress);

}  // namespace stein
