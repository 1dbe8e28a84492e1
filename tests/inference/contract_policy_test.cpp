// A sketch that keeps the contract honest, not part of the library: a policy objective. Every particle rolls out its
// own episodes inside `evaluate`; there is a gradient and no value (Liu et al. 2017).
#include <stein/inference/target.h>

#include <catch2/catch.hpp>
#include <cmath>

using namespace stein;
using namespace stein::inference;

namespace {

/// Three arms, a softmax policy over the coordinates; ∇[J(θ)/α + log N(θ; 0, I)] by REINFORCE with the mean return as
/// baseline. One rollout is one pull.
class PolicyObjective final : public Target<double> {
 public:
  static constexpr double returns[3] = {1, 0.2, -0.5}, noise_deviation = 0.3;

  PolicyObjective(double temperature, int rollouts) : temperature_(temperature), rollouts_(rollouts) {
    layout_.add("logit", {3}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }
  bool has_value(const Batch<double>&) const override { return false; }

  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey& noise,
                const Evaluation<double>& wanted) override {
    const auto gradient = wanted.gradient;
    const auto value = wanted.value;
    STEIN_CHECK(value.empty(), "policy objective: it has a gradient and no value");
    for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
      const auto logits = coordinates.values.row(i);
      const std::vector<double> shares = probabilities(logits);
      Draws draws({noise.seed, noise.step, Stream::environment}, static_cast<std::uint32_t>(coordinates.first_row + i));
      for (int a = 0; a < 3; ++a) gradient(i, a) = -logits[a];
      for (int episode = 0; episode < rollouts_; ++episode) {
        const std::size_t action = draws.categorical(shares);
        const double reward = returns[action] + noise_deviation * draws.normal();
        for (std::size_t a = 0; a < 3; ++a)
          gradient(i, static_cast<std::int64_t>(a)) +=
              reward * ((a == action ? 1 : 0) - shares[a]) / (rollouts_ * temperature_);
      }
    }
  }

  static std::vector<double> probabilities(std::span<const double> logits) {
    std::vector<double> shares;
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    for (const double logit : logits) shares.push_back(std::exp(logit) / sum);
    return shares;
  }

 private:
  double temperature_;
  int rollouts_;
  Layout layout_;
};

}  // namespace

TEST_CASE("a policy objective that rolls out its own episodes gives the policy gradient and no value",
          "[inference][contract]") {
  // ∂J/∂θ_a = π_a (r_a − J) for a softmax policy on arms of mean reward r.
  constexpr std::int64_t rows = 20'000;
  const double logits[] = {0.3, -0.4, 0.9}, temperature = 0.5;
  PolicyObjective target(temperature, 4);
  CHECK(!target.has_value({}));
  Particles<double> particles(target.layout(), rows);
  for (std::int64_t i = 0; i < rows; ++i)
    for (int a = 0; a < 3; ++a) particles.values()(i, a) = logits[a];
  target.evaluate(particles.coordinates(), {}, {.seed = 8}, {.gradient = particles.gradients()});

  const std::vector<double> shares = PolicyObjective::probabilities(logits);
  double expected_return = 0;
  for (int a = 0; a < 3; ++a) expected_return += shares[a] * PolicyObjective::returns[a];
  for (int a = 0; a < 3; ++a) {
    const double law = shares[a] * (PolicyObjective::returns[a] - expected_return) / temperature - logits[a];
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      sum += particles.gradients()(i, a), squares += particles.gradients()(i, a) * particles.gradients()(i, a);
    const double mean = sum / rows, deviation = std::sqrt((squares / rows - mean * mean) / rows);
    CHECK(std::abs(mean - law) / deviation < 6.1);
    CHECK(deviation < 0.01);
  }

  // A row's rollouts depend on its global number alone.
  Particles<double> shard(target.layout(), 5, 100, rows);
  for (std::int64_t i = 0; i < 5; ++i)
    for (int a = 0; a < 3; ++a) shard.values()(i, a) = logits[a];
  target.evaluate(shard.coordinates(), {}, {.seed = 8}, {.gradient = shard.gradients()});
  for (std::int64_t i = 0; i < 5; ++i)
    for (int a = 0; a < 3; ++a) CHECK(shard.gradients()(i, a) == particles.gradients()(100 + i, a));
  std::vector<double> value(5);
  CHECK_THROWS_WITH(target.evaluate(shard.coordinates(), {}, {}, {.gradient = shard.gradients(), .value = value}),
                    "policy objective: it has a gradient and no value");
}
