// What samplers, and whatever else keeps something for particles, are made for.
#pragma once

#include <stein/inference/arithmetic.h>
#include <stein/inference/layout.h>
#include <stein/inference/storage/device.h>
#include <stein/inference/storage/row_range.h>

#include <cstdint>

namespace stein::inference {

/// Which rows of which ensemble, where their numbers lie, and the seed of what is drawn for them. Particles say theirs:
/// `particles.ensemble(seed)`.
struct Ensemble {
  Layout layout{};
  RowRange rows{};              ///< those that are here, by their global numbers
  std::int64_t total_rows = 1;  ///< of all shards together
  std::uint64_t seed = 0;       ///< keys the noise of a sampler and what its target draws (dropout, ε)
  Device device{};
  Arithmetic arithmetic = Arithmetic::fused;  ///< of the sampler

  /// Q, coordinates of a particle.
  std::int64_t size() const { return layout.size(); }
};

}  // namespace stein::inference
