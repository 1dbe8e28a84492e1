// How much of their spread particles have kept: SVGD with the RBF median kernel loses variance in high dimension (Ba et
// al. 2022).
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/storage/matrix_view.h>

#include <vector>

namespace stein::inference {

/// The spread over particles of all coordinates with one role; shards of an ensemble are put together with `merge`.
class ParticleSpread {
 public:
  /// @param values  [M, Q] of `layout`, at least one row
  /// @throws Error(usage) if the layout has no such coordinate
  ParticleSpread(MatrixView<const float> values, const Layout& layout, Role role);

  /// Adds the particles of another shard. Throws Error(usage) if it has another number of coordinates.
  void merge(const ParticleSpread& other);
  /// Marginal variance over particles (with 1/M), averaged over the coordinates; 0 for one particle.
  double mean_variance() const;

 private:
  /// Sums over particles of differences from `origin`, which keep their digits.
  struct Coordinate {
    double origin, sum, square;
  };
  std::vector<Coordinate> coordinates_;
  double rows_;
};

/// The mean variance of all particles. Divided by what it was before the first update it is the collapse meter: 1 at
/// the start, near 0 where all particles agree. The errors of ParticleSpread.
double mean_variance(MatrixView<const float> values, const Layout& layout, Role role);

}  // namespace stein::inference
