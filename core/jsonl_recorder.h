// Metrics as JSON lines: metrics.jsonl of a run.
#pragma once

#include <filesystem>
#include <mutex>

#include <stein/core/append_file.h>
#include <stein/core/recorder.h>

namespace stein {

/// Appends one line {"tag":…,"seed":…,"step":…,"value":…} for each number, in shortest form that reads back to the same
/// double; NaN and infinities become null. To resume, cut the file with `truncate_file` to the length that `sync`
/// returned first.
class JsonlRecorder final : public Recorder {
 public:
  /// @throws Error(io)
  explicit JsonlRecorder(std::filesystem::path path) : file_(std::move(path)) {}

  void scalar(std::string_view tag, std::uint64_t seed, std::uint64_t step, double value) override;
  void flush() override;

  /// Flushes to the disk and returns the length of the file [bytes], for a checkpoint.
  std::uint64_t sync();

 private:
  std::mutex mutex_;
  AppendFile file_;
};

}  // namespace stein
