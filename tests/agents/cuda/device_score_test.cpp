// What policies and value networks climb on a device, against the same on the host: by the bodies of the kernels.
#include <stein/agents/control/policy_objective.h>
#include <stein/inference/targets/network_posterior.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "agents/cuda/fenced_rollouts.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::agents;
using inference::Device;
using inference::Matrix;

namespace {

constexpr std::int64_t particles = 3, rows = 300, seen = 5;  // three groups of rows whose slopes are added up

/// Rows of an update: the last of every particle fill up.
struct UpdateRows {
  std::vector<float> observations, actions, advantages, scale, log_density, targets;

  explicit UpdateRows(const policies::ActionScore& law) {
    Draws draws({.seed = 5, .stream = Stream::data}, 0);
    for (std::int64_t at = 0; at < particles * rows; ++at) {
      const bool counts = at % rows < rows - 20;
      for (std::int64_t k = 0; k < seen; ++k) observations.push_back(counts ? static_cast<float>(draws.normal()) : 0);
      for (std::int64_t a = 0; a < law.law.actions; ++a)
        actions.push_back(!counts               ? 0
                          : law.law.choices > 0 ? std::floor(static_cast<float>(draws.uniform() * 3))
                                                : static_cast<float>(draws.normal()));
      advantages.push_back(counts ? static_cast<float>(draws.normal()) : 0);
      targets.push_back(counts ? static_cast<float>(draws.normal()) : 0);
      scale.push_back(counts ? 1.0F / static_cast<float>(rows - 20) : 0);
      log_density.push_back(counts ? static_cast<float>(-1.5 + 0.5 * draws.normal()) : 0);
    }
  }
};

/// The gradient of the networks' weights by a score of their outputs, and the log ratios that it left.
struct Found {
  Matrix<float> gradient{};
  std::vector<float> log_ratio = std::vector<float>(particles * rows, 7.0F);
};

struct Case {
  std::unique_ptr<policies::ActionDistribution> distribution;
  double clip_ratio;
  double log_sd;  ///< what constants of the networks are
};

inference::MlpSpec network_of(std::int64_t outputs, std::int64_t constants) {
  return {.inputs = seen,
          .hidden = {9, 6},
          .outputs = outputs,
          .activation = inference::Activation::tanh,
          .constants = constants};
}

/// A posterior without a prior: its coordinates are laid out alike on the host and on a device.
std::unique_ptr<inference::Posterior<float>> posterior_on(Device device, const inference::MlpSpec& spec) {
  return inference::make_network_posterior({.flat_prior = true}, spec, device);
}

Matrix<float> coordinates_of(const inference::Layout& layout, double log_sd) {
  Matrix<float> coordinates(particles, layout.size());
  Draws draws({.seed = 6, .stream = Stream::initial_values}, 0);
  const auto* constants = layout.find("constants");
  for (std::int64_t i = 0; i < particles; ++i)
    for (std::int64_t q = 0; q < layout.size(); ++q)
      coordinates.view()(i, q) = constants != nullptr && q >= constants->offset
                                     ? static_cast<float>(log_sd)
                                     : static_cast<float>(0.4 * draws.normal());
  return coordinates;
}

/// Of the particles from `first` on: a score is told which of them it sees.
Matrix<float> gradient_of(inference::Posterior<float>& posterior, const Matrix<float>& coordinates,
                          const UpdateRows& update, const inference::OutputScore<float>& score, Device device,
                          std::int64_t first) {
  const Matrix<float> there = coordinates.to(device);
  Matrix<float> gradient(particles - first, coordinates.columns(), device);
  const inference::Batch<float> batch{
      .inputs = {.dense = inference::MatrixView<const float>(update.observations.data(), particles * rows, seen)
                              .block(first * rows, (particles - first) * rows)},
      .inputs_per_particle = particles - first > 1,
      .rows = rows,
      .data_size = 2.0 * rows,  // slopes are scaled by 2
      .score = &score,
      .first_particle = first};
  posterior.evaluate({there.view().block(first, particles - first), first}, batch, {}, {.gradient = gradient.view()});
  return gradient.to({});
}

void check_near(const Matrix<float>& found, const Matrix<float>& expected) {
  double largest = 0, difference = 0;
  for (std::int64_t i = 0; i < expected.rows(); ++i)
    for (std::int64_t q = 0; q < expected.columns(); ++q) {
      largest = std::max(largest, std::abs(double{expected.view()(i, q)}));
      difference = std::max(difference, std::abs(double{found.view()(i, q)} - double{expected.view()(i, q)}));
    }
  CHECK(largest > 0.01);
  CHECK(difference < 1e-5 * largest);
}

void check_policy(Device device, const Case& one) {
  const policies::ActionScore law{one.distribution->row_draw()};
  REQUIRE(law.outputs() == one.distribution->outputs());
  REQUIRE(law.constants() == one.distribution->constants());
  const UpdateRows update(law);
  const inference::MlpSpec spec = network_of(law.outputs(), law.constants());
  const auto here = posterior_on({}, spec), there = posterior_on(device, spec);
  const Matrix<float> coordinates = coordinates_of(here->layout(), one.log_sd);
  for (const std::int64_t first : {0, 1}) {
    const auto find = [&](inference::Posterior<float>& posterior, Device at) {
      PolicyObjective objective(*one.distribution, 0.03, one.clip_ratio, at);
      Found found;
      objective.set_rows({.rows = rows,
                          .actions = {update.actions.data(), particles * rows, law.law.actions},
                          .advantages = update.advantages,
                          .scale = update.scale,
                          .log_density = update.log_density,
                          .log_ratio = found.log_ratio});
      found.gradient = gradient_of(posterior, coordinates, update, objective, at, first);
      objective.wait();
      return found;
    };
    const Found on_device = find(*there, device), on_host = find(*here, {});
    check_near(on_device.gradient, on_host.gradient);
    if (one.clip_ratio == 0) continue;
    double difference = 0;  // of numbers that may be of hundreds
    for (auto at = static_cast<std::size_t>(first * rows); at < on_host.log_ratio.size(); ++at) {
      const double expected = on_host.log_ratio[at];
      difference =
          std::max(difference, std::abs(double{on_device.log_ratio[at]} - expected) / (1 + std::abs(expected)));
    }
    CHECK(difference < 1e-5);
  }
}

void check_scores(Device device) {
  for (const double clip_ratio : {0.0, 0.2}) {
    CAPTURE(clip_ratio);
    check_policy(device, {policies::make_categorical(3), clip_ratio, 0});
    check_policy(device, {policies::make_gaussian(2, policies::Deviation::state, 0.7), clip_ratio, 0});
    check_policy(device, {policies::make_gaussian(2, policies::Deviation::constant, 0.7), clip_ratio, -0.2});
  }
  const UpdateRows update({policies::make_categorical(3)->row_draw()});
  const inference::MlpSpec spec = network_of(1, 0);
  const auto here = posterior_on({}, spec), there = posterior_on(device, spec);
  const Matrix<float> coordinates = coordinates_of(here->layout(), 0);
  const auto find = [&](inference::Posterior<float>& posterior, Device at, std::int64_t first) {
    ValueObjective objective(at);
    objective.set_rows({.rows = rows, .targets = update.targets, .scale = update.scale});
    return gradient_of(posterior, coordinates, update, objective, at, first);
  };
  for (const std::int64_t first : {0, 1}) check_near(find(*there, device, first), find(*here, {}, first));
}

}  // namespace

TEST_CASE("scores of policies and value networks on a device are those of the host", "[agents][control][cuda]") {
  check_scores(test::fenced_rollouts());
}

TEST_CASE("scores of policies and value networks on a GPU are those of the host", "[agents][control][cuda][gpu]") {
  check_scores(test::gpu());
}

TEST_CASE("beyond a bound of the deviation only slopes that lead back count, on a device too",
          "[agents][control][cuda]") {
  const Device device = test::fenced_rollouts();
  const auto distribution = policies::make_gaussian(1, policies::Deviation::constant, 1);
  const policies::ActionScore law{distribution->row_draw()};
  const UpdateRows update(law);
  const inference::MlpSpec spec = network_of(1, 1);
  const auto posterior = posterior_on(device, spec);
  const auto place = posterior->layout().at("constants").offset;
  for (const auto& [log_sd, entropy_weight, expected] : {std::tuple{2.5, 1.0, 0.0}, std::tuple{2.5, -1.0, -2.0},
                                                         std::tuple{-5.5, -1.0, 0.0}, std::tuple{-5.5, 1.0, 2.0}}) {
    CAPTURE(log_sd, entropy_weight);
    PolicyObjective objective(*distribution, entropy_weight, 0, device);
    const std::vector<float> no_advantages(particles * rows, 0.0F);
    objective.set_rows({.rows = rows,
                        .actions = {update.actions.data(), particles * rows, 1},
                        .advantages = no_advantages,
                        .scale = update.scale});
    const Matrix<float> gradient =
        gradient_of(*posterior, coordinates_of(posterior->layout(), log_sd), update, objective, device, 0);
    for (std::int64_t i = 0; i < particles; ++i) CHECK(gradient.view()(i, place) == Approx(expected).margin(1e-6));
  }
}
