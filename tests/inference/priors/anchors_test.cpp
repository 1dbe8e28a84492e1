// Anchors beside a Gaussian prior, against the density that they make.
#include <stein/core/rng.h>
#include <stein/inference/priors/anchors.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

TEST_CASE("a prior with anchors is the Gaussian around them, in value and gradient", "[inference][prior]") {
  Layout layout;
  layout.add("layer0.weight", {3, 2}, Role::weight, 0);
  layout.add("layer0.log_scale_left", {3}, Role::log_scale, 0);
  layout.add("layer0.bias", {2}, Role::bias, 0);
  layout.add("layer0.gain", {2}, Role::gain, 0);
  GaussianPriorOptions options{.weight_precision = 2, .scale_deviation = 0.5};
  options.precisions["layer0.bias"] = 7;
  GaussianPrior<double> prior(options, layout);
  Particles<double> anchors(layout, 2, 3, 6), particles(layout, 2, 3, 6);
  draw_from_prior(options, anchors, {.seed = 1});
  draw_from_prior(options, particles, {.seed = 2});
  const Anchors<double> moved(options, anchors);

  const std::int64_t size = layout.size();
  std::vector<double> gradient(static_cast<std::size_t>(2 * size)), value(2);
  const Evaluation<double> wanted{.gradient = {gradient.data(), 2, size}, .value = value};
  const ParticleRows<const double> rows = particles.coordinates();
  prior.add_log_density(rows, wanted);
  moved.add_log_density(rows, wanted);
  for (std::int64_t i = 0; i < 2; ++i) {
    double expected = 0;
    for (const LayoutEntry& entry : layout.entries()) {
      const double precision = entry.role == Role::log_scale ? 4 : entry.name == "layer0.bias" ? 7 : 2;
      for (std::int64_t q = entry.offset; q < entry.offset + entry.size(); ++q) {
        const double off = particles.values()(i, q) - anchors.values()(i, q);
        expected += 0.5 * std::log(precision / (2 * std::numbers::pi)) - 0.5 * precision * off * off;
        CHECK(gradient[i * size + q] == Approx(-precision * off).margin(1e-12));
      }
    }
    CHECK(value[i] == Approx(expected).epsilon(1e-12));
  }

  // The second row alone has its own anchor, also of anchors that were restored.
  Particles<double> others(layout, 2, 3, 6);
  draw_from_prior(options, others, {.seed = 3});
  Anchors<double> restored(options, others);
  Snapshot state;
  moved.save(state);
  restored.restore(state);
  for (const Anchors<double>* each : {&moved, static_cast<const Anchors<double>*>(&restored)}) {
    std::vector<double> alone(static_cast<std::size_t>(size)), its_value(1);
    const Evaluation<double> of_one{.gradient = {alone.data(), 1, size}, .value = its_value};
    prior.add_log_density(rows.block(1, 1), of_one);
    each->add_log_density(rows.block(1, 1), of_one);
    CHECK(std::equal(alone.begin(), alone.end(), gradient.begin() + size));
    CHECK(its_value[0] == value[1]);
  }
}

TEST_CASE("a draw from the prior has its precisions, its centres, and depends on the global row alone",
          "[inference][prior]") {
  Layout layout;
  layout.add("layer0.weight", {40, 50}, Role::weight, 0);
  layout.add("layer0.gain", {2000}, Role::gain, 0);
  layout.add("log_weight_precision", {1}, Role::log_precision, 0);
  GaussianPriorOptions options{.weight_precision = 4};
  options.precisions["layer0.gain"] = 25;
  Particles<float> all(layout, 3), last(layout, 1, 2, 3);
  all.values()(1, 4000) = 9;
  draw_from_prior(options, all, {.seed = 5});
  draw_from_prior(options, last, {.seed = 5});
  CHECK(std::ranges::equal(all.values().row(2), last.values().row(0)));
  CHECK(all.values()(1, 4000) == 9);
  double square = 0, sum = 0, gain_square = 0;
  for (std::int64_t q = 0; q < 2000; ++q) {
    square += std::pow(double{all.values()(0, q)}, 2) / 2000;
    sum += double{all.values()(0, 2000 + q)} / 2000;
    gain_square += std::pow(double{all.values()(0, 2000 + q)} - 1, 2) / 2000;
  }
  CHECK(square == Approx(0.25).epsilon(6 * std::sqrt(2.0 / 2000)));
  CHECK(gain_square == Approx(0.04).epsilon(6 * std::sqrt(2.0 / 2000)));
  CHECK(std::abs(sum - 1) < 6 * 0.2 / std::sqrt(2000.0));
}

TEST_CASE("anchors refuse a prior whose precision is learned", "[inference][prior]") {
  Layout layout;
  layout.add("layer0.weight", {3, 2}, Role::weight, 0);
  CHECK_ERROR(Anchors<double>({.learn_weight_precision = true}, Particles<double>(layout, 1)), usage, "anchors",
              "learned");
}
