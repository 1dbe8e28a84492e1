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

    template <class V>
    void describe(V& v) {
      v("particles", particles, "M: networks drawn from the posterior, anew when it has moved", between(1, 10000));
      draw.describe(v);
      NeuralPolicy::Options::describe(v);
    }
  };

  /// @param device  where the distribution and its networks are
  /// Throws Error(usage) naming the option that is out of range or does not fit the bandit or the device.
  DistributionPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                     inference::Device device = {});

  /// As ParticlePolicy::decide.
  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;

 protected:
  void make_networks(std::int64_t first, std::int64_t count, inference::MatrixView<float> weights) override;
  bool has_other_networks() const override { return true; }

 private:
  DrawOptions draw_;
};

}  // namespace stein::policies
