// A way of moving particles along the gradient of a log density.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/distributed/communicator.h>
#include <stein/inference/batch.h>
#include <stein/inference/particles.h>
#include <stein/inference/storage/row_range.h>
#include <stein/inference/target.h>

#include <string_view>

namespace stein::inference {

/// What one step did.
struct StepReport {
  bool accepted = true;    ///< false where a Metropolis test rejected the proposal, NUTS stayed, or no step was taken
  bool divergent = false;  ///< the trajectory left the region where its integrator is stable
  bool exploring = false;  ///< the step looks for a mode, or tunes: what it reached is no sample
  /// False where a device still makes the step: whether it left the finite numbers is known once the next step or
  /// `Sampler::settle` returns.
  bool settled = true;
  /// Before this step its state was kept, so that a later step may go back to it (see RollbackSampler).
  bool kept = false;
  /// The sampler went back to a state that it had kept.
  bool went_back = false;
  /// False where it went back and took no step since: it waits for another batch.
  bool taken = true;
  /// Steps before this one that were taken back: what was collected in them is of a chain that diverges, and to be
  /// dropped, as a Collector does.
  std::int64_t lost_steps = 0;
};

/// Moves all particles by one step, pulling as many gradients from the target as it needs, and calls `Target::adapt`
/// once after every step that was accepted.
template <class Scalar>
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// @throws Error(usage)    unless the particles have the rows and coordinates that the sampler was made for
  /// @throws Error(numeric)  naming the first coordinate whose gradient is not finite, and the particles are left where
  ///                         it was asked for; or the first that the step itself has taken out of the finite numbers,
  ///                         and the particles are of no more use
  /// On a device whose host runs ahead an error of this kind is that of the step before, and nothing has moved since.
  virtual StepReport step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) = 0;

  /// Waits for the last step where the host of a device runs ahead of it: to be called before anything but another step
  /// looks at particles, sampler or target. Of `batch`, that of the last step, it needs the carried state only.
  /// @returns what became of the chain since that step's report; `taken` is false
  /// @throws Error(numeric)  as that step would have
  virtual StepReport settle(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) {
    static_cast<void>(particles), static_cast<void>(target), static_cast<void>(batch);
    return {.accepted = false, .taken = false};
  }

  /// Whether step t = 0, 1, … looks for a mode or tunes, so that it gives no sample: what a Collector plans by.
  virtual bool exploring(std::int64_t t) const {
    static_cast<void>(t);
    return false;
  }

  /// Multiplies the step size from now on (that which a warm-up has found so far, and goes on from): what a run that is
  /// rolled back after a divergence does before it tries again.
  virtual void scale_step_size(double factor) = 0;

  /// From here on every step is a collective call of `ranks`, which outlive the sampler and have the same particles and
  /// gradients: where one move of all particles together takes longer than to bring them, each moves some of them. Each
  /// has the particles of one process then; what the sampler keeps for those of others, `bring_together` brings.
  virtual void share_moves(distributed::Communicator& ranks) { static_cast<void>(ranks); }
  /// A collective call of those ranks, before it is saved; nothing where they share no moves.
  virtual void bring_together() {}

  /// What a checkpoint and an error message call it: "sghmc".
  virtual std::string_view name() const = 0;
  /// Which of its forms it has, where those keep different state: "adam".
  virtual std::string_view form() const { return ""; }

  /// Everything that the next step depends on besides the particles: momenta, averages, step count.
  virtual void save(Snapshot& snapshot) const = 0;
  /// Throws Error(data) saying what differs if it was saved by another sampler or for other particles.
  virtual void restore(const Snapshot& snapshot) = 0;
};

/// Throws Error(usage) unless a sampler can be made for `rows` particles of `size` coordinates.
void check_sampler_size(std::int64_t rows, std::int64_t size);

/// Throws Error(usage) unless the particles are those that a sampler was made for.
template <class Scalar>
void check_particles(const Particles<Scalar>& particles, const RowRange& rows, std::int64_t size) {
  STEIN_CHECK(particles.rows() == rows.count && particles.size() == size,
              "the sampler was made for {} particles of {} coordinates, got {} of {}", rows.count, size,
              particles.rows(), particles.size());
  STEIN_CHECK(particles.first_row() == rows.first,
              "the sampler was made for particles from row {} of the ensemble on, got those from row {} on", rows.first,
              particles.first_row());
}

/// What every sampler's state begins with.
struct SavedSampler {
  std::string_view name, form, number;  ///< "optimizer", "adam", "float"
  RowRange rows;
  std::int64_t size;

  template <class Scalar>
  static SavedSampler of(const Sampler<Scalar>& sampler, const RowRange& rows, std::int64_t size) {
    return {sampler.name(), sampler.form(), sizeof(Scalar) == sizeof(float) ? "float" : "double", rows, size};
  }
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) saying what differs if the state is of another sampler, form, number type, shape or
  /// shard.
  void check(const Snapshot& snapshot) const;
};

}  // namespace stein::inference
