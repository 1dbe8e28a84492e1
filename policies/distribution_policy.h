// Neural policies whose belief is a distribution of the weights that networks are drawn from.
#pragma once

#include <stein/policies/neural_policy.h>

namespace stein::policies {

/// A distribution fitted to the posterior of the weights, and networks drawn from it, anew when it has moved: `vmg`
/// with matrix-wise noise (the baseline of Zhang et al. 2018), `bbb` with noise of every weight (Blundell et al. 2015);
/// or, `dropout`, networks with some units less (Gal & Ghahramani 2016).
class DistributionPolicy final : public NeuralPolicy {
 public:
  /// The network, how many are drawn, and how an action is chosen.
  struct Options : NeuralPolicy::Options {
    std::int64_t particles = 20;
    DrawOptions draw{};
    double likelihood_power = 1;

    template <class V>
    void describe(V& v) {
      v("particles", particles, "M: networks drawn from the posterior, anew when it has moved", between(1, 10000));
      draw.describe(v);
      v("likelihood_power", likelihood_power,
        "β: the likelihood is taken to this power, as if every interaction had been seen so often; above 1 the "
        "posterior is colder than Bayes' (T = 1/β)",
        positive)
          .in_older_runs("1");
      describe_likelihood(v);
      NeuralPolicy::Options::describe(v);
      if (posterior.parameterization == inference::WeightForm::variational_matrix_gaussian)
        v.preset(
            "paper",
            "Zhang et al. 2018, §3: their VMG, with the likelihood and prior of the particles; the noise precision is "
            "learned, rewards are as they come and count once",
            {{"prior_scale", "weights"},
             {"likelihood_power", "1"},
             {"draw", "one"},
             {"learn_noise_precision", "true"},
             {"scale_rewards", "false"},
             {"step_size", "0.001"}});
    }
  };

  /// @param device  where the distribution and its networks are
  /// Throws Error(usage) naming the option that is out of range or does not fit the bandit or the device.
  DistributionPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                     inference::Device device = {});

  /// 1/β where the likelihood is taken to the power β.
  std::optional<double> temperature() const override { return 1 / likelihood_power_; }

  /// Decides by one network drawn from the distribution, or by the average of several (DrawOptions).
  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;

 protected:
  void make_networks(std::int64_t first, std::int64_t count, inference::MatrixView<float> weights) override;
  void shape(const InteractionBatch& interactions, inference::Batch<float>& batch) override;
  bool has_other_networks() const override { return true; }

 private:
  DrawOptions draw_;
  double likelihood_power_;
};

}  // namespace stein::policies
