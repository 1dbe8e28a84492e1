// The no-U-turn sampler.
#pragma once

#include <stein/inference/samplers/hamiltonian_sampler.h>

namespace stein::inference {

/// Those of every trajectory, and how far one may double.
struct NutsOptions {
  TrajectoryOptions trajectory{};
  std::int64_t max_depth = 10;

  template <class V>
  void describe(V& v) {
    trajectory.describe(v);
    v("max_depth", max_depth, "a trajectory has at most 2^max_depth leapfrog steps", between(1, 20));
  }
};

/// The no-U-turn sampler (Hoffman & Gelman 2014) with multinomial draws from the trajectory and the generalised
/// criterion (Betancourt 2017, appendix A), checked across neighbouring subtrees too, as Stan does since 2.21. The
/// warm-up tunes step size and diagonal mass in Stan's windows. Give it the full batch. Every particle is a chain of
/// its own.
template <class Scalar>
class Nuts final : public HamiltonianSampler<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = NutsOptions;
  /// @param ensemble  its particles are independent chains, at least one of at least one coordinate
  /// @throws Error(usage) naming the option or the size that is out of range
  Nuts(const Options& options, const Ensemble& ensemble);
  std::string_view name() const override { return "nuts"; }

 private:
  using Vector = std::vector<Scalar>;

  /// One end of a piece of trajectory: its momentum and its velocity M⁻¹ r.
  struct End {
    Vector momentum, velocity;
    explicit End(std::size_t size) : momentum(size), velocity(size) {}
  };
  /// A piece of trajectory: its ends in the order it was walked, the sum of its momenta, its weight and the position
  /// drawn from it.
  struct Piece {
    End begin, end;
    Vector momentum_sum, position, gradient;
    double log_density = 0, log_weight = 0;
    explicit Piece(std::size_t size) : begin(size), end(size), momentum_sum(size), position(size), gradient(size) {}
  };

  Trajectory move(const Hamiltonian<Scalar>& hamiltonian, double step_size, Draws& draws,
                  PhasePoint<Scalar>& point) override;
  /// Walks 2^depth steps from `walker_` on into `piece`. False if it turned back or diverged: `piece` is then not to be
  /// used.
  bool build(std::int64_t depth, Piece& piece);
  bool walk_one_step(Piece& piece);
  /// Adds `second`, walked after `first`, to it. `biased` prefers the new piece. False if the whole turns back.
  bool join(Piece& first, Piece& second, bool biased);

  std::int64_t max_depth_;
  std::vector<Piece> spare_;  ///< the second half at every depth
  Piece tree_, extension_;
  PhasePoint<Scalar> walker_, forward_, backward_;
  Vector sum_;

  // Of the trajectory under way.
  const Hamiltonian<Scalar>* hamiltonian_ = nullptr;
  Draws* draws_ = nullptr;
  double signed_step_ = 0, start_ = 0, acceptance_sum_ = 0;
  Trajectory trajectory_;
};

}  // namespace stein::inference
