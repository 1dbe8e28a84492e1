// What all policies with a network of rewards share: its inputs, its posterior, how it learns, what it predicts.
#pragma once

#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/policies/arm_noise.h>
#include <stein/policies/bandit_policy.h>
#include <stein/policies/foreseen_predictions.h>
#include <stein/policies/reward_inputs.h>
#include <stein/policies/reward_unit.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::policies {

/// How a decision uses several networks.
enum class Draw {
  one,   ///< one of them drawn uniformly: Thompson sampling
  some,  ///< the average of some of them, drawn: Thompson sampling of a posterior that is narrower
  mean,  ///< the average of what all of them expect
};

/// How many networks a decision uses, and which: an option of policies that have several.
struct DrawOptions {
  Draw draw = Draw::one;
  std::int64_t drawn_particles = 5;  ///< k

  template <class V>
  void describe(V& v) {
    v("draw", draw,
      "decide by one particle drawn uniformly, by the average of some (drawn_particles) in a row from one drawn "
      "uniformly on, or by the average of all",
      {{"one", Draw::one}, {"some", Draw::some}, {"mean", Draw::mean}});
    v("drawn_particles", drawn_particles, "k: particles that decide together under draw=some, at most all of them",
      between(1, 10000))
        .in_older_runs("5");
  }
};

/// A perceptron that predicts rewards (Zhang et al. 2018, Algorithm 1): of every arm from what all arms share, where
/// the head of the chosen arm alone is trained, or of one arm from that and its features (RewardInputs). Rewards are
/// divided by their spread before they are learned: what the bandit says of it, or where it says nothing, as a log
/// does, the sd of the rewards so far.
///
/// Coordinates of its posterior are moved by a sampler, one step a minibatch; from them a derived class makes the
/// networks that decide.
class NeuralPolicy : public BanditPolicy {
 public:
  /// The network, its posterior and the sampler.
  struct Options {
    inference::SamplerChoice sampler = inference::samplers().at("optimizer").defaults;
    RewardNetwork network = RewardNetwork::automatic;
    std::vector<std::int64_t> hidden{50, 50};
    inference::Activation activation = inference::Activation::relu;
    inference::Likelihood likelihood = inference::Likelihood::gaussian;
    bool scale_rewards = true;
    double noise_precision = 1;
    bool learn_noise_precision = false;
    bool noise_per_arm = false;
    ArmNoise::Options arm_noise{};
    double initial_spread = 1;
    std::int64_t largest_data_size = 0;
    std::int64_t average_steps = 0;
    inference::NetworkPosteriorOptions posterior{.chooses_scale = true};

    template <class V>
    void describe(V& v) {
      v("network", network,
        "heads: an output an arm, from what all arms share; joint: one output, from that and the arm's features (its "
        "number as one-hot columns where arms have none), for each arm; auto: joint where arms have features",
        {{"auto", RewardNetwork::automatic}, {"heads", RewardNetwork::heads}, {"joint", RewardNetwork::joint}})
          .in_older_runs("heads");
      v("hidden", hidden, "widths of the hidden layers", between(1, 1e5));
      v("activation", activation, "of the hidden layers",
        {{"relu", inference::Activation::relu}, {"tanh", inference::Activation::tanh}});
      v("scale_rewards", scale_rewards,
        "divide rewards by the sd of the rewards of uniformly drawn arms, or of those so far where that is not known "
        "(Gaussian only)");
      v("noise_precision", noise_precision, "γ of the Gaussian likelihood (where it starts if learned)", positive,
        "1 / scaled reward²");
      v("learn_noise_precision", learn_noise_precision, "sample log γ with the weights");
      v("noise_per_arm", noise_per_arm,
        "every arm has a γ of its own, learned from what was predicted before its rewards came (Gaussian only)")
          .in_older_runs("false");
      arm_noise.describe(v);
      v("initial_spread", initial_spread,
        "weights start from N(0, spread²/inputs of the layer) under prior_scale=weights", non_negative);
      v("largest_data_size", largest_data_size,
        "N of the posterior is at most this: more interactions are tempered to so many; 0: no limit", between(0, 1e9),
        "interactions")
          .in_older_runs("0");
      posterior.describe(v);
      sampler.describe(v);
    }
    /// The likelihood, as an option of those policies that can learn clicks.
    template <class V>
    void describe_likelihood(V& v) {
      v("likelihood", likelihood, "of a reward given its prediction; bernoulli for rewards 0 and 1",
        {{"gaussian", inference::Likelihood::gaussian}, {"bernoulli", inference::Likelihood::bernoulli}});
    }
    /// Averages of weights, as an option of those policies that decide by the networks that learn, neither perturbed
    /// nor drawn anew.
    template <class V>
    void describe_average(V& v) {
      v("average_steps", average_steps,
        "decide by weights averaged over about so many of the last updates; 0: by the last", between(0, 1e9), "updates")
          .in_older_runs("0");
    }
  };

  /// On a device one context is asked about in the time of hundreds; the host asks about each when it is decided.
  bool foresees() const override { return device() != inference::Device{}; }
  void foresee(const envs::Context& context) override;
  void observe(const envs::Context& context, const Outcome& outcome) override;
  bool learns_from_minibatches() const override { return true; }
  void learn(const InteractionBatch& interactions) override;
  std::optional<std::string> warning() const override { return sampler_.warning(); }
  std::int64_t largest_data_size() const override { return options_.largest_data_size; }
  /// One row a network that decides.
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) override;

  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 protected:
  /// @param rows      of coordinates
  /// @param networks  M, those that decide
  /// @param device    where the networks are
  /// Throws Error(usage) naming the option that is out of range or does not fit the bandit or the device.
  NeuralPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed, std::int64_t rows,
               std::int64_t networks, inference::Device device = {});

  /// Writes the weights [count · S, P] of the networks from `first` on, where the coordinates stand now: those that the
  /// rows of coordinates stand for, one by one, unless a derived class has others.
  virtual void make_networks(std::int64_t first, std::int64_t count, inference::MatrixView<float> weights);
  /// Whether a derived class overrides make_networks: then networks are not the rows of coordinates themselves.
  virtual bool has_other_networks() const { return false; }
  /// Adds what a derived class has to add to `outputs` [count · rows, K], the predictions of `count` networks from
  /// `first` on.
  virtual void add_to_predictions(std::int64_t first, std::int64_t count, const inference::Inputs<float>& inputs,
                                  inference::MatrixView<float> outputs) {
    static_cast<void>(first), static_cast<void>(count), static_cast<void>(inputs), static_cast<void>(outputs);
  }
  /// Changes a minibatch before it is learned: targets or weights of rows of each particle's own.
  virtual void shape(const InteractionBatch& interactions, inference::Batch<float>& batch) {
    static_cast<void>(interactions), static_cast<void>(batch);
  }

  /// Has all networks made anew when they are next asked for.
  void networks_moved() {
    std::ranges::fill(current_, 0);
    foreseen_.forget();
  }
  /// The device of the networks.
  inference::Device device() const { return particles_.device(); }
  /// The weights [M, P] of all networks where the coordinates stand now, no averages.
  inference::MatrixView<const float> network_weights();

  /// The place of a chosen arm, and whether a number was drawn for it. Probabilities of places are in propensities_.
  struct Choice {
    std::int64_t place;
    bool drawn;
  };
  /// The arm that is best for one network drawn uniformly, for some on average, or for all on average.
  Choice choose(const envs::Context& context, const DrawOptions& how, Draws& draws, Propensities wanted);
  /// The decision that follows from `choose`.
  Decision decide_by(const DrawOptions& how, const envs::Context& context, std::int64_t step, Propensities wanted);
  /// What `count` networks from `first` on predict for the arms that can be chosen, [count, choices]; valid until the
  /// next call. Where one is not finite the sampler goes back to weights that it kept, with half the step size.
  /// Throws Error(numeric) naming the first once it has done so too often, or where decisions are by averages.
  inference::MatrixView<const float> predict(const envs::Context& context, std::int64_t first, std::int64_t count);
  /// The expected reward that an output stands for, in the unit of the scaled rewards.
  double scaled_reward(float output) const;
  /// What rewards are multiplied with before they are learned.
  float reward_scale() const;
  /// γ of an arm's Gaussian likelihood, where it is not sampled.
  double noise_precision(std::int64_t arm) const {
    return arm_noise_ ? arm_noise_->precision(arm) : options_.noise_precision;
  }

  Options options_;
  envs::BanditSpec spec_;
  std::uint64_t seed_;
  RewardInputs inputs_;
  RewardUnit unit_;
  std::optional<ArmNoise> arm_noise_;
  inference::MlpSpec network_;
  inference::GaussianPriorOptions prior_;  ///< of the coordinates, layer by layer where it is stated so
  std::unique_ptr<inference::Posterior<float>> posterior_;
  inference::Particles<float> particles_;
  inference::RollbackSampler<float> sampler_;
  std::int64_t updates_ = 0;
  std::vector<double> propensities_;

 private:
  inference::Particles<float> start(std::int64_t rows);
  /// Whether the networks are the rows of coordinates themselves, as those of plain weights on a device.
  bool rows_are_networks() const;
  /// The networks of `count` of those that decide, [count, P] numbers: averages where there are such.
  inference::MatrixView<const float> networks(std::int64_t first, std::int64_t count);
  /// The networks where the coordinates stand now, [count, P]; those that are not current are made first.
  inference::MatrixView<const float> networks_now(std::int64_t first, std::int64_t count);
  void refresh(std::int64_t first, std::int64_t count);
  /// Makes those of `count` networks from `first` on anew that were not made since the coordinates moved.
  void refresh_stale(std::int64_t first, std::int64_t count);
  inference::MatrixView<const float> one_row_each(inference::MatrixView<const float> weights) const;
  /// What `count` networks from `first` on answer to rows of inputs, [count · rows, K].
  void ask(std::int64_t first, std::int64_t count, const inference::Inputs<float>& inputs,
           inference::MatrixView<float> outputs);
  /// What `count` networks answer to the rows of one context, [count, rows·K]: looked up where the context was
  /// foreseen, else asked. Valid until the next call.
  inference::MatrixView<const float> answers(std::int64_t first, std::int64_t count,
                                             const inference::Inputs<float>& inputs);
  /// Writes the predictions. Returns what is to be said of the first that is not finite; empty where all are.
  std::string find_predictions(const envs::Context& context, std::int64_t first, std::int64_t count);
  Choice choose_by_one(const envs::Context& context, Draws& draws);
  Choice choose_by_some(const envs::Context& context, std::int64_t count, Draws& draws);
  Choice choose_by_mean(const envs::Context& context, Draws& draws);
  /// Adds what networks first … first + count − 1 expect of each arm to mean_.
  void add_expectations(const envs::Context& context, std::int64_t first, std::int64_t count);
  /// What all networks expect of an arm on average, in the unit of the scaled rewards.
  double mean_prediction(const envs::Context& context, std::int64_t place);
  void average_networks();

  inference::Matrix<float> weights_;   ///< [M · S, P] of the networks that decide, once they were made
  inference::Matrix<float> averaged_;  ///< [M, P] of the networks, one draw each, or none
  std::vector<std::uint8_t> current_;  ///< [M] whether the coordinates have not moved since the network was made
  std::vector<float> outputs_, targets_, row_weights_;
  std::vector<float> predictions_;  ///< [M · choices]
  ForeseenPredictions foreseen_;
  std::vector<double> mean_, chosen_mean_;
};

/// Options of a named policy: the sampler of that name with its defaults, over that form of weights.
template <class Options>
Options neural_defaults(std::string_view sampler, inference::WeightForm form = inference::WeightForm::direct) {
  Options options;
  options.sampler = inference::samplers().at(sampler).defaults;
  options.posterior.parameterization = form;
  return options;
}

/// Options of single networks, as neural_defaults has them, with a noise precision beside which the prior hardly
/// counts: beside γ = 1 a prior N(0, 1) outweighs rewards that are rare (docs/bandit-findings.md, "Greedy and its
/// prior").
template <class Options>
Options plain_network_defaults(std::string_view sampler, inference::WeightForm form = inference::WeightForm::direct) {
  auto options = neural_defaults<Options>(sampler, form);
  options.noise_precision = 16384;
  return options;
}

}  // namespace stein::policies
