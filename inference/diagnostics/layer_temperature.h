// A temperature for every layer, with an interval: what the configurational and the kinetic one share.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/target.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stein::inference {

/// Averages over steps of a product whose mean is the temperature, layer by layer.
///
/// The error comes from batch means: 32 to 63 blocks of equal length, doubled as the run grows. Blocks that are still
/// correlated count for fewer: ρ, the correlation of neighbours, widens the interval by √((1 + ρ)/(1 − ρ)), as for an
/// autoregression of order 1. Above ρ = 1/3 they say nothing yet (Law & Carson 1979 lengthen them by such a rule), and
/// the interval is infinite: a run has to last some hundred autocorrelation times before it is sure to be warned of.
/// What moves more slowly than the whole run lasts stays unseen.
class LayerTemperature {
 public:
  /// One layer's temperature and its 99 % interval.
  struct Reading {
    std::int64_t layer;
    std::string name;  ///< what the names of its weights begin with: "recurrent0" of "recurrent0.weight_ih"
    double mean, low, high;
  };

  /// Steps added so far.
  std::int64_t steps() const { return steps_; }
  /// Puts together the readings of other particles at the same steps: those of another shard. Throws Error(usage) if it
  /// has other layers or has seen another number of steps.
  void merge(const LayerTemperature& other);
  /// In the order of the layers. Intervals are infinite as long as the run is too short to tell; a layer's reading is
  /// not a number once it has no free coordinate.
  std::vector<Reading> readings() const;
  /// All sums; what `restore` reads back.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if it was saved for other layers.
  void restore(const Snapshot& snapshot);
  /// A sentence that names the layers whose intervals lie wholly outside [0.9 T, 1.1 T], and those without an interval
  /// whose readings are more than 10 T from T: a chain that drifts never has an interval. Nothing where there are none.
  std::optional<std::string> warning(double temperature) const;

 protected:
  /// @param name  what the sentences call it: "temperature"
  LayerTemperature(const Layout& layout, std::string name);
  /// Adds a step: scale · mean of a∘b over all particles and the free coordinates of each layer. What `target` holds at
  /// zero is no degree of freedom.
  /// @param first_row  global number of the first row of a and b
  /// @param device     where a and b lie
  /// @throws Error(usage) if a and b are not rows of the layout
  template <class Scalar>
  void add_products(MatrixView<const Scalar> a, MatrixView<const Scalar> b, double scale, const Target<Scalar>& target,
                    std::int64_t first_row, Device device);

 private:
  struct Layer {
    std::int64_t number;
    std::string name;
    std::vector<std::pair<std::int64_t, std::int64_t>> spans{};  ///< offset and length
    std::vector<double> blocks{};                                ///< sums over `block_` steps each
    double open = 0;                                             ///< of the block under way
    double coordinates = 0;                                      ///< free ones, summed over the steps
  };
  std::string name_;
  std::vector<Layer> layers_;
  std::int64_t size_, steps_ = 0, block_ = 1, in_block_ = 0;
};

}  // namespace stein::inference
