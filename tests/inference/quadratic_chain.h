// Chains of a sampler on a Gaussian target with known noise in the gradient: what the exact laws of discretised
// diffusions speak of.
#pragma once

#include <stein/inference/samplers/diffusion.h>

#include <string>

#include "inference/chain_statistics.h"

namespace stein::inference {

/// log p = −k x²/2 in every coordinate; the gradient carries noise of variance V.
template <class Scalar>
class Quadratic final : public Target<Scalar> {
 public:
  Quadratic(std::int64_t size, double curvature, double gradient_noise)
      : curvature_(static_cast<Scalar>(curvature)), deviation_(static_cast<Scalar>(std::sqrt(gradient_noise))) {
    layout_.add("position", {size}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>&, const NoiseKey& noise,
                const Evaluation<Scalar>& wanted) override {
    const auto gradient = wanted.gradient;
    const auto value = wanted.value;
    for (std::int64_t i = 0; i < gradient.rows; ++i) {
      const auto row = static_cast<std::uint32_t>(coordinates.first_row + i);
      if (deviation_ > 0)
        fill_normal(gradient.row(i), {noise.seed, noise.step, Stream::test}, row);
      else
        std::ranges::fill(gradient.row(i), Scalar{0});
      if (!value.empty()) value[i] = 0;
      for (std::int64_t q = 0; q < gradient.columns; ++q) {
        const Scalar x = coordinates.values(i, q);
        gradient(i, q) = deviation_ * gradient(i, q) - curvature_ * x;
        if (!value.empty()) value[i] -= curvature_ * x * x / 2;
      }
    }
  }

 private:
  Layout layout_;
  Scalar curvature_, deviation_;
};

/// A sampler with everything open that tests need, and a way to spoil its numbers.
template <class S>
class Opened : public S {
 public:
  using S::mutable_state;
  using S::S;

  bool metric_at_rest = false;  ///< averaged squares stay at 0
  DiffusionNumbers (*spoil)(DiffusionNumbers, double step_size) = nullptr;
  const auto& thermostats() const { return this->thermostats_; }

 protected:
  DiffusionNumbers numbers(std::int64_t t, double data_size) const override {
    DiffusionNumbers right = S::numbers(t, data_size);
    if (metric_at_rest) right.square_decay = 1;
    return spoil == nullptr ? right : spoil(right, this->schedule().step_size(t));
  }
};

struct ChainPlan {
  double curvature = 1;
  double gradient_noise = 0;
  std::int64_t chains = 64;
  std::int64_t size = 8;  ///< coordinates of a chain, all alike
  std::int64_t burn_in = 1000;
  std::int64_t steps = 5000;
  std::uint64_t seed = 1;
};

/// Moves chains on a Quadratic and calls see(particles, sampler) after every step past the burn-in.
template <class Scalar, class S, class See>
void run_chains(const ChainPlan& plan, S& sampler, const See& see) {
  Quadratic<Scalar> target(plan.size, plan.curvature, plan.gradient_noise);
  Particles<Scalar> particles(target.layout(), plan.chains);
  const Scalar input{};  // for samplers that hide some
  const Batch<Scalar> batch{.inputs = {.dense = {&input, 1, 1}}, .rows = 1, .data_size = 100};
  for (std::int64_t t = 0; t < plan.burn_in + plan.steps; ++t) {
    sampler.step(particles, target, batch);
    if (t >= plan.burn_in) see(particles, sampler);
  }
}

/// Mean over coordinates of a·b for chain i.
template <class Row>
double mean_product(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t q = 0; q < a.size(); ++q) sum += static_cast<double>(a[q]) * static_cast<double>(b[q]);
  return sum / static_cast<double>(a.size());
}

}  // namespace stein::inference
