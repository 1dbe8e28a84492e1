// The hierarchical Gaussian prior against its formula and finite differences, in double.
#include <stein/core/rng.h>
#include <stein/inference/priors/gaussian_prior.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

Layout structured_layout() {
  Layout layout;
  layout.add("layer0.weight", {3, 2}, Role::weight, 0);
  layout.add("layer0.log_scale_left", {3}, Role::log_scale, 0);
  layout.add("layer0.reflectors_left", {2, 3}, Role::reflector_left, 0);
  layout.add("layer0.reflectors_right", {2, 2}, Role::reflector_right, 0);
  layout.add("layer0.bias", {2}, Role::bias, 0);
  layout.add("layer1.weight", {2, 1}, Role::weight, 1);
  layout.add("layer1.gain", {3}, Role::gain, 1);
  layout.add("log_noise_precision", {1}, Role::log_precision, 2);
  return layout;
}

double log_normal(double x, double precision) {
  return 0.5 * std::log(precision / (2 * std::numbers::pi)) - 0.5 * precision * x * x;
}

}  // namespace

TEST_CASE("the log density counts every variable with its own precision, Jacobians included", "[inference][prior]") {
  const GaussianPriorOptions options{.learn_weight_precision = true,
                                     .learn_reflector_precision = true,
                                     .scale_deviation = 2,
                                     .gamma = {.gamma_shape = 1.5, .gamma_rate = 0.3}};
  Layout layout = structured_layout();
  GaussianPrior<double> prior(options, layout);
  prior.extend(layout);
  std::vector<double> row(static_cast<std::size_t>(layout.size()));
  fill_normal(std::span<double>(row), {.seed = 4}, 0);
  std::vector<double> gradient(row.size()), value(1);
  const MatrixView<const double> values{row.data(), 1, layout.size()};
  prior.add_log_density({values}, {.gradient = {gradient.data(), 1, layout.size()}, .value = value});

  const auto at = [&](const char* name) { return row[layout.at(name).offset]; };
  double expected = 0;
  const auto add = [&](const char* name, double precision) {
    const LayoutEntry& entry = layout.at(name);
    for (std::int64_t q = entry.offset; q < entry.offset + entry.size(); ++q)
      expected += log_normal(row[q] - entry.centre(), precision);
  };
  for (const char* name : {"layer0.weight", "layer0.bias", "layer1.weight", "layer1.gain"})
    add(name, std::exp(at("log_weight_precision")));
  add("layer0.reflectors_left", std::exp(at("log_reflector_precision_left")));
  add("layer0.reflectors_right", std::exp(at("log_reflector_precision_right")));
  add("layer0.log_scale_left", 0.25);
  for (const char* name : {"log_weight_precision", "log_reflector_precision_left", "log_reflector_precision_right",
                           "log_noise_precision"}) {
    const double t = at(name);  // Gamma(a, b) of e^t times the Jacobian e^t
    expected += 1.5 * std::log(0.3) - std::lgamma(1.5) + 1.5 * t - 0.3 * std::exp(t);
  }
  CHECK(value[0] == Approx(expected).epsilon(1e-12));

  for (std::int64_t q = 0; q < layout.size(); ++q) {
    const auto value_at = [&](double shift) {
      std::vector<double> moved = row, ignored(row.size()), result(1);
      moved[q] += shift;
      prior.add_log_density({{moved.data(), 1, layout.size()}},
                            {.gradient = {ignored.data(), 1, layout.size()}, .value = result});
      return result[0];
    };
    CHECK(gradient[q] == Approx((value_at(1e-5) - value_at(-1e-5)) / 2e-5).epsilon(1e-6).margin(1e-7));
  }
}

TEST_CASE("precisions are one for the network, or one a layer", "[inference][prior]") {
  Layout layout = structured_layout();
  GaussianPrior<double> prior({.weight_precision = 5, .learn_weight_precision = true, .precision_per_layer = true},
                              layout);
  prior.extend(layout);
  REQUIRE(layout.find("log_weight_precision0"));
  REQUIRE(layout.find("log_weight_precision1"));
  std::vector<double> row(static_cast<std::size_t>(layout.size()));
  prior.initialise(row);
  CHECK(row[layout.at("log_weight_precision1").offset] == Approx(std::log(5)));
}

TEST_CASE("float and double agree", "[inference][prior][parity]") {
  Layout layout = structured_layout();
  const GaussianPriorOptions options{.learn_weight_precision = true};
  GaussianPrior<double> wide(options, layout);
  GaussianPrior<float> narrow(options, layout);
  Layout same = layout;
  wide.extend(layout), narrow.extend(same);
  const auto size = static_cast<std::size_t>(layout.size());
  std::vector<double> x(size), g(size), v(1), vf(1);
  std::vector<float> xf(size), gf(size);
  fill_normal(std::span<float>(xf), {.seed = 5}, 0);
  std::copy(xf.begin(), xf.end(), x.begin());
  wide.add_log_density({{x.data(), 1, layout.size()}}, {.gradient = {g.data(), 1, layout.size()}, .value = v});
  narrow.add_log_density({{xf.data(), 1, layout.size()}}, {.gradient = {gf.data(), 1, layout.size()}, .value = vf});
  for (std::size_t q = 0; q < size; ++q) CHECK(gf[q] == Approx(g[q]).epsilon(1e-5).margin(1e-6));
  CHECK(vf[0] == Approx(v[0]).epsilon(1e-5));
}

TEST_CASE("precisions lie where the layout puts them, whoever has extended it before", "[inference][prior]") {
  Layout layout;
  layout.add("layer0.weight", {3}, Role::weight);
  layout.add("first_log_precision", {1}, Role::log_precision);
  layout.add("second_log_precision", {1}, Role::log_precision);
  GaussianPrior<double> prior({.learn_weight_precision = true}, layout);
  const std::vector<double> x{1, 2, 3, 0.2, -0.3, 9, 0.5};
  std::vector<double> gradient(7);
  CHECK_ERROR(prior.add_log_density({{x.data(), 1, 7}}, {.gradient = {gradient.data(), 1, 7}}), usage,
              "'log_weight_precision' is no coordinate yet");
  layout.add("somebody_else", {1}, Role::rate);
  prior.extend(layout);
  prior.add_log_density({{x.data(), 1, 7}}, {.gradient = {gradient.data(), 1, 7}});
  const double precision = std::exp(0.5);
  for (std::size_t q = 0; q < 3; ++q) CHECK(gradient[q] == Approx(-precision * x[q]));
  CHECK(gradient[3] == Approx(log_gamma_prior(GammaPriorOptions{}, 0.2).slope));
  CHECK(gradient[4] == Approx(log_gamma_prior(GammaPriorOptions{}, -0.3).slope));
  CHECK(gradient[5] == 0);
  CHECK(gradient[6] == Approx(1.5 - precision * 14 / 2 + log_gamma_prior(GammaPriorOptions{}, 0.5).slope));
  CHECK_ERROR(GaussianPrior<double>({.precision_per_layer = true}, layout), usage, "needs learn_weight_precision");
}

TEST_CASE("a gradient alone is the one beside its value, also where precisions are learned", "[inference][prior]") {
  for (const bool with_gains : {false, true}) {
    CAPTURE(with_gains);
    Layout layout = structured_layout();
    GaussianPrior<float> prior({.learn_weight_precision = true, .learn_reflector_precision = true}, layout,
                               with_gains ? std::vector<std::string>{} : std::vector<std::string>{"layer1.gain"});
    prior.extend(layout);
    Matrix<float> values(3, layout.size()), both(3, layout.size());
    for (std::int64_t i = 0; i < 3; ++i) {
      fill_normal(values.row(i), {.seed = 6}, static_cast<std::uint32_t>(i));
      fill_normal(both.row(i), {.seed = 7}, static_cast<std::uint32_t>(i));
    }
    Matrix<float> alone = both;
    std::vector<double> value(3);
    prior.add_log_density({values.view()}, {.gradient = both.view(), .value = value});
    prior.add_log_density({values.view()}, {.gradient = alone.view()});
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t q = 0; q < layout.size(); ++q) CHECK(alone.row(i)[q] == both.row(i)[q]);
  }
}

TEST_CASE("a gradient alone is the one beside its value, row by row", "[inference][prior]") {
  Layout layout;
  layout.add("layer0.weight", {3, 2}, Role::weight, 0);
  layout.add("layer0.log_scale_left", {3}, Role::log_scale, 0);
  layout.add("layer0.bias", {2}, Role::bias, 0);
  layout.add("layer1.rate", {1}, Role::rate, 1);
  layout.add("layer1.weight", {2, 1}, Role::weight, 1);
  GaussianPriorOptions options{.weight_precision = 2, .scale_deviation = 0.5};
  options.precisions["layer0.bias"] = 7;
  const GaussianPrior<float> prior(options, layout);
  Particles<float> particles(layout, 3);
  draw_from_prior(options, particles, {.seed = 2});
  Matrix<float> both(3, layout.size()), alone(3, layout.size());
  both.fill(0.25F), alone.fill(0.25F);
  std::vector<double> value(3);
  prior.add_log_density(particles.coordinates(), {.gradient = both.view(), .value = value});
  prior.add_log_density(particles.coordinates(), {.gradient = alone.view()});
  for (std::int64_t i = 0; i < 3; ++i)
    for (const LayoutEntry& entry : layout.entries()) {
      const float precision = entry.role == Role::rate        ? 0
                              : entry.role == Role::log_scale ? 4
                              : entry.name == "layer0.bias"   ? 7
                                                              : 2;
      for (std::int64_t q = entry.offset; q < entry.offset + entry.size(); ++q) {
        CHECK(alone.row(i)[q] == both.row(i)[q]);
        CHECK(alone.row(i)[q] == Approx(0.25F - precision * particles.values()(i, q)).margin(1e-6));
      }
    }
}
