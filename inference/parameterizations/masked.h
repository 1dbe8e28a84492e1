// Magnitude pruning: the smallest weights are set to zero, more of them as the chain goes on, and stay there.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/storage/row_range.h>

#include <string>
#include <vector>

namespace stein::inference {

template <class Scalar>
struct Driver;

/// How many weights are held at zero, and how soon.
struct PruningOptions {
  double final_share = 0.9;  ///< S: share of the weights that are zero in the end
  double decay = 0.99;       ///< D
  double decay_steps = 50;   ///< U; 0: all of them after the first step

  template <class V>
  void describe(V& v) {
    v("final_share", final_share, "S of s = S (1 − D^(k/U)), the share of weights held at zero",
      Range{.low = 0, .high = 1, .high_open = true});
    v("decay", decay, "D: small is fast", Range{.low = 0, .high = 1, .low_open = true, .high_open = true});
    v("decay_steps", decay_steps,
      "U: steps in which 1 − s/S falls by the factor D; 0: as soon as all are pruned where the burn-in ends",
      non_negative, "updates");
  }
  /// s after k steps: S (1 − D^{k/U}); of U = 0 its limit.
  double share(std::int64_t k) const;
};

/// θ = φ where a weight is free and 0 where it is pruned (Deng et al. 2019, Algorithm 1). After step k = 1, 2, … of a
/// row its ⌊s⁽ᵏ⁻¹⁾ p⌋ weights of smallest magnitude are pruned, over all chosen entries together, of equal ones the
/// first; what is pruned stays so. Samplers hold pruned coordinates and their momenta at zero
/// (`Target::free_coordinates`). Every row has a mask of its own.
template <class Scalar>
class Masked final : public Parameterization<Scalar> {
 public:
  /// @param weights  the model's layout
  /// @param entries  names of the parameters that are pruned
  /// @param rows     those that have masks here
  /// @param device   where coordinates and weights lie; masks lie on the host
  /// @throws Error(usage) naming an entry that there is not, or the option that is out of range, and for padded weights
  ///         on a device
  Masked(const PruningOptions& options, Layout weights, const std::vector<std::string>& entries, RowRange rows = {},
         Device device = {});

  const Layout& coordinates() const override { return direct_.coordinates(); }
  const Layout& weights() const override { return direct_.weights(); }
  void forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise, MatrixView<Scalar> weights,
               ForwardTrace& trace) const override;
  void pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                ForwardTrace& trace) const override;
  void initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) override {
    direct_.initialise(particles, seed, spread);
  }

  /// Empty as long as nothing of the row is pruned.
  std::span<const std::uint8_t> free_coordinates(std::int64_t row) const override;
  void adapt(const ParticleRows<const Scalar>& coordinates) override;
  bool adapts() const override { return true; }
  /// Weights of a row that are pruned.
  std::int64_t pruned(std::int64_t row) const { return pruned_[position(row)]; }
  /// p: weights of all chosen entries.
  std::int64_t prunable() const { return static_cast<std::int64_t>(chosen_.size()); }

  void save(Snapshot& snapshot) const override;
  /// Throws Error(data) if it was saved for other rows or another number of weights.
  void restore(const Snapshot& snapshot) override;

 private:
  std::size_t position(std::int64_t row) const { return rows_.position(row, "masked weights"); }
  std::span<std::uint8_t> mask(std::size_t place);
  void prune(std::size_t place, std::span<const Scalar> values, std::int64_t count);

  PruningOptions options_;
  Direct<Scalar> direct_;
  RowRange rows_;
  Device device_;
  const Driver<Scalar>& driver_;
  std::vector<std::int64_t> chosen_;          ///< coordinates of the chosen entries, ascending
  std::vector<std::int64_t> places_;          ///< and where they lie among the weights
  std::vector<std::uint8_t> free_;            ///< [rows, Q]
  std::vector<std::int64_t> pruned_, count_;  ///< [rows]
};

}  // namespace stein::inference
