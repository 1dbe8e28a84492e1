// Metrics as TensorBoard events (https://github.com/tensorflow/tensorflow, lib/io/record_writer.h and
// util/event.proto).
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>

#include <stein/core/append_file.h>
#include <stein/core/recorder.h>

namespace stein {

/// Writes a new events file into `folder`; the curve of quantity `tag` in repetition `seed` is named `tag/seed_<seed>`.
class TensorBoardRecorder final : public Recorder {
 public:
  /// Makes `folder` if need be. A resumed run gives the step it continues from: TensorBoard then drops what earlier
  /// files recorded at that step and later. @throws Error(io)
  explicit TensorBoardRecorder(const std::filesystem::path& folder,
                               std::optional<std::uint64_t> resumed_at = std::nullopt);

  void scalar(std::string_view tag, std::uint64_t seed, std::uint64_t step, double value) override;
  void flush() override;

 private:
  void append_record(std::string_view record);

  std::mutex mutex_;
  AppendFile file_;
};

}  // namespace stein
