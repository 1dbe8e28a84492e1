// Neural policies whose belief is a set of particles: Stein Thompson sampling and its controls.
#pragma once

#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/policies/bandit_policy.h>
#include <stein/policies/reward_inputs.h>
#include <stein/policies/reward_unit.h>

#include <memory>
#include <vector>

namespace stein::policies {

/// How a decision uses the particles.
enum class Draw {
  one,   ///< one particle drawn uniformly: Thompson sampling
  mean,  ///< the average of all particles
};

/// A perceptron that predicts rewards, with particles for its weights (Zhang et al. 2018, Algorithm 1): of every arm
/// from what all arms share, where the head of the chosen arm alone is trained, or of one arm from that and its
/// features (RewardInputs). Rewards are divided by their spread before they are learned: what the bandit says of it, or
/// where it says nothing, as a log does, the sd of the rewards so far.
///
/// `svgd` and `s2vgd` move the particles by SVGD, on the weights and on the factors of matrix-Gaussian weights;
/// `ensemble` lets each particle climb on its own; `epsilon-greedy` has one particle. `vmg` fits a Gaussian with
/// matrix-wise noise instead (its baseline there): the particles are draws from it, made anew when it has moved. A name
/// fixes the sampler and the form of the weights, and has the options that mean something with those.
class ParticlePolicy final : public BanditPolicy {
 public:
  /// The network, its posterior, the sampler and how an action is chosen.
  struct Options {
    inference::SamplerChoice sampler = inference::samplers().at("svgd").defaults;
    bool single = false;  ///< one network and ε instead of particles to draw from
    std::int64_t particles = 20;
    RewardNetwork network = RewardNetwork::automatic;
    std::vector<std::int64_t> hidden{50, 50};
    inference::Activation activation = inference::Activation::relu;
    inference::Likelihood likelihood = inference::Likelihood::gaussian;
    Draw draw = Draw::one;
    double epsilon = 0;
    bool scale_rewards = true;
    double noise_precision = 1;
    bool learn_noise_precision = false;
    double initial_spread = 1;
    double prior_function_scale = 0;
    inference::NetworkPosteriorOptions posterior{};

    template <class V>
    void describe(V& v) {
      if (single) {
        v("epsilon", epsilon, "probability of an arm drawn uniformly instead", probability);
      } else {
        v("particles", particles,
          posterior.distributes_weights() ? "M: networks drawn from the posterior, anew when it has moved"
                                          : "M: networks that together stand for the posterior",
          between(1, 10000));
        v("draw", draw, "decide by one particle drawn uniformly, or by the average of all",
          {{"one", Draw::one}, {"mean", Draw::mean}});
        if (!posterior.distributes_weights())
          v("prior_function_scale", prior_function_scale,
            "adds this times a fixed random network to each particle (Osband et al. 2018; Gaussian only)", non_negative,
            "scaled reward");
      }
      v("network", network,
        "heads: an output an arm, from what all arms share; joint: one output, from that and the arm's features (its "
        "number as one-hot columns where arms have none), for each arm; auto: joint where arms have features",
        {{"auto", RewardNetwork::automatic}, {"heads", RewardNetwork::heads}, {"joint", RewardNetwork::joint}})
          .in_older_runs("heads");
      v("hidden", hidden, "widths of the hidden layers", between(1, 1e5));
      v("activation", activation, "of the hidden layers",
        {{"relu", inference::Activation::relu}, {"tanh", inference::Activation::tanh}});
      v("likelihood", likelihood, "of a reward given its prediction; bernoulli for rewards 0 and 1",
        {{"gaussian", inference::Likelihood::gaussian}, {"bernoulli", inference::Likelihood::bernoulli}});
      v("scale_rewards", scale_rewards,
        "divide rewards by the sd of the rewards of uniformly drawn arms, or of those so far where that is not known "
        "(Gaussian only)");
      v("noise_precision", noise_precision, "γ of the Gaussian likelihood (where it starts if learned)", positive,
        "1 / scaled reward²");
      v("learn_noise_precision", learn_noise_precision, "sample log γ with the weights");
      v("initial_spread", initial_spread, "weights start from N(0, spread²/inputs of the layer)", non_negative);
      posterior.describe(v);
      sampler.describe(v);
      describe_paper(v);
    }
    /// The settings of the paper where they are not the defaults.
    template <class V>
    void describe_paper(V& v) {
      constexpr const char* source = "Zhang et al. 2018, §3: precisions are sampled, rewards are as they come";
      if (posterior.parameterization == inference::WeightForm::direct && !single)
        v.preset("paper", source,
                 {{"learn_noise_precision", "true"}, {"learn_weight_precision", "true"}, {"scale_rewards", "false"}});
      if (posterior.parameterization == inference::WeightForm::matrix_gaussian)
        v.preset("paper", source,
                 {{"learn_noise_precision", "true"},
                  {"learn_weight_precision", "true"},
                  {"learn_reflector_precision", "true"},
                  {"scale_rewards", "false"}});
    }
  };

  /// Throws Error(usage) naming the option that is out of range or does not fit the bandit.
  ParticlePolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  /// Without propensities, and with one particle drawn, only that particle is asked, and the decision is the same.
  /// Throws Error(numeric) naming the particle and the arm of a prediction that is not finite.
  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;
  void observe(const envs::Context& context, const Outcome& outcome) override;
  bool learns_from_minibatches() const override { return true; }
  void learn(const InteractionBatch& batch) override;

  /// The variance of the weights over particles (of C, where they are P Λ₁ C Λ₂ Qᵀ), for more than one particle:
  /// {"collapse", that ÷ what it was at the start} unless they started all alike, and {"variance_to_prior", that ÷
  /// their prior variance}. Empty for variational forms, whose networks are draws, not members of an ensemble.
  std::vector<std::pair<std::string, double>> diagnostics() const override;
  std::optional<std::string> warning() const override { return sampler_.warning(); }
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) override;

  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 private:
  /// What `count` particles from `first` on predict for the arms that can be chosen, [count, choices], prior functions
  /// included; valid until the next call. Throws Error(numeric) naming the first that is not finite.
  inference::MatrixView<const float> predict(const envs::Context& context, std::int64_t first, std::int64_t count);
  /// One particle's best arm, by its place; the votes of all of them are added to the propensities if those are wanted.
  std::int64_t choose_by_one(const envs::Context& context, Draws& draws);
  /// The arm that is best on average, by its place; votes as above. @param tied  whether several are
  std::int64_t choose_by_mean(const envs::Context& context, Draws& draws, bool& tied);
  /// The expected reward that an output stands for, in the unit of the scaled rewards.
  double scaled_reward(float output) const;
  /// What rewards are multiplied with before they are learned.
  float reward_scale() const;
  /// The networks of `count` particles from `first` on, [count, P] numbers: made where they are not current.
  inference::MatrixView<const float> networks(std::int64_t first, std::int64_t count);
  void make_networks(std::int64_t first, std::int64_t count);
  double prior_variance() const;
  void make_prior_functions(const inference::MlpSpec& network);

  Options options_;
  envs::BanditSpec spec_;
  std::uint64_t seed_;
  RewardInputs inputs_;
  RewardUnit unit_;
  std::unique_ptr<inference::Posterior<float>> posterior_;
  inference::Particles<float> particles_;
  inference::RollbackSampler<float> sampler_;
  inference::Matrix<float> weights_;        ///< [M · S, P] of the networks that decide
  std::vector<std::uint8_t> current_;       ///< [M] whether the particle has not moved since its network was made
  std::int64_t updates_ = 0;                ///< keys the networks that are drawn
  double start_variance_;                   ///< of the weights over particles
  inference::Matrix<float> prior_weights_;  ///< of the fixed random networks, if any
  std::vector<float> outputs_, prior_outputs_, targets_;
  std::vector<float> predictions_;  ///< [M · choices]
  std::vector<double> propensities_, mean_;
};

}  // namespace stein::policies
