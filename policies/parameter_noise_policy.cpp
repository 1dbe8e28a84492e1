#include <stein/core/rng.h>
#include <stein/policies/parameter_noise_policy.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<ParameterNoisePolicy>(
    "parameter-noise", "one network, perturbed for every decision as far as it takes to explore",
    neural_defaults<ParameterNoisePolicy::Options>("optimizer"));

constexpr double adaptation = 1.01;

}  // namespace

ParameterNoisePolicy::ParameterNoisePolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : NeuralPolicy(checked(options), spec, seed, 1, options.particles),
      networks_(options.particles),
      noise_(options.initial_noise),
      target_change_(options.target_change),
      unperturbed_(1, posterior_->weight_layout().size()) {
  STEIN_CHECK(options.average_steps == 0,
              "option 'average_steps': averages of networks that are perturbed anew at every update would have next to "
              "nothing of their noise, expected 0, got {}",
              options.average_steps);
}

void ParameterNoisePolicy::make_networks(std::int64_t first, std::int64_t count, inference::MatrixView<float> weights) {
  const NoiseKey key{.seed = seed_, .step = static_cast<std::uint64_t>(updates_), .stream = Stream::perturbation};
  posterior_->effective_weights(particles_.coordinates(), key, unperturbed_.view());
  for (std::int64_t i = 0; i < count; ++i) {
    std::ranges::copy(unperturbed_.row(0), weights.row(i).begin());
    for (const inference::LayoutEntry& entry : posterior_->weight_layout().entries()) {
      if (!entry.is_weight()) continue;
      double square = 0;  // padding is 0
      for (const float w : unperturbed_.row(0).subspan(entry.offset, entry.extent())) square += double{w} * double{w};
      const auto deviation = static_cast<float>(noise_ * std::sqrt(square / static_cast<double>(entry.size())));
      normals_.resize(static_cast<std::size_t>(entry.columns()));
      for (std::int64_t row = 0; row < entry.rows(); ++row) {
        const std::int64_t place = entry.offset + row * entry.row_stride;
        fill_normal(std::span(normals_), key, static_cast<std::uint32_t>(first + i), static_cast<std::uint64_t>(place));
        for (std::size_t j = 0; j < normals_.size(); ++j) weights.row(i)[place + j] += deviation * normals_[j];
      }
    }
  }
}

double ParameterNoisePolicy::changed(const envs::Context& context) {
  const inference::MatrixView<const float> predictions = predict(context, 0, networks_);
  const inference::Inputs<float> inputs = inputs_.of_context(context);
  outputs_.resize(static_cast<std::size_t>(inputs.rows() * network_.outputs));
  posterior_->effective_weights(particles_.coordinates(), {}, unperturbed_.view());
  posterior_->model().predict({std::as_const(unperturbed_).view(), 0}, inputs,
                              {outputs_.data(), inputs.rows(), network_.outputs});
  const std::span<const std::int32_t> places = inputs_.places(context);
  const auto best = std::ranges::max_element(places, {}, [&](std::int32_t place) { return outputs_[place]; });
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < networks_; ++i) {
    const auto row = predictions.row(i);
    others += std::ranges::max_element(row) - row.begin() != best - places.begin() ? 1 : 0;
  }
  return static_cast<double>(others) / static_cast<double>(networks_);
}

void ParameterNoisePolicy::observe(const envs::Context& context, const Outcome& outcome) {
  NeuralPolicy::observe(context, outcome);
  noise_ *= changed(context) > target_change_ ? 1 / adaptation : adaptation;
  noise_ = std::clamp(noise_, 1e-6, 10.0);
  networks_moved();
}

Decision ParameterNoisePolicy::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  return decide_by({}, context, step, wanted);
}

std::vector<std::pair<std::string, double>> ParameterNoisePolicy::diagnostics() const {
  return {{"parameter_noise", noise_}};
}

void ParameterNoisePolicy::save(Snapshot& snapshot) const {
  NeuralPolicy::save(snapshot);
  snapshot.put("parameter_noise", noise_);
}

void ParameterNoisePolicy::restore(const Snapshot& snapshot) {
  NeuralPolicy::restore(snapshot);
  noise_ = snapshot.get_scalar<double>("parameter_noise");
}

}  // namespace stein::policies
