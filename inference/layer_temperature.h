// A temperature for every layer, with an interval: what the configurational and the kinetic one share.
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/matrix_view.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stein::inference {

/// Averages over steps of a product whose mean is the temperature, layer by layer.
///
/// The error comes from batch means: 32 to 64 blocks of equal length, doubled as the run grows.
class LayerTemperature {
 public:
  /// One layer's temperature and its 99 % interval.
  struct Reading {
    std::int64_t layer;
    double mean, low, high;
  };

  /// Steps added so far.
  std::int64_t steps() const { return steps_; }
  /// In the order of the layers. Intervals are infinite before 32 steps.
  std::vector<Reading> readings() const;
  /// A sentence for every layer whose interval lies wholly outside [0.9 T, 1.1 T], or nothing.
  std::optional<std::string> warning(double temperature) const;

 protected:
  /// @param name  what the sentences call it: "temperature"
  LayerTemperature(const Layout& layout, std::string name);
  /// Adds a step: scale · mean of a∘b over all particles and the coordinates of each layer.
  template <class Scalar>
  void add_products(MatrixView<const Scalar> a, MatrixView<const Scalar> b, double scale);

 private:
  struct Layer {
    std::int64_t number, variables = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> spans{};  ///< offset and length
    std::vector<double> blocks{};                                ///< sums over `block_` steps each
    double open = 0;                                             ///< of the block under way
  };
  std::string name_;
  std::vector<Layer> layers_;
  std::int64_t size_, steps_ = 0, block_ = 1, in_block_ = 0;
};

}  // namespace stein::inference
