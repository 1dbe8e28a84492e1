// Neural policies whose belief is a set of particles, one network each: Stein Thompson sampling and its controls.
#pragma once

#include <stein/policies/bootstrap_counts.h>
#include <stein/policies/neural_policy.h>
#include <stein/policies/perturbed_rewards.h>

#include <optional>
#include <string_view>
#include <vector>

namespace stein::policies {

/// Particles for the weights of a network of rewards. `svgd` and `s2vgd` move them by SVGD, on the weights and on the
/// factors of matrix-Gaussian weights; `ensemble` lets each of them climb on its own; `sgld`, `psgld` and `sghmc` are
/// chains. A name fixes the sampler and the form of the weights, and has the options that mean something with those.
///
/// With anchors (`anchored` is the ensemble that has them) particle i has the prior N(c_i, Σ₀), c_i ~ N(0, Σ₀) a draw
/// of its own, where it starts, and sees rewards with noise of its own (Osband, Aslanides & Cassirer 2018; Pearce,
/// Leibfried & Brintrup 2020): without hidden layers the modes of these posteriors are draws from the posterior itself.
/// Clicks have no noise to add to: they count Poisson(1) times to each particle.
class ParticlePolicy : public NeuralPolicy {
 public:
  /// The network, how many, and how an action is chosen.
  struct Options : NeuralPolicy::Options {
    std::int64_t particles = 20;
    DrawOptions draw{};
    bool anchors = false;
    double prior_function_scale = 0;
    std::optional<Preset> paper;  ///< what the preset `paper` of the registered name sets beside learning

    template <class V>
    void describe(V& v) {
      v("particles", particles, "M: networks that together stand for the posterior", between(1, 10000));
      draw.describe(v);
      v("anchors", anchors,
        "each particle has a prior around a draw of its own, where it starts, and sees rewards with noise of its own, "
        "or clicks as often as a bootstrap of its own says")
          .in_older_runs("false");
      v("prior_function_scale", prior_function_scale,
        "adds this times a fixed random network to each particle (Osband et al. 2018; Gaussian only)", non_negative,
        "scaled reward");
      describe_likelihood(v);
      describe_average(v);
      NeuralPolicy::Options::describe(v);
      if (!paper) return;
      for (const auto& [option, value] : paper->settings)
        v.preset(paper->name, paper->description, {{option.c_str(), value}});
    }
  };

  /// Throws Error(usage) naming the option that is out of range or does not fit the bandit or the device.
  ParticlePolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                 inference::Device device = {});

  /// Without propensities, and with one particle drawn, only that particle is asked, and the decision is the same.
  /// Throws Error(numeric) naming the particle and the arm of a prediction that is not finite.
  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;

  /// The sampler's temperature where particles are chains, 1 for particles of SVGD and for anchored ones. None for
  /// networks that only climb, and for chains with anchors, which together are wider than the posterior.
  std::optional<double> temperature() const override;

  /// The variance of the weights over particles (of C, where they are P Λ₁ C Λ₂ Qᵀ), for more than one particle:
  /// {"collapse", that ÷ what it was at the start} unless they started all alike, and {"variance_to_prior", that ÷
  /// their prior variance}.
  std::vector<std::pair<std::string, double>> diagnostics() const override;

 protected:
  void add_to_predictions(std::int64_t first, std::int64_t count, const inference::Inputs<float>& inputs,
                          inference::MatrixView<float> outputs) override;
  /// Every particle learns what its own prior function leaves of the rewards, and its own noise.
  void shape(const InteractionBatch& interactions, inference::Batch<float>& batch) override;

 private:
  void make_anchors(const Options& options);
  void make_prior_functions();
  void subtract_prior_functions(inference::Batch<float>& batch);
  /// The variance of the weights over particles.
  double weight_variance() const;
  double prior_variance() const;

  DrawOptions draw_;
  std::optional<PerturbedRewards> perturbed_;    ///< of anchored particles with Gaussian rewards
  std::optional<BootstrapCounts> click_counts_;  ///< of anchored particles with clicks
  double prior_function_scale_;
  double start_variance_ = 0;               ///< variance of the weights over particles at the start
  inference::Matrix<float> prior_weights_;  ///< [M, P] of the fixed random networks, on the policy's device; or empty
  std::vector<float> prior_outputs_, own_targets_;
};

/// The preset `paper` of particles with weights of such a form: N(0, 1) on weights or factors, sampled precisions,
/// rewards as they come, one particle decides (Zhang et al. 2018, §3).
Preset published_settings(inference::WeightForm form, std::string description);

/// The preset `paper` of a policy that the paper does not have: the paper's likelihood, prior and draw.
Preset published_likelihood(inference::WeightForm form);

/// Options of a named policy as neural_defaults has them, with the paper's likelihood and prior as the preset `paper`.
template <class Options>
Options particle_defaults(std::string_view sampler, inference::WeightForm form = inference::WeightForm::direct) {
  auto options = neural_defaults<Options>(sampler, form);
  options.paper = published_likelihood(form);
  return options;
}

/// Options of particles that learn like single networks, as plain_network_defaults has them, with the same preset.
template <class Options>
Options plain_particle_defaults(std::string_view sampler) {
  auto options = plain_network_defaults<Options>(sampler);
  options.paper = published_likelihood(inference::WeightForm::direct);
  return options;
}

/// Options of a named policy whose prior is stated by functions, with the noise of each arm learned, and of whose
/// particles half decide together.
template <class Options>
Options function_prior_defaults(std::string_view sampler, inference::WeightForm form = inference::WeightForm::direct) {
  auto options = particle_defaults<Options>(sampler, form);
  options.noise_per_arm = true;
  options.posterior.prior_scale = inference::PriorScale::functions;
  options.posterior.functions.function_deviation = 2;
  options.draw = {.draw = Draw::some, .drawn_particles = options.particles / 2};
  return options;
}

/// Options as function_prior_defaults has them, with anchored particles: what did best over several bandits
/// (docs/bandit-findings.md). The preset `paper` sets learning only: anchored particles perturb rewards by a precision
/// that is given, where the paper samples it.
template <class Options>
Options anchored_defaults(std::string_view sampler, inference::WeightForm form = inference::WeightForm::direct) {
  auto options = function_prior_defaults<Options>(sampler, form);
  options.paper.reset();
  options.anchors = true;
  if (form == inference::WeightForm::matrix_gaussian) {
    options.posterior.structure.reflectors = 1;
    options.posterior.prior.scale_deviation = 0.2;
  }
  return options;
}

}  // namespace stein::policies
