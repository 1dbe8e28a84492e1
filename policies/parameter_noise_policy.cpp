#include <stein/core/rng.h>
#include <stein/inference/parameterizations/mean_field_pass.h>
#include <stein/inference/storage/copy_rows.h>
#include <stein/policies/parameter_noise_policy.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

using inference::MatrixView;

const bool registered = register_bandit_policy<ParameterNoisePolicy>(
    "parameter-noise", "one network, perturbed for every decision as far as it takes to explore",
    plain_network_defaults<ParameterNoisePolicy::Options>("optimizer"));

constexpr double adaptation = 1.01;

}  // namespace

ParameterNoisePolicy::ParameterNoisePolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                                           inference::Device device)
    : NeuralPolicy(checked(options), spec, seed, 1, options.particles, device),
      networks_(options.particles),
      noise_(options.initial_noise),
      target_change_(options.target_change),
      driver_(inference::driver<float>(particles_.ensemble(seed, options.posterior.arithmetic))),
      weight_driver_(inference::weight_driver<float>(device)) {
  STEIN_CHECK(options.average_steps == 0,
              "option 'average_steps': averages of networks that are perturbed anew at every update would have next to "
              "nothing of their noise, expected 0, got {}",
              options.average_steps);
}

MatrixView<const float> ParameterNoisePolicy::unperturbed() {
  return posterior_->weights_of(particles_.coordinates(), {}, unperturbed_);
}

void ParameterNoisePolicy::make_networks(std::int64_t first, std::int64_t count, MatrixView<float> weights) {
  const NoiseKey key{.seed = seed_, .step = static_cast<std::uint64_t>(updates_), .stream = Stream::perturbation};
  const MatrixView<const float> middle = unperturbed();
  for (std::int64_t i = 0; i < count; ++i) inference::copy_rows(middle, weights.block(i, 1), device());
  std::uint64_t place = 0;
  for (const inference::LayoutEntry& entry : posterior_->weight_layout().entries()) {
    const std::int64_t size = entry.size();
    if (entry.is_weight()) {
      const double square =
          driver_.sum_of_squares(middle.row(0).subspan(entry.offset, entry.extent()));  // padding is 0
      const auto deviation = static_cast<float>(noise_ * std::sqrt(square / static_cast<double>(size)));
      for (std::int64_t i = 0; i < count; ++i)
        weight_driver_.add_noise({key, static_cast<std::uint32_t>(first + i), place}, deviation, entry.columns(),
                                 entry.row_stride, weights.row(i).subspan(entry.offset, entry.extent()));
    }
    place += static_cast<std::uint64_t>(size);
  }
}

double ParameterNoisePolicy::changed(const envs::Context& context) {
  const MatrixView<const float> predictions = predict(context, 0, networks_);
  const inference::Inputs<float> inputs = inputs_.of_context(context);
  outputs_.resize(static_cast<std::size_t>(inputs.rows() * network_.outputs));
  posterior_->model().predict({unperturbed(), 0}, inputs, {outputs_.data(), inputs.rows(), network_.outputs});
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
