// The samples of a run on disk, for models of which memory holds only a few.
#pragma once

#include <stein/inference/particles.h>

#include <filesystem>

namespace stein::inference {

/// Samples of M particles each, with their buffers: one checksummed safetensors file a sample
/// (sample-000000.safetensors, …), written atomically.
///
/// A checkpoint keeps how many there are; what a run wrote after its last checkpoint, also a file that it had only
/// begun when it was killed, is removed when it is restored, and what it dropped after it comes back: dropped samples
/// stay in files of another name.
template <class Scalar>
class SampleReservoir {
 public:
  /// A new reservoir; the directory is made if need be.
  /// @throws Error(usage) if there are samples in it, dropped ones included; Error(io)
  static SampleReservoir create(std::filesystem::path directory);
  /// The samples of an earlier run. @throws Error(data) if there is no directory, or a sample before the last is
  /// missing
  static SampleReservoir open(std::filesystem::path directory);

  /// Writes what the particles are now. @throws Error(io)
  void add(const Particles<Scalar>& particles);
  /// Sets the last `count` samples aside, those of steps that were taken back.
  /// @throws Error(usage) if there are fewer; Error(io)
  void drop_last(std::int64_t count);
  /// Samples so far.
  std::int64_t size() const { return size_; }
  /// Reads sample k = 0, 1, … into `particles`, which have its layout and number of rows.
  /// @throws Error(usage) unless there is such a sample; Error(data) naming the file if it is truncated or damaged, and
  ///         naming the first parameter that differs if it has another layout
  void read(std::int64_t k, Particles<Scalar>& particles) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if fewer samples are there than were when it was saved; Error(io).
  void restore(const Snapshot& snapshot);

 private:
  explicit SampleReservoir(std::filesystem::path directory);
  std::filesystem::path file(std::int64_t k) const;
  /// Where sample k lies once the n-th drop, n = 1, 2, …, has set it aside.
  std::filesystem::path dropped_file(std::int64_t drop, std::int64_t k) const;
  /// Undoes the drops behind the first `drops_`, the last one first.
  void bring_back_dropped();

  std::filesystem::path directory_;
  std::int64_t size_ = 0, drops_ = 0;
};

}  // namespace stein::inference
