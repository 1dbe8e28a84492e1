#include <stein/core/rng.h>
#include <stein/policies/gradient_policy.h>
#include <stein/policies/largest_bound.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein::policies {
namespace {

const bool registered =
    register_bandit_policy<NeuralUcb>("neural-ucb", "one network and upper bounds from the gradients of its outputs",
                                      plain_network_defaults<NeuralUcb::Options>("optimizer")) &&
    register_bandit_policy<NeuralTs>("neural-ts", "one network and Thompson sampling from the gradients of its outputs",
                                     plain_network_defaults<NeuralTs::Options>("optimizer"));

}  // namespace

GradientPolicy::GradientPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                               inference::Device device)
    : NeuralPolicy(checked(options), spec, seed, 1, 1, device),
      exploration_(options.exploration),
      variance_(posterior_->weight_layout(), options.gradient_precision,
                options.hidden.empty() ? 1 : options.hidden.back(), device) {
  STEIN_CHECK(options.likelihood == inference::Likelihood::gaussian,
              "option 'likelihood': bounds on the reward itself need gaussian, got bernoulli");
  STEIN_CHECK(options.average_steps == 0,
              "option 'average_steps': gradients are those of the network that learns, not of its averages; expected "
              "0, got {}",
              options.average_steps);
}

std::span<const StudentT> GradientPolicy::rewards(const envs::Context& context) {
  const inference::MatrixView<const float> predictions = predict(context, 0, 1);
  const inference::Inputs<float> inputs = inputs_.of_context(context);
  const std::span<const std::int32_t> places = inputs_.places(context);
  const inference::MatrixView<const float> weights = network_weights();
  rewards_.resize(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::int64_t row = places[k] / network_.outputs, output = places[k] % network_.outputs;
    const double variance = variance_.of(posterior_->model(), weights, inputs, row, output);
    rewards_[k] = {.degrees = std::numeric_limits<double>::infinity(),
                   .location = predictions(0, static_cast<std::int64_t>(k)),
                   .scale = exploration_ * std::sqrt(variance)};
  }
  return rewards_;
}

void GradientPolicy::observe(const envs::Context& context, const Outcome& outcome) {
  NeuralPolicy::observe(context, outcome);
  const std::int64_t place = inputs_.places(context)[static_cast<std::size_t>(context.place_of(outcome.action, spec_))];
  variance_.of(posterior_->model(), network_weights(), inputs_.of_context(context), place / network_.outputs,
               place % network_.outputs);
  variance_.observe(outcome.weight);
}

std::vector<std::vector<double>> GradientPolicy::posterior_rewards(const envs::Context& context) {
  const double unit = 1 / double{reward_scale()};
  auto samples = draw_samples(rewards(context), reported_samples, seed_);
  for (auto& sample : samples)
    for (double& value : sample) value *= unit;
  return samples;
}

void GradientPolicy::save(Snapshot& snapshot) const {
  NeuralPolicy::save(snapshot);
  snapshot.put_saved("gradient_variance", variance_);
}

void GradientPolicy::restore(const Snapshot& snapshot) {
  NeuralPolicy::restore(snapshot);
  variance_.restore(snapshot.part("gradient_variance"));
}

Decision NeuralUcb::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  bounds_.clear();
  for (const StudentT& reward : rewards(context)) bounds_.push_back(reward.location + reward.scale);
  return choose_largest(context, bounds_, {seed_, static_cast<std::uint64_t>(step), Stream::decision}, wanted,
                        propensities_);
}

Decision NeuralTs::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  const std::span<const StudentT> variables = rewards(context);
  const NoiseKey key{seed_, static_cast<std::uint64_t>(step), Stream::decision};
  draws_.resize(variables.size());
  for (std::size_t k = 0; k < variables.size(); ++k) {
    Draws draws(key, static_cast<std::uint32_t>(context.arm(static_cast<std::int64_t>(k))));
    draws_[k] = variables[k].location + variables[k].scale * draws.normal();
  }
  const bool certain = std::ranges::all_of(variables, [](const StudentT& reward) { return reward.scale == 0; });
  if (certain) return choose_largest(context, draws_, key, wanted, propensities_);
  propensities_.assign(wanted == Propensities::exact ? variables.size() : 0, 0);
  if (!propensities_.empty()) largest_probabilities(variables, propensities_, quadrature_);
  return {.action = context.arm(std::ranges::max_element(draws_) - draws_.begin()), .propensities = propensities_};
}

}  // namespace stein::policies
