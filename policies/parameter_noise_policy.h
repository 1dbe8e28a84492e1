// One network whose weights are perturbed for every decision: exploration by parameter noise.
#pragma once

#include <stein/inference/samplers/driver.h>
#include <stein/inference/weight_driver.h>
#include <stein/policies/neural_policy.h>

namespace stein::policies {

/// Chooses by a network whose weights have noise added (Plappert et al. 2018, "Parameter space noise for exploration"):
/// N(0, σ² w²) with w the root mean square of the weights or biases of a layer. σ is adapted with every outcome, times
/// 1.01 or by 1.01, so that a share `target_change` of the perturbed networks prefers another arm than the unperturbed
/// one. M perturbed networks are drawn anew whenever the weights have moved.
class ParameterNoisePolicy final : public NeuralPolicy {
 public:
  /// The network, and how far it is perturbed.
  struct Options : NeuralPolicy::Options {
    std::int64_t particles = 20;
    double initial_noise = 0.05;
    double target_change = 0.02;

    template <class V>
    void describe(V& v) {
      v("particles", particles, "M: perturbed networks, drawn anew when the weights have moved", between(1, 10000));
      v("initial_noise", initial_noise, "σ at first, a share of the root mean square of a layer's weights", positive);
      v("target_change", target_change,
        "share of the perturbed networks that is to prefer another arm than the unperturbed one", probability);
      describe_likelihood(v);
      NeuralPolicy::Options::describe(v);
    }
  };

  /// Throws Error(usage) naming the option that is out of range or does not fit the bandit or the device.
  ParameterNoisePolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                       inference::Device device = {});

  /// Every outcome moves σ, and with it all networks.
  bool foresees() const override { return false; }
  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;
  /// Adapts σ to what the perturbed networks prefer in this context.
  void observe(const envs::Context& context, const Outcome& outcome) override;
  /// {"parameter_noise", σ}.
  std::vector<std::pair<std::string, double>> diagnostics() const override;

  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 protected:
  void make_networks(std::int64_t first, std::int64_t count, inference::MatrixView<float> weights) override;
  bool has_other_networks() const override { return true; }

 private:
  /// The weights [1, P] of the network that is perturbed.
  inference::MatrixView<const float> unperturbed();
  /// The share of the perturbed networks that prefers another arm in a context.
  double changed(const envs::Context& context);

  std::int64_t networks_;
  double noise_, target_change_;
  const inference::Driver<float>& driver_;
  const inference::WeightDriver<float>& weight_driver_;
  inference::Matrix<float> unperturbed_;  ///< [1, P], where the coordinates are other numbers
  std::vector<float> outputs_;
};

}  // namespace stein::policies
