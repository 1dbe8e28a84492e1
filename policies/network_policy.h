// One network of rewards, and a share of decisions drawn uniformly.
#pragma once

#include <stein/policies/neural_policy.h>

namespace stein::policies {

/// Chooses the arm that its network expects most of, and with probability ε an arm drawn uniformly: `epsilon-greedy`.
class NetworkPolicy final : public NeuralPolicy {
 public:
  /// The network, and ε.
  struct Options : NeuralPolicy::Options {
    double epsilon = 0.05;

    template <class V>
    void describe(V& v) {
      v("epsilon", epsilon, "probability of an arm drawn uniformly instead", probability);
      describe_likelihood(v);
      describe_average(v);
      NeuralPolicy::Options::describe(v);
      v.preset("paper", "Zhang et al. 2018, §3: ε-greedy, here under the prior and the noise of their particles",
               {{"noise_precision", "1"}});
    }
  };

  /// Throws Error(usage) naming the option that is out of range or does not fit the bandit or the device.
  NetworkPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                inference::Device device = {});

  /// Throws Error(numeric) naming the arm of a prediction that is not finite.
  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;

 private:
  double epsilon_;
};

}  // namespace stein::policies
