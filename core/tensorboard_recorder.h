// Metrics as TensorBoard events (https://github.com/tensorflow/tensorflow, lib/io/record_writer.h and
// util/event.proto).
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <stein/core/recorder.h>

namespace stein {

/// Writes a new events file into `folder`/seed_N for every repetition N, so that TensorBoard shows repetitions as
/// runs, lays the curves of one quantity over each other, and averages them. No file stays open: any number of
/// repetitions will do.
class TensorBoardRecorder final : public Recorder {
 public:
  /// Makes `folder` if need be. A resumed run gives the step it continues from: TensorBoard then drops what earlier
  /// files of a repetition recorded at that step and later. @throws Error(io)
  explicit TensorBoardRecorder(const std::filesystem::path& folder,
                               std::optional<std::uint64_t> resumed_at = std::nullopt);

  /// Writes what is left; a failure here is only logged.
  ~TensorBoardRecorder() override;
  TensorBoardRecorder(const TensorBoardRecorder&) = delete;
  TensorBoardRecorder& operator=(const TensorBoardRecorder&) = delete;

  void scalar(std::string_view tag, std::uint64_t seed, std::uint64_t step, double value) override;
  void flush() override;

 private:
  /// The events file of one repetition.
  struct File {
    std::filesystem::path path;
    std::string pending;  ///< records that are not written yet
  };
  File open(std::uint64_t seed) const;

  std::filesystem::path folder_;
  std::optional<std::uint64_t> resumed_at_;
  std::mutex mutex_;
  std::map<std::uint64_t, File> files_;  ///< by seed
};

}  // namespace stein
