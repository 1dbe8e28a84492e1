// Dropout Hamiltonian Monte Carlo: SGHMC on minibatches whose inputs are partly hidden.
#pragma once

#include <stein/inference/samplers/sghmc.h>

namespace stein::inference {

/// Those of SGHMC, and how much is dropped.
struct DropoutSghmcOptions {
  SghmcOptions sghmc{};
  double keep = 0.5;             ///< probability that an input is seen; the paper's "p" acts so
  std::int64_t inner_steps = 1;  ///< L: moves that see the same minibatch and the same mask

  template <class V>
  void describe(V& v) {
    sghmc.describe(v);
    v("keep", keep, "probability that an input of a minibatch is seen", Range{.low = 0, .high = 1, .low_open = true});
    v("inner_steps", inner_steps, "L: moves with one minibatch and one mask", between(1, 1e6));
  }

  /// What the published figures were made with: Edward's sampler, whose friction is α/2 and whose step is ε/100. The
  /// paper's α = 1 and ε = 1e-4 are friction 0.5 and step 1e-6 here.
  static DropoutSghmcOptions as_published(double step_size, double friction) {
    return {.sghmc = {.step = {.step_size = 0.01 * step_size}, .friction = friction / 2}};
  }
};

/// D-SGHMC (Hernández et al. 2020, Algorithm 1): a step draws a mask Γ with independent Bernoulli(keep) entries for the
/// inputs of the minibatch, [n, D] and the same for all particles, and makes `inner_steps` moves of SGHMC with the
/// inputs Γ ∘ x / keep. With keep = 1 and one inner step it is SGHMC, bit for bit. The sign of the drift is that of
/// ascent on the log posterior; the paper's text has it the other way round.
template <class Scalar>
class DropoutSghmc : public Sghmc<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = DropoutSghmcOptions;
  /// The parameters and errors of Sghmc.
  DropoutSghmc(const Options& options, const Ensemble& ensemble);

  /// The errors of Sampler; Error(usage) too unless the batch has dense inputs and no mask of its own.
  StepReport step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) override;
  std::string_view name() const override { return "dropout-sghmc"; }
  bool exploring(std::int64_t t) const override { return this->schedule().exploring(t * inner_steps_); }

 private:
  /// The mask of the step that starts now.
  MatrixView<const Scalar> draw_mask(std::int64_t rows, std::int64_t columns);

  double keep_;
  std::int64_t inner_steps_;
  std::vector<Scalar> mask_;
};

}  // namespace stein::inference
