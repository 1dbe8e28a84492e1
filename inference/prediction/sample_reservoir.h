// The samples of a run on disk, for models of which memory holds only a few.
#pragma once

#include <stein/inference/particles.h>

#include <filesystem>

namespace stein::inference {

/// Samples of M particles each, with their buffers: one checksummed safetensors file a sample
/// (sample-000000.safetensors, …), written atomically.
///
/// A checkpoint keeps how many there are; what a run wrote after its last checkpoint is removed when it is restored.
template <class Scalar>
class SampleReservoir {
 public:
  /// A new reservoir; the directory is made if need be.
  /// @throws Error(usage) if there are samples in it; Error(io)
  static SampleReservoir create(std::filesystem::path directory);
  /// The samples of an earlier run. @throws Error(data) if there is no directory, or one of the samples is missing
  static SampleReservoir open(std::filesystem::path directory);

  /// Writes what the particles are now. @throws Error(io)
  void add(const Particles<Scalar>& particles);
  /// Removes the last `count` samples, those of steps that were taken back. @throws Error(usage) if there are fewer
  void drop_last(std::int64_t count);
  /// Samples so far.
  std::int64_t size() const { return size_; }
  /// Reads sample k = 0, 1, … into `particles`, which have its layout and number of rows.
  /// @throws Error(usage) unless there is such a sample; Error(data) naming the file if it is truncated or damaged, and
  ///         naming the first parameter that differs if it has another layout
  void read(std::int64_t k, Particles<Scalar>& particles) const;

  void save(Snapshot& snapshot) const { snapshot.put("size", size_); }
  /// Throws Error(data) if fewer samples are there than were when it was saved.
  void restore(const Snapshot& snapshot);

 private:
  explicit SampleReservoir(std::filesystem::path directory);
  std::filesystem::path file(std::int64_t k) const;

  std::filesystem::path directory_;
  std::int64_t size_ = 0;
};

}  // namespace stein::inference
