// Posteriors of networks that are put together from options.
#include <stein/inference/targets/network_posterior.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

namespace stein::inference {
namespace {

constexpr MlpSpec noisy_network() {
  MlpSpec spec;
  spec.inputs = 3, spec.outputs = 1, spec.learn_noise_precision = true;
  return spec;
}

double log_normal(double x, double deviation) {
  return -0.5 * std::log(2 * std::acos(-1.0)) - std::log(deviation) - 0.5 * x * x / (deviation * deviation);
}

/// log density of all coordinates that are no weights: what is left of the prior.
double without_weights(Posterior<float>& posterior, const Particles<float>& particles,
                       const std::function<double(double)>& law) {
  std::vector<double> value(1);
  posterior.evaluate_prior(particles.coordinates(), {}, value);
  for (const LayoutEntry& entry : particles.layout().entries())
    for (std::int64_t q = entry.offset; entry.is_weight() && q < entry.offset + entry.size(); ++q)
      value[0] -= law(static_cast<double>(particles.values()(0, q)));
  return value[0];
}

NetworkPosteriorOptions in_mixture() {
  NetworkPosteriorOptions options;
  options.sampled_law = PriorLaw::scale_mixture;
  options.mixture = {.wide_share = 0.4, .log_wide_deviation = 0.3, .log_narrow_deviation = -2};  // not the defaults
  return options;
}

TEST_CASE("sampled weights under a mixture of Gaussians have its density, and the noise keeps its own law",
          "[inference][network_posterior]") {
  MlpSpec spec = noisy_network();
  spec.hidden = {4};
  const NetworkPosteriorOptions options = in_mixture();
  const auto mixed = make_network_posterior(options, spec), gaussian = make_network_posterior({}, spec);
  Particles<float> particles = mixed->initial_particles(1, /*seed=*/3, /*spread=*/1);
  REQUIRE(particles.layout().size() == gaussian->layout().size());
  for (std::int64_t q = 0; q < particles.layout().size(); q += 3) particles.values()(0, q) *= 0.01F;
  const double wide = std::exp(options.mixture.log_wide_deviation),
               narrow = std::exp(options.mixture.log_narrow_deviation), share = options.mixture.wide_share;
  const double left = without_weights(*mixed, particles, [&](double w) {
    return std::log(share * std::exp(log_normal(w, wide)) + (1 - share) * std::exp(log_normal(w, narrow)));
  });
  CHECK(left == Approx(without_weights(*gaussian, particles, [](double w) { return log_normal(w, 1); })).margin(2e-3));
}

TEST_CASE("a mixture of Gaussians is refused where it has no meaning", "[inference][network_posterior]") {
  NetworkPosteriorOptions learned = in_mixture();
  learned.prior.learn_weight_precision = true;
  CHECK_ERROR(make_network_posterior(learned, noisy_network()), usage, "got prior=scale_mixture");
  NetworkPosteriorOptions structured = in_mixture();
  structured.parameterization = WeightForm::matrix_gaussian;
  CHECK_ERROR(make_network_posterior(structured, noisy_network()), usage, "prior=scale_mixture is of plain weights");
}

}  // namespace
}  // namespace stein::inference
