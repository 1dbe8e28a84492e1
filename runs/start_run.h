// The beginning of a run on disk.
#pragma once

#include <stein/core/run_directory.h>
#include <stein/runs/session.h>

#include <filesystem>
#include <string>

namespace stein::runs {

/// A new folder runs/<name>-<number>, '-' for every '/' of the name; made, so that what starts at the same moment takes
/// the next number. Throws Error(io) where it cannot be made.
std::filesystem::path claim_directory(std::string name);

/// Runs `experiment` from its first step in a new directory: `out`, or runs/<name>-<number> if empty.
/// Throws Error(data) where data are missing, Error(usage) for a directory that is taken, Error(numeric) for a run that
/// diverged: its last checkpoint then holds the last finite state.
SessionResult start_run(const Experiment& experiment, const std::filesystem::path& out, Existing existing,
                        const SessionOptions& options);

}  // namespace stein::runs
