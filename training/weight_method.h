// Ways of finding weights of a network by name: a sampler, what it moves, and the prior.
#pragma once

#include <stein/core/registry.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/targets/network_posterior.h>

#include <cstdint>
#include <string>

namespace stein::training {

/// What `step_size` and `clip_norm` are told in. Published rates belong to a loss of their authors: its gradient is
/// that of the full log joint times n₁/N, where n₁ data make one unit of the loss.
enum class RateUnit {
  joint,     ///< the gradient of the full log joint itself
  datum,     ///< of its mean over the N data: n₁ = 1
  sequence,  ///< summed over the tokens of a sequence and averaged over sequences (Zaremba et al. 2014): n₁ = tokens
};

/// h of the full log joint for a published rate: h = rate · n₁/N.
constexpr double joint_step_size(double rate, double data_of_unit, double data_size) {
  return rate * data_of_unit / data_size;
}
/// The longest gradient of the full log joint for a published limit: limit · N/n₁.
constexpr double joint_clip_norm(double limit, double data_of_unit, double data_size) {
  return limit * data_size / data_of_unit;
}

/// What is known of the data when a method is made.
struct DataFacts {
  double size = 1;         ///< N, in the unit that batches count
  double sequence = 1;     ///< data of one sequence of a minibatch: its tokens
  double minibatches = 1;  ///< of an epoch: N/n
};

/// What a method leaves for predictions.
enum class MethodKind {
  optimizer,    ///< the weights where it ends
  chain,        ///< the places of a Markov chain, whose predictions are averaged
  variational,  ///< a Gaussian of the weights: its mean, or draws from it
  ensemble,     ///< M particles
};

/// A method with its options. What its name fixes is no option.
struct WeightMethodOptions {
  MethodKind kind = MethodKind::optimizer;
  bool step_follows_gradient = false;  ///< of a chain: its drift is in proportion to the gradient (SGLD, SGHMC)
  inference::SamplerChoice sampler = inference::samplers().at("optimizer").defaults;
  inference::NetworkPosteriorOptions posterior{};
  std::int64_t particles = 1;
  RateUnit rate_unit = RateUnit::joint;
  std::int64_t temperature_every = 10;
  double outer_deviation = 1;
  bool hides_inputs = false;    ///< parts of a minibatch's dense inputs: for rows of numbers only
  bool takes_all_data = false;  ///< every step looks at all rows of training, whatever `batch_size` says

  template <class V>
  void describe(V& v) {
    OptionTable own;
    sampler.describe(own);
    v.append(own, kind == MethodKind::optimizer ? "optimizer" : "");
    if (!takes_all_data)
      v("rate_unit", rate_unit,
        "what clip_norm limits, and step_size multiplies where a step is in proportion to the gradient (sgd, sgld, "
        "sghmc): ∇ of the full log joint; of its mean per datum; of the sum over a sequence, averaged over sequences",
        {{"joint", RateUnit::joint}, {"datum", RateUnit::datum}, {"sequence", RateUnit::sequence}});
    if (kind == MethodKind::ensemble)
      v("particles", particles, "M: networks that together stand for the posterior", between(1, 1000));
    if (kind == MethodKind::chain)
      v("chains", particles,
        "K: chains side by side, each with a start and noise of its own, whose samples are averaged together; ranks "
        "share them",
        between(1, 1000))
          .in_older_runs("1");
    if (kind == MethodKind::chain && !takes_all_data)
      v("temperature_every", temperature_every,
        "updates from one reading of the temperature meter to the next; 0: none", at_least(0), "updates");
    if (posterior.parameterization == inference::WeightForm::mean_field)
      v("outer_deviation", outer_deviation, "the sd of weights that are not recurrent starts so much wider", positive);
    posterior.describe(v);
  }

  /// Whether all gradients are scaled to one length (`clip_rule=rescale`): then no step is that of a known law.
  bool scales_all_gradients() const;
  /// The sampler of `ensemble`, with rates and limits of the full log joint.
  std::unique_ptr<inference::Sampler<float>> make_sampler(const inference::Ensemble& ensemble,
                                                          const DataFacts& data) const;
};

/// A registered method: its line in `stein list`, and itself with its default options.
struct WeightMethod {
  std::string description;
  WeightMethodOptions defaults;
};

/// All methods that are linked in.
Registry<WeightMethod>& weight_methods();

}  // namespace stein::training
