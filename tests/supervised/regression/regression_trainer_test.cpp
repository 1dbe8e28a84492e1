// Training of regressions: units, what the noise is learned to be, samples, curves, resumption.
#include <stein/core/checkpoint.h>
#include <stein/core/safetensors.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/supervised/regression/regression_trainer.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "training/method_with.h"

namespace stein::supervised {
namespace {

using test::method_with;
using test::Settings;

constexpr double slope = 30, intercept = 500, noise = 3;

/// y = 500 + 30 x + 3 ξ for x ~ N(0, 1).
RegressionRows line_rows(std::int64_t count, std::uint64_t seed) {
  Draws draws({.seed = seed, .stream = Stream::test}, 0);
  RegressionRows rows{.inputs = {count, 1}};
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = draws.normal();
    rows.inputs.row(i)[0] = static_cast<float>(x);
    rows.targets.push_back(intercept + slope * x + noise * draws.normal());
  }
  return rows;
}

struct Case {
  std::string method = "adam";
  Settings settings{};
  training::EpochOptions options{.batch_size = 20, .epochs = 60, .burn_in = 0.5, .samples_per_epoch = 1, .draws = 20};
  std::int64_t validation = 40;

  std::unique_ptr<RegressionTrainer> make(std::uint64_t seed = 1) const {
    RegressionParts parts{
        .train = line_rows(200, 1), .validation = line_rows(validation, 2), .test = line_rows(300, 3)};
    parts.scale = Scale::of(parts.train.targets, all_rows(200));
    parts.line.inputs = inference::Matrix<float>(5, 1);
    inference::MlpSpec spec{.inputs = 1, .hidden = {}, .outputs = 1, .learn_noise_precision = true};
    return std::make_unique<RegressionTrainer>(std::move(parts), options, method_with(method, settings),
                                               std::make_unique<inference::ParticleMlp>(spec), seed);
  }
};

void train(RegressionTrainer& trainer, runs::Records& records, std::int64_t until = 1'000'000'000) {
  while (!trainer.ended() && trainer.steps_done() < until) trainer.advance(until, {}, records);
}

TEST_CASE("a line is learned with its noise, and scores are in the targets' own units", "[supervised][regression]") {
  const auto trainer = Case{.settings = {{"step_size", "0.02"}}}.make();
  runs::Records records(false);
  train(*trainer, records);
  const RegressionResult result = trainer->test_result();
  CHECK(result.rows == 300);
  CHECK(result.samples == 1);
  // 300 test rows: the relative sd of the RMSE is 1/√600; the weights' own error adds about 1/200.
  CHECK(result.averaged.rmse == Approx(noise).epsilon(0.2));
  // −½ log 2πe σ² for a Gaussian that is known.
  CHECK(result.averaged.log_likelihood == Approx(-0.5 * std::log(2 * M_PI * M_E * noise * noise)).margin(0.2));
  CHECK(result.averaged.interval_width == Approx(2 * 1.645 * noise).epsilon(0.2));
  CHECK(result.averaged.coverage == Approx(0.9).margin(6 * std::sqrt(0.09 / 300)));
  REQUIRE(result.chosen.has_value());
  CHECK(result.chosen->rmse == Approx(noise).epsilon(0.3));
}

TEST_CASE("every kind of method learns the line", "[supervised][regression]") {
  const std::vector<std::pair<std::string, Settings>> methods{{"psgld", {{"step_size", "0.003"}}},
                                                              {"sghmc", {{"step_size", "3e-6"}}},
                                                              {"svgd", {{"step_size", "0.02"}}},
                                                              {"s2vgd", {{"step_size", "0.02"}}},
                                                              {"bbb", {{"step_size", "0.02"}}}};
  for (const auto& [method, settings] : methods) {
    INFO(method);
    const auto trainer = Case{.method = method, .settings = settings}.make();
    runs::Records records(false);
    train(*trainer, records);
    const RegressionResult result = trainer->test_result();
    CHECK(result.averaged.rmse < 2 * noise);
    CHECK(result.averaged.log_likelihood >= result.single.log_likelihood);
    CHECK(result.curves.forward.size() == (result.samples > 1 ? static_cast<std::size_t>(result.samples) : 0));
  }
}

TEST_CASE("a chain's samples come behind the burn-in, one an epoch", "[supervised][regression]") {
  const auto trainer = Case{.method = "psgld"}.make();
  runs::Records records(false);
  train(*trainer, records);
  CHECK(trainer->test_samples().samples() == 30);
  CHECK(trainer->line_samples().samples() == 30);
}

TEST_CASE("a training that was stopped goes on with the same bits", "[supervised][regression]") {
  for (const char* const method : {"psgld", "svgd", "adam"}) {
    INFO(method);
    const Case subject{.method = method};
    const auto whole = subject.make(), half = subject.make(), resumed = subject.make();
    runs::Records records(false);
    train(*whole, records);
    train(*half, records, 7'000);
    Snapshot snapshot;
    half->save(snapshot);
    resumed->restore(snapshot);
    train(*resumed, records);
    CHECK(whole->test_result().averaged.log_likelihood == resumed->test_result().averaged.log_likelihood);
    CHECK(whole->test_result().averaged.rmse == resumed->test_result().averaged.rmse);
  }
}

TEST_CASE("an outcome that was found where a training concluded is in its state until it is forgotten",
          "[supervised][regression]") {
  for (const char* const method : {"psgld", "svgd", "bbb"}) {
    INFO(method);
    const Case subject{.method = method};
    const auto trainer = subject.make(), other = subject.make();
    runs::Records records(false);
    train(*trainer, records);
    const auto state_of = [](const RegressionTrainer& each) {
      Snapshot state;
      each.save(state);
      return state;
    };
    const auto numbers_of = [&](RegressionTrainer& each) {
      Snapshot numbers;
      each.outcome().save(numbers);
      return encode_safetensors(numbers);
    };
    const std::size_t before = state_of(*trainer).arrays().size();
    const RegressionOutcome outcome = trainer->outcome();
    REQUIRE(outcome.validation->chosen.has_value());
    REQUIRE(outcome.predicted.size() == 300);
    REQUIRE(outcome.probabilities.size() == 300);
    REQUIRE(outcome.line.size() == 5);
    const std::string expected = numbers_of(*trainer);
    trainer->conclude({});
    other->restore(state_of(*trainer));
    for (float& weight : other->weights().particles().values().row(0)) weight += 1;  // it looks at them no more
    CHECK((numbers_of(*other) == expected));
    other->forget_outcome();
    CHECK((numbers_of(*other) != expected));
    CHECK(state_of(*other).arrays().size() == before);
  }
}

TEST_CASE("a sparse chain learns the line with the noise that its prior follows", "[supervised][regression]") {
  // At the end the curvature is 200 rows over a noise variance of 0.01, 20,000: steps are well below 2/20,000.
  for (const auto& [method, step] : {std::pair("sgld-sa", "2e-5"), std::pair("sghmc-sa", "2e-6")}) {
    INFO(method);
    Case subject{.method = method, .settings = {{"step_size", step}, {"likelihood", "regression"}}};
    subject.options.epochs = 200;
    const auto trainer = subject.make();
    runs::Records records(false);
    train(*trainer, records);
    const RegressionResult result = trainer->test_result();
    CHECK(result.averaged.rmse < 2 * noise);
    CHECK(result.averaged.interval_width == Approx(2 * 1.645 * noise).epsilon(0.2));
  }
}

TEST_CASE("pruned weights are zero, stay so under momentum, and are as many as was asked for",
          "[supervised][regression]") {
  RegressionParts parts{.train = line_rows(200, 1), .validation = {}, .test = line_rows(30, 3)};
  parts.scale = Scale::of(parts.train.targets, all_rows(200));
  RegressionTrainer trainer(std::move(parts), {.batch_size = 20, .epochs = 60},
                            method_with("sghmc-sa", {{"step_size", "1e-5"},
                                                     {"likelihood", "regression"},
                                                     {"pruning.final_share", "0.5"},
                                                     {"pruning.decay_steps", "1"}}),
                            std::make_unique<inference::ParticleMlp>(
                                inference::MlpSpec{.inputs = 1, .hidden = {30}, .learn_noise_precision = true}),
                            1);
  runs::Records records(false);
  const auto zeros = [&] {
    std::vector<std::size_t> found;
    for (const inference::LayoutEntry& entry : trainer.weights().particles().layout().entries())
      for (std::int64_t i = 0; entry.role == inference::Role::weight && i < entry.size(); ++i)
        if (trainer.weights().particles().values()(0, entry.offset + i) == 0)
          found.push_back(static_cast<std::size_t>(entry.offset + i));
    return found;
  };
  std::vector<std::size_t> before;
  for (std::int64_t rows = 200; rows <= 12'000; rows += 200) {
    train(trainer, records, rows);
    const std::vector<std::size_t> now = zeros();
    CHECK(std::ranges::includes(now, before));
    before = now;
  }
  // After step k, ⌊S (1 − 0.99^(k − 1)) p⌋ of p = 60 are pruned; k = 600.
  CHECK(before.size() == static_cast<std::size_t>(std::floor(0.5 * (1 - std::pow(0.99, 599)) * 60)));
}

TEST_CASE("what the test rows hold moves no weight", "[supervised][regression]") {
  const auto trained = [](std::uint64_t test_seed) {
    RegressionParts parts{.train = line_rows(50, 1), .validation = line_rows(10, 2), .test = line_rows(30, test_seed)};
    parts.scale = Scale::of(parts.train.targets, all_rows(50));
    RegressionTrainer trainer(std::move(parts), {.batch_size = 10, .epochs = 5}, method_with("adam", {}),
                              std::make_unique<inference::ParticleMlp>(
                                  inference::MlpSpec{.inputs = 1, .hidden = {4}, .learn_noise_precision = true}),
                              1);
    runs::Records records(false);
    train(trainer, records);
    const std::span<const float> row = trainer.weights().particles().values().row(0);
    return std::vector<float>(row.begin(), row.end());
  };
  CHECK(trained(3) == trained(4));
}

TEST_CASE("the last point of a curve is what all particles say together", "[supervised][regression]") {
  const auto trainer = Case{.method = "svgd", .settings = {{"step_size", "0.02"}}}.make();
  runs::Records records(false);
  train(*trainer, records);
  double rmse = 0;
  for (const auto& record : records.numbers())
    if (std::string_view(record.tag) == "test_rmse") rmse = record.value;
  const RegressionResult result = trainer->test_result();
  REQUIRE(result.samples > 1);
  CHECK(rmse == result.averaged.rmse);
}

TEST_CASE("seeds go through the rows in orders of their own", "[supervised][regression]") {
  const auto weights = [](std::uint64_t seed) {
    const auto trainer = Case{.settings = {{"step_size", "0.02"}}}.make(seed);
    std::ranges::fill(trainer->weights().particles().values().row(0), 0.0F);  // a start without a seed
    runs::Records records(false);
    train(*trainer, records, 400);
    const std::span<const float> row = trainer->weights().particles().values().row(0);
    return std::vector<float>(row.begin(), row.end());
  };
  CHECK(weights(1) == weights(1));
  CHECK(weights(1) != weights(2));
}

TEST_CASE("without validation rows there is no validation", "[supervised][regression]") {
  const auto trainer = Case{.validation = 0}.make();
  runs::Records records(false);
  train(*trainer, records);
  CHECK_FALSE(trainer->outcome().validation.has_value());
  CHECK_FALSE(trainer->test_result().chosen.has_value());
}

TEST_CASE("a minibatch larger than the data is refused", "[supervised][regression]") {
  Case subject;
  subject.options.batch_size = 201;
  CHECK_ERROR(subject.make(), usage, "batch_size=201 is more than the 200 rows for training");
}

}  // namespace
}  // namespace stein::supervised
