// At which temperature a sampler really runs, layer by layer.
#pragma once

#include <stein/inference/particles.h>

#include <optional>
#include <string>
#include <vector>

namespace stein::inference {

/// ⟨φ·∇U⟩/Q = T for every layer in equilibrium at temperature T (the virial theorem; Leimkuhler & Matthews 2015,
/// section 6.1.5), whatever the density is. Noise in the gradient that does not depend on φ changes nothing of the
/// mean.
///
/// The error comes from batch means: 32 to 64 blocks of equal length, doubled as the run grows.
class ConfigurationalTemperature {
 public:
  /// One layer's temperature and its 99 % interval.
  struct Reading {
    std::int64_t layer;
    double mean, low, high;
  };

  explicit ConfigurationalTemperature(const Layout& layout);

  /// Adds positions and the gradients ∇ log p at them, all particles of one step together.
  template <class Scalar>
  void add(MatrixView<const Scalar> positions, MatrixView<const Scalar> gradients);

  /// Steps added so far.
  std::int64_t steps() const { return steps_; }
  /// In the order of the layers. Intervals are infinite before 32 steps.
  std::vector<Reading> readings() const;
  /// A sentence for every layer whose interval lies wholly outside [0.9 T, 1.1 T], or nothing.
  std::optional<std::string> warning(double temperature) const;

 private:
  struct Layer {
    std::int64_t number, variables = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> spans{};  ///< offset and length
    std::vector<double> blocks{};                                ///< sums over `block_` steps each
    double open = 0;                                             ///< of the block under way
  };
  std::vector<Layer> layers_;
  std::int64_t steps_ = 0, block_ = 1, in_block_ = 0;
};

}  // namespace stein::inference
