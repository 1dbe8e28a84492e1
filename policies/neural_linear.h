// Bayesian linear regression on the features that a network has learned.
#pragma once

#include <stein/policies/lin_ts.h>
#include <stein/policies/neural_policy.h>

#include <memory>
#include <optional>
#include <vector>

namespace stein::policies {

/// Thompson sampling with the exact posterior of a linear regression on the last hidden layer (NeuralLinear of
/// Riquelme, Tucker & Snoek 2018): the network learns from minibatches, its last layer is replaced by LinTs, a
/// regression of every arm, or of features that all arms share where the network is joint. The regressions take in
/// every interaction as it comes, with the features of that moment, and are made anew from the whole window every
/// `refresh_every` outcomes. Propensities are exact, as those of LinTs. On a device the network lies there; its
/// features come home, where the regressions are.
class NeuralLinear final : public NeuralPolicy {
 public:
  /// The network, and the prior of the regressions.
  struct Options : NeuralPolicy::Options {
    std::int64_t refresh_every = 20;
    double prior_precision = 0.25;
    double prior_shape = 6;
    double prior_rate = 6;

    template <class V>
    void describe(V& v) {
      v("refresh_every", refresh_every, "outcomes after which the regressions are made anew from the window",
        between(1, 1e9), "interactions");
      v("prior_precision", prior_precision,
        "of the coefficients of the last layer before any reward, times the noise variance", positive);
      v("prior_shape", prior_shape, "a0 of the inverse gamma prior of the noise variance", between(0.5, 1e9));
      v("prior_rate", prior_rate, "b0 of the inverse gamma prior of the noise variance", positive,
        "reward^2, or variances of rewards");
      NeuralPolicy::Options::describe(v);
    }
  };

  /// Throws Error(usage) naming the option that is out of range or does not fit the bandit or the device.
  NeuralLinear(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed, inference::Device device = {});

  /// Features are asked for when they are needed.
  bool foresees() const override { return false; }

  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;
  void observe(const envs::Context& context, const Outcome& outcome) override;
  std::int64_t revisits_every() const override { return refresh_every_; }
  void revisit(const InteractionBatch& window) override;
  /// 1: the regressions are the exact posterior of the last layer, given the layers below.
  std::optional<double> temperature() const override { return 1; }
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) override;

  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 private:
  /// The features [rows, width] of rows of the network's inputs; valid until the next call.
  inference::MatrixView<const float> features_of(const inference::Inputs<float>& inputs);
  /// What the regressions see of a context. Valid until the next call.
  envs::Context feature_context(const envs::Context& context);

  std::int64_t refresh_every_;
  envs::BanditSpec feature_spec_;
  std::unique_ptr<inference::Posterior<float>> extractor_;  ///< of the layers up to the last hidden one
  std::vector<float> features_;
  LinTs linear_;
};

}  // namespace stein::policies
