// What HMC and NUTS share: independent chains of trajectories that leave the posterior as it is, each with a step size
// and a diagonal mass of its own, tuned during the warm-up as Stan does.
#pragma once

#include <stein/core/options.h>
#include <stein/core/pool.h>
#include <stein/distributed/communicator.h>
#include <stein/inference/sampler.h>
#include <stein/inference/samplers/dual_averaging.h>
#include <stein/inference/samplers/hamiltonian.h>
#include <stein/inference/samplers/warm_up_windows.h>

#include <memory>
#include <optional>
#include <vector>

namespace stein::inference {

/// Step size and metric of trajectories, and the warm-up that tunes them.
struct TrajectoryOptions {
  double step_size = 1;         ///< ε; where the warm-up starts looking, or what is kept without one
  std::int64_t warm_up = 1000;  ///< steps that tune ε and M and draw no samples
  double target_acceptance = 0.8;
  bool adapt_mass = true;

  template <class V>
  void describe(V& v) {
    v("step_size", step_size, "leapfrog step; the warm-up starts from it", positive);
    v("warm_up", warm_up, "steps that tune step size and mass and draw no samples", at_least(0), "steps");
    v("target_acceptance", target_acceptance, "acceptance that the step size is tuned to",
      Range{.low = 0, .high = 1, .low_open = true, .high_open = true});
    v("adapt_mass", adapt_mass, "set the inverse mass to the variances seen in the warm-up");
  }
};

/// What one trajectory did.
struct Trajectory {
  double acceptance = 0;  ///< mean Metropolis probability of its points
  bool accepted = false;  ///< the chain has moved
  bool divergent = false;
  std::int64_t gradients = 0;
};

/// Makes trajectories, those of one chain after another; all it keeps between them is memory.
template <class Scalar>
class Walker {
 public:
  virtual ~Walker() = default;
  /// Moves `point`, whose density and gradient are known, along one trajectory.
  virtual Trajectory move(const Hamiltonian<Scalar>& hamiltonian, double step_size, Draws& draws,
                          PhasePoint<Scalar>& point) = 0;
};

/// Independent chains, one a particle, on all cores where the target may be asked for several at a time, and on many
/// machines where ranks share them: the same bits on any number of threads and ranks. On a device particles and
/// gradients are the device's, the points of a trajectory the host's: where it goes on depends on the density at every
/// one. The derived class says what a trajectory is.
template <class Scalar>
class HamiltonianSampler : public Sampler<Scalar> {
 public:
  /// @throws Error(usage)    unless the particles have the rows and coordinates that the sampler was made for and the
  ///                         target has a value; for a batch with carried state; for a target that holds
  ///                         coordinates at zero
  /// @throws Error(numeric)  naming the first chain whose log density or gradient is not finite where it starts
  StepReport step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) final;
  /// From now on `step` is a collective call of `ranks`, which have to outlive the sampler, with the same particles on
  /// all: each moves some of the chains, and then has all of them. Errors come as distributed::AgreedError, that of the
  /// first chain; the tuning of the others is then not the same on all ranks until it is restored.
  void share_with(distributed::Communicator& ranks) { ranks_ = &ranks; }
  /// Those that share the chains; this process alone where none do.
  distributed::Communicator& ranks() const { return *ranks_; }
  void scale_step_size(double factor) override;
  bool exploring(std::int64_t t) const override { return windows_.warming_up(t); }
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  /// Leapfrog step of a chain.
  double step_size(std::int64_t chain) const { return chains_[static_cast<std::size_t>(chain)].step_size; }
  /// Diagonal of M⁻¹ of a chain, [Q].
  std::span<const Scalar> inverse_mass(std::int64_t chain) const {
    return chains_[static_cast<std::size_t>(chain)].inverse_mass;
  }
  /// Steps after the warm-up whose trajectory diverged, all chains together.
  std::int64_t divergences() const { return divergences_; }
  /// Mean acceptance of the trajectories after the warm-up, all chains together; NaN before there is one. The warm-up
  /// tunes it towards `target_acceptance`; as in Stan it ends somewhat above.
  double acceptance() const;
  /// Gradients asked for so far, all chains together.
  std::int64_t gradients() const { return gradients_; }

 protected:
  HamiltonianSampler(const TrajectoryOptions& options, const Ensemble& ensemble);

  virtual std::unique_ptr<Walker<Scalar>> make_walker() const = 0;
  std::int64_t size() const { return size_; }

 private:
  struct Chain {
    double step_size;
    std::vector<Scalar> inverse_mass;
    DualAveraging averaging;
    double count = 0;                  ///< of positions in the running window
    std::vector<double> mean, square;  ///< their mean and summed squared deviations (Welford)
  };
  /// What one chain at a time moves in.
  struct Workspace {
    std::unique_ptr<Walker<Scalar>> walker;
    PhasePoint<Scalar> point;
    std::optional<PlaceOfTarget<Scalar>> place;  ///< where the particles are not on the host
  };
  /// One step of chain i, on what that chain sees of the batch; where it ends is kept in `moved_`.
  Trajectory move_chain(std::int64_t i, const Particles<Scalar>& particles, Target<Scalar>& target,
                        const Batch<Scalar>& batch, const NoiseKey& noise);
  /// Everything that a step changes of chain i, as spans of numbers: visit(span)….
  template <class Visit>
  void visit_moved(std::int64_t i, const Visit& visit);
  double reasonable_step_size(const Hamiltonian<Scalar>& hamiltonian, double start, Draws& draws,
                              const PhasePoint<Scalar>& point) const;
  void tune(Chain& chain, const Trajectory& trajectory, const Hamiltonian<Scalar>& hamiltonian, Draws& draws,
            const PhasePoint<Scalar>& point);

  TrajectoryOptions options_;
  WarmUpWindows windows_;
  RowRange rows_;
  std::int64_t size_;
  Device device_;
  std::uint64_t seed_;
  std::int64_t steps_ = 0, divergences_ = 0, gradients_ = 0;
  double acceptances_ = 0;  ///< sum, after the warm-up
  std::vector<Chain> chains_;
  Pool<Workspace> workspaces_;
  std::vector<Trajectory> trajectories_;  ///< [M] of the step
  Matrix<Scalar> moved_;                  ///< [M, Q] where the chains are after it
  distributed::Communicator* ranks_ = &distributed::single_process();
};

}  // namespace stein::inference
