// The wheel: a bandit whose need for exploration is set by one number (Riquelme, Tucker & Snoek 2018, "Deep Bayesian
// Bandits Showdown", section 5.4).
#pragma once

#include <stein/envs/bandit_environment.h>

#include <array>

namespace stein::envs {

/// Contexts are uniform in the unit disc. Arm 4 is safe: mean 1.2 everywhere. Arms 0…3 have mean 1, but outside the
/// radius δ the arm of the context's quadrant, (+,+), (+,−), (−,+), (−,−) in that order, has mean 50. Gaussian noise.
/// The share of contexts where exploring pays is 1 − δ².
class Wheel final : public BanditEnvironment {
 public:
  /// How rare the large rewards are, and the rewards.
  struct Options {
    double delta = 0.5;   ///< δ
    double noise = 0.01;  ///< standard deviation of every reward
    template <class V>
    void describe(V& v) {
      v("delta", delta, "radius inside which no quadrant pays; the nearer to 1, the rarer the large reward",
        Range{.low = 0, .high = 1, .low_open = true, .high_open = true});
      v("noise", noise, "standard deviation of every reward", non_negative, "reward");
    }
  };

  static constexpr std::int64_t arms = 5, safe_arm = 4;
  static constexpr double safe_mean = 1.2, low_mean = 1.0, high_mean = 50.0;

  Wheel(const Options& options, const DataSource& source);

  const BanditSpec& spec() const override { return spec_; }
  Context observe(std::uint64_t seed, std::int64_t step) override;
  std::span<const double> expected_rewards() const override { return expected_; }
  double reward(std::int64_t arm) override;
  std::vector<Probe> probes() const override;

  /// Mean reward of every arm at (x, y) for the radius `delta`.
  static std::array<double, arms> mean_rewards(double x, double y, double delta);

 private:
  Options options_;
  BanditSpec spec_;
  std::uint64_t seed_ = 0;
  std::int64_t step_ = 0;
  std::array<float, 2> context_{};
  std::array<double, arms> expected_{};
};

}  // namespace stein::envs
