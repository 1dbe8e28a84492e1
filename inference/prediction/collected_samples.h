// The samples of a run in memory.
#pragma once

#include <stein/inference/particles.h>

#include <vector>

namespace stein::inference {

/// Samples of M particles each, with their buffers.
template <class Scalar>
class CollectedSamples {
 public:
  /// For samples of `rows` particles laid out as `layout`. Throws Error(usage) unless rows ≥ 1.
  CollectedSamples(Layout layout, std::int64_t rows);

  /// Adds what the particles are now. Throws Error(usage) unless they have the rows and the coordinates of the others.
  void add(const Particles<Scalar>& particles);

  /// Removes the last `count` samples, those of steps that were taken back. Throws Error(usage) if there are fewer.
  void drop_last(std::int64_t count);

  /// Samples so far.
  std::int64_t size() const { return size_; }
  /// M, particles of a sample.
  std::int64_t rows() const { return rows_; }
  const Layout& layout() const { return layout_; }

  /// Sample k = 0, 1, …: [M, Q]. Good until the next one is added.
  ParticleRows<const Scalar> sample(std::int64_t k) const;
  /// All samples as rows [size·M, Q], sample after sample: what a prediction averages over.
  ParticleRows<const Scalar> all() const;
  /// Coordinate q as [M, size] numbers, a row a particle: what effective_sample_size and split_r_hat take.
  std::vector<double> draws(std::int64_t q) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) saying what differs if the saved samples have another layout or number of particles.
  void restore(const Snapshot& snapshot);

 private:
  Layout layout_;
  std::int64_t rows_, first_row_ = 0, size_ = 0;
  std::vector<Scalar> values_, buffers_;
};

}  // namespace stein::inference
