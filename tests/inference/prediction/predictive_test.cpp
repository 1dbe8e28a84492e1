// What draws predict together: closed forms, one draw after the other against all at once, and through a posterior.
#include <stein/inference/diagnostics/calibration.h>
#include <stein/inference/prediction/collected_samples.h>
#include <stein/inference/prediction/predictive.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/targets/network_posterior.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr double log_2 = std::numbers::ln2;

MatrixView<const double> row(const std::vector<double>& numbers) {
  return {numbers.data(), 1, static_cast<std::int64_t>(numbers.size())};
}

/// `draws` × `inputs` × `outputs` normals.
std::vector<double> random_outputs(std::int64_t draws, std::int64_t inputs, std::int64_t outputs) {
  std::vector<double> numbers(static_cast<std::size_t>(draws * inputs * outputs));
  fill_normal(std::span<double>(numbers), {.seed = 11}, 0);
  return numbers;
}

}  // namespace

TEST_CASE("two draws that are sure of opposite classes share log 2 of information, equal ones none",
          "[inference][predictive]") {
  Predictive opposite(Likelihood::categorical, 1, 2), equal(Likelihood::categorical, 1, 2);
  opposite.add(row({1000, -1000})), opposite.add(row({-1000, 1000}));
  CHECK(opposite.mean()(0, 0) == 0.5);
  CHECK(opposite.deviation() == std::vector<double>{0.5, 0.5});
  CHECK(opposite.entropy().at(0) == Approx(log_2).epsilon(1e-15));
  CHECK(opposite.mutual_information().at(0) == Approx(log_2).epsilon(1e-15));
  for (int s = 0; s < 3; ++s) equal.add(row({0.3, 1.1}));
  CHECK(equal.mutual_information().at(0) == 0);
  CHECK(equal.deviation() == std::vector<double>{0, 0});
  CHECK(equal.entropy().at(0) > 0.5);
}

TEST_CASE("probabilities are averaged, not logits", "[inference][predictive]") {
  // The mean logit of 0 and log 9 is log 3, probability 3/4; the mean of the probabilities 1/2 and 9/10 is 7/10.
  Predictive categorical(Likelihood::categorical, 1, 2), bernoulli(Likelihood::bernoulli, 1, 1);
  categorical.add(row({0, 0})), categorical.add(row({std::log(9), 0}));
  bernoulli.add(row({0})), bernoulli.add(row({std::log(9)}));
  CHECK(categorical.mean()(0, 0) == Approx(0.7).epsilon(1e-15));
  CHECK(bernoulli.mean()(0, 0) == Approx(0.7).epsilon(1e-15));
  CHECK(bernoulli.entropy().at(0) == Approx(categorical.entropy().at(0)).epsilon(1e-14));
  CHECK(bernoulli.mutual_information().at(0) == Approx(categorical.mutual_information().at(0)).epsilon(1e-13));
  const double single = -0.9 * std::log(0.9) - 0.1 * std::log(0.1);
  const double together = -0.7 * std::log(0.7) - 0.3 * std::log(0.3);
  CHECK(bernoulli.mutual_information().at(0) == Approx(together - (log_2 + single) / 2).epsilon(1e-13));
}

TEST_CASE("every output of a Bernoulli is a variable of its own", "[inference][predictive]") {
  Predictive predictive(Likelihood::bernoulli, 2, 2);
  const std::vector<double> first{1000, 0, -1000, 0}, second{-1000, 0, -1000, 0};
  predictive.add(MatrixView<const double>(first.data(), 2, 2));
  predictive.add(MatrixView<const double>(second.data(), 2, 2));
  const std::vector<double> information = predictive.mutual_information(), entropy = predictive.entropy();
  const double expected[] = {log_2, 0, 0, 0}, total[] = {log_2, log_2, 0, log_2};
  for (std::size_t j = 0; j < 4; ++j) {
    CHECK(information.at(j) == Approx(expected[j]).margin(1e-15));
    CHECK(entropy.at(j) == Approx(total[j]).margin(1e-15));
  }
}

TEST_CASE("a Gaussian's total variance is that of its noise and of its means", "[inference][predictive]") {
  Predictive predictive(Likelihood::gaussian, 1, 2);
  predictive.add(row({1, 5}), 1.0), predictive.add(row({3, 5}), 0.25);  // noise variances 1 and 4
  CHECK(predictive.mean()(0, 0) == 2);
  CHECK(predictive.deviation() == std::vector<double>{1, 0});
  CHECK(predictive.aleatoric_deviation().at(1) == Approx(std::sqrt(2.5)).epsilon(1e-15));
  CHECK(predictive.total_deviation().at(0) == Approx(std::sqrt(3.5)).epsilon(1e-15));
  CHECK(predictive.total_deviation().at(1) == Approx(std::sqrt(2.5)).epsilon(1e-15));
}

TEST_CASE("draws added one after the other give the numbers of all draws at once", "[inference][predictive]") {
  constexpr std::int64_t draws = 500, inputs = 4, outputs = 3;
  const std::vector<double> numbers = random_outputs(draws, inputs, outputs);
  const double shift = GENERATE(0.0, 1e6);  // far from zero the digits of a variance are easily lost
  Predictive classes(Likelihood::categorical, inputs, outputs), values(Likelihood::gaussian, inputs, outputs);
  for (std::int64_t s = 0; s < draws; ++s) {
    std::vector<double> draw(numbers.begin() + s * inputs * outputs, numbers.begin() + (s + 1) * inputs * outputs);
    for (double& x : draw) x += shift;
    classes.add(MatrixView<const double>(draw.data(), inputs, outputs));
    values.add(MatrixView<const double>(draw.data(), inputs, outputs));
  }
  for (std::int64_t i = 0; i < inputs; ++i) {
    double mean[outputs] = {}, square[outputs] = {}, value[outputs] = {}, value_square[outputs] = {}, inner = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t s = 0; s < draws; ++s) {
        const double* x = numbers.data() + (s * inputs + i) * outputs;
        const double sum = std::exp(x[0]) + std::exp(x[1]) + std::exp(x[2]);
        for (std::int64_t k = 0; k < outputs; ++k) {
          const double p = std::exp(x[k]) / sum;
          if (pass == 0) mean[k] += p / draws, value[k] += x[k] / draws, inner -= p * std::log(p) / draws;
          if (pass == 1)
            square[k] += (p - mean[k]) * (p - mean[k]), value_square[k] += (x[k] - value[k]) * (x[k] - value[k]);
        }
      }
    double entropy = 0;
    const double tolerance = shift == 0 ? 1e-13 : 1e-8;  // of numbers near 1e6, 1e-10 is the last digit
    for (std::int64_t k = 0; k < outputs; ++k) {
      const auto j = static_cast<std::size_t>(i * outputs + k);
      entropy -= mean[k] * std::log(mean[k]);
      CHECK(classes.mean()(i, k) == Approx(mean[k]).epsilon(tolerance));
      CHECK(classes.deviation()[j] == Approx(std::sqrt(square[k] / draws)).epsilon(tolerance));
      CHECK(values.mean()(i, k) - shift == Approx(value[k]).margin(tolerance));
      CHECK(values.deviation()[j] == Approx(std::sqrt(value_square[k] / draws)).epsilon(tolerance));
    }
    CHECK(classes.entropy()[static_cast<std::size_t>(i)] == Approx(entropy).epsilon(tolerance));
    CHECK(classes.mutual_information()[static_cast<std::size_t>(i)] == Approx(entropy - inner).epsilon(10 * tolerance));
  }
}

TEST_CASE("the entropy gap is the mean entropy elsewhere less that on the test data", "[inference][predictive]") {
  Predictive sure(Likelihood::categorical, 2, 2), unsure(Likelihood::categorical, 1, 4);
  const std::vector<double> one_hot{1000, -1000, 0, 0}, flat{0, 0, 0, 0};
  sure.add(MatrixView<const double>(one_hot.data(), 2, 2));
  unsure.add(row(flat));
  CHECK(entropy_gap(unsure, sure) == Approx(2 * log_2 - log_2 / 2).epsilon(1e-15));
  CHECK(entropy_gap(sure, sure) == 0);
}

TEST_CASE("predictions that are interrupted go on to the same bits", "[inference][predictive]") {
  const Likelihood likelihood = GENERATE(Likelihood::gaussian, Likelihood::categorical, Likelihood::bernoulli);
  const std::vector<double> numbers = random_outputs(20, 2, 3);
  const auto add = [&](Predictive& to, std::int64_t first, std::int64_t last) {
    for (std::int64_t s = first; s < last; ++s)
      to.add(MatrixView<const double>(numbers.data() + 6 * s, 2, 3), 1.0 + static_cast<double>(s));
  };
  Predictive whole(likelihood, 2, 3), first(likelihood, 2, 3), second(likelihood, 2, 3);
  add(whole, 0, 20), add(first, 0, 9);
  Snapshot state;
  first.save(state);
  second.restore(state);
  add(second, 9, 20);
  CHECK(second.draws() == 20);
  CHECK(second.deviation() == whole.deviation());
  CHECK(std::ranges::equal(second.mean().row(1), whole.mean().row(1)));
  if (likelihood == Likelihood::gaussian)
    CHECK(second.total_deviation() == whole.total_deviation());
  else
    CHECK(second.mutual_information() == whole.mutual_information());
  Predictive other(likelihood, 3, 2);
  CHECK_ERROR(other.restore(state), data, "another likelihood or shape");
}

TEST_CASE("predictions that make no sense are refused", "[inference][predictive]") {
  CHECK_ERROR(Predictive(Likelihood::categorical, 3, 1), usage, "at least 2 classes, got 1");
  CHECK_ERROR(Predictive(Likelihood::gaussian, 0, 1), usage, "at least one input");
  Predictive classes(Likelihood::categorical, 1, 2), values(Likelihood::gaussian, 1, 1);
  CHECK_ERROR(classes.mean(), usage, "no draw was added");
  CHECK_ERROR(classes.add(row({1, 2, 3})), usage, "expected outputs [1, 2], got [1, 3]");
  CHECK_ERROR(classes.add(row({1, NAN})), numeric, "output 1 of input 0 is nan in draw 0");
  CHECK(classes.draws() == 0);
  CHECK_ERROR(values.add(row({1}), 0.0), usage, "noise precision must be > 0");
  values.add(row({1})), classes.add(row({0, 1}));
  CHECK_ERROR(values.entropy(), usage, "standard deviations in place of entropies");
  CHECK_ERROR(classes.total_deviation(), usage, "only a Gaussian");
}

TEST_CASE("a chain's predictions, streamed, are those of its stored samples", "[inference][predictive]") {
  const MlpSpec network{.inputs = 4, .hidden = {6}, .outputs = 3, .likelihood = Likelihood::categorical};
  const bool structured = GENERATE(false, true);
  const auto posterior = make_network_posterior(
      {.parameterization = structured ? WeightForm::matrix_gaussian : WeightForm::direct}, network);
  std::vector<float> x(9 * 4);
  fill_normal(std::span<float>(x), {.seed = 1}, 0);
  const std::vector<float> classes{0, 1, 2, 0, 1, 2, 0, 1, 2};
  Batch<float> batch;
  batch.inputs.dense = {x.data(), 9, 4};
  batch.targets = {classes.data(), 9, 1};
  batch.rows = 9, batch.data_size = 9;

  Particles<float> particles = posterior->initial_particles(3, 1, 1);
  Svgd<float> sampler({}, particles.ensemble(0));
  CollectedSamples<float> samples(particles.layout(), 3);
  Predictive streamed(Likelihood::categorical, 9, 3), stored(Likelihood::categorical, 9, 3);
  Predictive alone(Likelihood::categorical, 9, 3);
  for (int t = 0; t < 5; ++t) {
    sampler.step(particles, *posterior, batch);
    samples.add(particles);
    add_predictions(streamed, *posterior, particles.coordinates(), batch.inputs, {});
  }
  add_predictions(stored, *posterior, samples.all(), batch.inputs, {});
  CHECK(streamed.draws() == 15);
  CHECK(std::ranges::equal(streamed.mean().row(4), stored.mean().row(4)));
  CHECK(streamed.mutual_information() == stored.mutual_information());

  // The first draw by hand.
  add_predictions(alone, *posterior, samples.sample(0).block(0, 1), batch.inputs, {});
  std::vector<float> weights(static_cast<std::size_t>(posterior->weight_layout().size())), logits(9 * 3);
  posterior->effective_weights(samples.sample(0).block(0, 1), {}, {weights.data(), 1, std::ssize(weights)});
  posterior->model().predict({{weights.data(), 1, std::ssize(weights)}}, batch.inputs, {logits.data(), 9, 3});
  for (std::int64_t i = 0; i < 9; ++i) {
    double sum = 0;
    for (std::int64_t k = 0; k < 3; ++k) sum += std::exp(static_cast<double>(logits[3 * i + k]));
    for (std::int64_t k = 0; k < 3; ++k)
      CHECK(alone.mean()(i, k) == Approx(std::exp(static_cast<double>(logits[3 * i + k])) / sum).epsilon(1e-12));
  }
  const std::vector<std::int64_t> labels{0, 1, 2, 0, 1, 2, 0, 1, 2};
  CHECK(std::isfinite(negative_log_likelihood(streamed.mean(), labels)));
}

TEST_CASE("the noise of a draw is its own where its precision is sampled", "[inference][predictive]") {
  const bool learned = GENERATE(false, true);
  const MlpSpec network{.inputs = 2, .outputs = 1, .noise_precision = 4, .learn_noise_precision = learned};
  const auto posterior = make_network_posterior({}, network);
  Particles<float> particles = posterior->initial_particles(2, 1, 1);
  const std::vector<float> x{1, 2};
  if (learned) particles.values()(1, particles.layout().at("log_noise_precision").offset) = 0;
  Predictive predictive(Likelihood::gaussian, 1, 1);
  add_predictions(predictive, *posterior, particles.coordinates(), {.dense = {x.data(), 1, 2}}, {}, 4.0);
  CHECK(predictive.aleatoric_deviation().at(0) == Approx(std::sqrt(learned ? (0.25 + 1) / 2 : 0.25)));
}

TEST_CASE("chains that are put together predict as one", "[inference][predictive]") {
  const Likelihood likelihood = GENERATE(Likelihood::gaussian, Likelihood::categorical, Likelihood::bernoulli);
  const std::vector<double> draws = random_outputs(9, 4, 3);
  Predictive all(likelihood, 4, 3), first = all, second = all, empty = all;
  for (std::int64_t d = 0; d < 9; ++d) {
    const MatrixView<const double> outputs{draws.data() + d * 12, 4, 3};
    const double precision = 1 + static_cast<double>(d);
    all.add(outputs, precision);
    (d < 3 ? first : second).add(outputs, precision);
  }
  first.merge(empty), empty.merge(first), empty.merge(second);
  CHECK(empty.draws() == 9);
  const auto close = [](const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < b.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-12));
  };
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t k = 0; k < 3; ++k) CHECK(empty.mean()(i, k) == Approx(all.mean()(i, k)).epsilon(1e-13));
  close(empty.deviation(), all.deviation());
  if (likelihood == Likelihood::gaussian) close(empty.total_deviation(), all.total_deviation());
  if (likelihood != Likelihood::gaussian) close(empty.mutual_information(), all.mutual_information());
  CHECK_ERROR(all.merge(Predictive(likelihood, 4, 2)), usage, "4 inputs and 3 outputs, got 4 and 2");
}
