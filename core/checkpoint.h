// Checkpoints: a run's whole state as one checksummed safetensors file, written atomically, two generations kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include <stein/core/snapshot.h>

namespace stein {

/// A run's state as it was after `step` steps.
struct Checkpoint {
  std::uint64_t step = 0;
  Snapshot state;
};

/// Writes `directory`/checkpoint-<step>.safetensors (the directory is made if need be) with a SHA-256 of every array
/// and text, then removes all checkpoints but this one and the last before it, and what killed writers left. The bytes
/// depend on `step` and `state` only. Not for use by two threads or processes on one directory at once.
/// @throws Error(io); the checkpoints that were there are then left as they were
void save_checkpoint(const std::filesystem::path& directory, std::uint64_t step, const Snapshot& state);

/// Reads one checkpoint and verifies it. @throws Error(data) if it is damaged or of another format version; Error(io)
Checkpoint load_checkpoint(const std::filesystem::path& path);

/// The newest intact checkpoint of `directory`; a damaged newer one is passed over with a warning in the log.
/// Nothing if there is no checkpoint at all. @throws Error(data) if there are some and all are damaged
std::optional<Checkpoint> load_latest_checkpoint(const std::filesystem::path& directory);

}  // namespace stein
