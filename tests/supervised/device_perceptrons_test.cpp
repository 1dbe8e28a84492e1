// Regressions and classifiers by perceptrons on a device, against the same trainings on the host.
#include <stein/inference/models/perceptron_model.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/supervised/regression/regression_trainer.h>
#include <stein/training/classifier_trainer.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "inference/cuda/networks_on_host.h"
#include "inference/gpu.h"
#include "training/method_with.h"

namespace stein::supervised {
namespace {

using inference::Device, inference::make_perceptron_model;

constexpr training::EpochOptions epochs{
    .batch_size = 20, .epochs = 4, .burn_in = 0.4, .samples_per_epoch = 2, .draws = 3};
const char* const methods[] = {"adam", "sgd", "psgld", "sghmc", "svgd", "s2vgd", "hmc", "nuts", "sghmc-sa"};

/// A chain so cold that it does not magnify rounding.
training::WeightMethodOptions method_of(const std::string& name) {
  training::WeightMethodOptions method = test::method_with(name, {{"step_size", "1e-3"}});
  OptionTable table = OptionTable::of(method);
  if (table.contains("temperature")) table.set("temperature", "1e-3");
  if (table.contains("warm_up")) table.set("warm_up", name == "nuts" ? "2" : "0");
  return method;
}

/// y = sin 2x + ξ/10 for x ~ N(0, 1).
RegressionRows curve_rows(std::int64_t count, std::uint64_t seed) {
  Draws draws({.seed = seed, .stream = Stream::test}, 0);
  RegressionRows rows{.inputs = {count, 1}};
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = draws.normal();
    rows.inputs.row(i)[0] = static_cast<float>(x);
    rows.targets.push_back(std::sin(2 * x) + 0.1 * draws.normal());
  }
  return rows;
}

/// @param learned  the noise is, too
std::unique_ptr<RegressionTrainer> regression(const std::string& method, Device device, bool learned,
                                              const training::EpochOptions& options = epochs) {
  RegressionParts parts{.train = curve_rows(90, 1), .validation = curve_rows(30, 2), .test = curve_rows(140, 3)};
  parts.scale = Scale::of(parts.train.targets, all_rows(90));
  parts.line.inputs = inference::Matrix<float>(5, 1);
  const inference::MlpSpec spec{
      .inputs = 1, .hidden = {7}, .outputs = 1, .noise_precision = 4, .learn_noise_precision = learned};
  return std::make_unique<RegressionTrainer>(std::move(parts), options, method_of(method),
                                             make_perceptron_model(spec, inference::Arithmetic::fused, device), 1);
}

/// Points of three classes, by the angle.
class Sectors final : public training::LabelledRows {
 public:
  Sectors(std::int64_t count, std::uint64_t seed) {
    Draws draws({.seed = seed, .stream = Stream::test}, 0);
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = draws.normal(), y = draws.normal();
      points_.push_back(static_cast<float>(x)), points_.push_back(static_cast<float>(y));
      labels_.push_back(x > 0 ? 0 : y > 0 ? 1 : 2);
    }
  }
  std::int64_t count() const override { return std::ssize(labels_); }
  std::int64_t label(std::int64_t row) const override { return labels_[static_cast<std::size_t>(row)]; }
  std::int64_t length(std::int64_t) const override { return 0; }
  inference::Inputs<float> inputs(std::span<const std::int64_t> rows) override {
    memory_.clear();
    for (const std::int64_t row : rows)
      for (const std::int64_t k : {0, 1}) memory_.push_back(points_[static_cast<std::size_t>(2 * row + k)]);
    return {.dense = {memory_.data(), std::ssize(rows), 2}};
  }

 private:
  std::vector<float> points_, memory_;
  std::vector<std::int64_t> labels_;
};

std::unique_ptr<training::ClassifierTrainer> classifier(const std::string& method, Device device,
                                                        const training::EpochOptions& options = epochs) {
  training::LabelledParts parts{.train = std::make_unique<Sectors>(90, 1),
                                .validation = std::make_unique<Sectors>(30, 2),
                                .test = std::make_unique<Sectors>(70, 3)};
  const inference::MlpSpec spec{
      .inputs = 2, .hidden = {7}, .outputs = 3, .likelihood = inference::Likelihood::categorical};
  return std::make_unique<training::ClassifierTrainer>(
      std::move(parts), options, method_of(method), make_perceptron_model(spec, inference::Arithmetic::fused, device),
      1);
}

std::vector<float> weights_of(const training::EpochTrainer& trainer) {
  const inference::Particles<float>& particles = trainer.weights().particles();
  const inference::Matrix<float> home = inference::host_copy<float>(particles.values(), particles.device());
  std::vector<float> all;
  for (std::int64_t i = 0; i < home.rows(); ++i) all.insert(all.end(), home.row(i).begin(), home.row(i).end());
  return all;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double square = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t q = 0; q < a.size(); ++q) square += std::pow(a[q] - b[q], 2);
  return std::sqrt(square);
}

template <class Trainer>
void train_to_the_end(Trainer& trainer) {
  runs::Records records(false);
  while (!trainer.ended()) trainer.advance(1'000'000'000, {}, records);
}

/// Both lead the weights to the same place but for rounding: a thousandth of their way.
template <class Trainer>
void check_same_way(Trainer& host, Trainer& there, Device device) {
  CHECK(there.weights().particles().device() == device);
  const std::vector<float> start = weights_of(host);
  CHECK(distance(weights_of(there), start) == 0);
  train_to_the_end(host), train_to_the_end(there);
  CHECK(distance(weights_of(there), weights_of(host)) < 1e-3 * distance(start, weights_of(host)));
}

void check_trainings(Device device) {
  for (const std::string method : methods) {
    CAPTURE(method);
    for (const bool learned : {false, true}) {
      CAPTURE(learned);
      const auto line = regression(method, {}, learned), line_there = regression(method, device, learned);
      check_same_way(*line, *line_there, device);
      const RegressionResult expected = line->test_result(), found = line_there->test_result();
      CHECK(found.samples == expected.samples);
      CHECK(found.averaged.rmse == Approx(expected.averaged.rmse).epsilon(1e-3));
      CHECK(found.averaged.log_likelihood == Approx(expected.averaged.log_likelihood).margin(1e-3));
    }
    const auto classes = classifier(method, {}), classes_there = classifier(method, device);
    check_same_way(*classes, *classes_there, device);
    CHECK(classes_there->test_result().averaged.log_likelihood ==
          Approx(classes->test_result().averaged.log_likelihood).margin(1e-3));
  }
}

TEST_CASE("perceptrons on a device learn tables as those on the host", "[supervised][device]") {
  check_trainings(test::fenced_networks());
}

/// Of two minibatches that nothing is recorded of, and that end no epoch.
template <class Trainer>
std::int64_t waits_of(Trainer& trainer) {
  runs::Records records(false);
  while (trainer.steps_done() < 257 * epochs.batch_size) trainer.advance(257 * epochs.batch_size, {}, records);
  const std::int64_t before = test::fenced_waits();
  trainer.advance(259 * epochs.batch_size, {}, records);
  return test::fenced_waits() - before;
}

TEST_CASE("trainings of perceptrons wait for a device where weights or losses are looked at, and nowhere else",
          "[supervised][device][run-ahead]") {
  training::EpochOptions long_ones = epochs;
  long_ones.epochs = 100, long_ones.samples_per_epoch = 1;
  for (const std::string method : {"adam", "sghmc", "svgd", "s2vgd"}) {
    CAPTURE(method);
    for (const bool learned : {false, true}) {
      CAPTURE(learned);
      const auto line = regression(method, test::fenced_networks(), learned, long_ones);
      CHECK(waits_of(*line) == 1);  // at the end of what was asked for
    }
    const auto classes = classifier(method, test::fenced_networks(), long_ones);
    CHECK(waits_of(*classes) == 1);
  }
}

TEST_CASE("perceptrons on a GPU learn tables as those on the host", "[supervised][device][gpu]") {
  check_trainings(test::gpu());
}

TEST_CASE("a perceptron in reference arithmetic is refused on a device", "[supervised][device]") {
  CHECK_ERROR(make_perceptron_model({}, inference::Arithmetic::reference, test::fenced_networks()), usage,
              "arithmetic=reference is on the processor only");
}

TEST_CASE("rounded factors are refused on the host, and of networks that are no products", "[supervised][device]") {
  const inference::MlpSpec spec{.inputs = 3, .hidden = {7}, .precision = inference::Precision::tf32};
  CHECK_ERROR(make_perceptron_model(spec, inference::Arithmetic::fused, {}), usage,
              "'precision': of perceptrons bfloat16 and tf32 are of a GPU, expected single with device=cpu");
  CHECK_ERROR(make_perceptron_model(spec, inference::Arithmetic::fused, test::fenced_networks()), usage,
              "'precision': the weights of this network lie in the memory of a block");
}

}  // namespace
}  // namespace stein::supervised
