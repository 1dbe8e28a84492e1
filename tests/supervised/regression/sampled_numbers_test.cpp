// Mixtures of Gaussians: means, densities, intervals and curves against what arithmetic says.
#include <stein/supervised/regression/sampled_numbers.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "core/error_matcher.h"

namespace stein::supervised {
namespace {

double log_normal(double x, double mean, double deviation) {
  const double z = (x - mean) / deviation;
  return -0.5 * z * z - std::log(deviation) - 0.5 * std::log(2 * std::numbers::pi);
}

void add(SampledNumbers& to, std::vector<float> outputs, double noise_precision) {
  to.add({outputs.data(), std::ssize(outputs), 1}, noise_precision);
}

/// Two samples of two rows on a scale of mean 10 and sd 2: means 10 and 12, then 14 and 12; noise of sd 2, then 1.
SampledNumbers two_samples() {
  SampledNumbers samples(2, {11, 12}, {.mean = 10, .deviation = 2});
  add(samples, {0, 1}, 1);
  add(samples, {2, 1}, 4);
  return samples;
}

TEST_CASE("means and deviations are those of the mixture, in the targets' units", "[supervised][regression]") {
  const std::vector<PredictedNumber> predicted = two_samples().predictions();
  CHECK(predicted[0].mean == Approx(12));
  CHECK(predicted[0].model_deviation == Approx(2));                       // of 10 and 14, with 1/2
  CHECK(predicted[0].deviation == Approx(std::sqrt((4 + 1) / 2.0 + 4)));  // law of total variance
  CHECK(predicted[1].mean == Approx(12));
  CHECK(predicted[1].model_deviation == Approx(0).margin(1e-12));
}

TEST_CASE("the averaged log-likelihood is that of the mixture, not of the mean", "[supervised][regression]") {
  const SampledNumbers samples = two_samples();
  const double first = std::log(0.5 * std::exp(log_normal(11, 10, 2)) + 0.5 * std::exp(log_normal(11, 14, 1))),
               second = std::log(0.5 * std::exp(log_normal(12, 12, 2)) + 0.5 * std::exp(log_normal(12, 12, 1)));
  const RegressionScore score = samples.averaged();
  CHECK(score.log_likelihood == Approx((first + second) / 2));
  CHECK(score.rmse == Approx(std::sqrt((1 + 0) / 2.0)));
  const RegressionScore single = samples.single();
  CHECK(single.log_likelihood ==
        Approx((log_normal(11, 10, 2) + log_normal(12, 12, 2) + log_normal(11, 14, 1) + log_normal(12, 12, 1)) / 4));
  CHECK(single.rmse == Approx((std::sqrt(1 / 2.0) + std::sqrt(9 / 2.0)) / 2));
  CHECK(score.log_likelihood >= single.log_likelihood);  // Jensen
}

TEST_CASE("the ends of an interval are quantiles of the mixture", "[supervised][regression]") {
  SampledNumbers samples(1, {0}, {});
  add(samples, {-3}, 4);
  add(samples, {5}, 0.25);
  add(samples, {0}, 100);
  const PredictedNumber predicted = samples.predictions()[0];
  const auto below = [](double y) {
    const auto gaussian = [](double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); };
    return (gaussian((y + 3) / 0.5) + gaussian((y - 5) / 2) + gaussian(y / 0.1)) / 3;
  };
  CHECK(below(predicted.low) == Approx(0.05).margin(1e-8));
  CHECK(below(predicted.high) == Approx(0.95).margin(1e-8));
  CHECK(samples.probability_transforms()[0] == Approx(below(0)));
}

TEST_CASE("one sample has a Gaussian's interval and the coverage that follows", "[supervised][regression]") {
  SampledNumbers samples(3, {1.6, 1.7, -1.6}, {});
  add(samples, {0, 0, 0}, 1);
  const RegressionScore score = samples.averaged();
  CHECK(score.coverage == Approx(2 / 3.0));  // ends at ±1.645
  CHECK(score.interval_width == Approx(2 * 1.6448536));
  CHECK(samples.single().coverage == Approx(2 / 3.0));
}

TEST_CASE("single samples have intervals of their own noise", "[supervised][regression]") {
  SampledNumbers samples(2, {1.2, 0.1}, {});
  add(samples, {0, 0}, 1);
  add(samples, {0, 0}, 4);  // an sd of a half: the interval ends at 0.82
  CHECK(samples.single().coverage == Approx(0.75));
  CHECK(samples.single().interval_width == Approx(1.5 * 1.6448536));
}

TEST_CASE("curves lose what averages of those samples lose", "[supervised][regression]") {
  using inference::Selection;
  SampledNumbers samples(1, {0.5}, {});
  for (const float mean : {0.0F, 1.0F, 4.0F}) add(samples, {mean}, 1);
  const auto loss = [](std::vector<double> means) {
    double sum = 0;
    for (const double mean : means) sum += std::exp(log_normal(0.5, mean, 1)) / static_cast<double>(means.size());
    return -std::log(sum);
  };
  const std::vector<double> forward = samples.loss_curve(Selection::forward),
                            backward = samples.loss_curve(Selection::backward),
                            thinned = samples.loss_curve(Selection::thinned);
  CHECK(forward[0] == Approx(loss({0})));
  CHECK(forward[1] == Approx(loss({0, 1})));
  CHECK(backward[0] == Approx(loss({4})));
  CHECK(backward[1] == Approx(loss({4, 1})));
  for (const auto& curve : {forward, backward, thinned}) CHECK(curve[2] == Approx(loss({0, 1, 4})));
  CHECK(samples.loss_curve(Selection::forward, 2).size() == 2);
  CHECK(-samples.log_likelihood() == Approx(forward[2]));
}

TEST_CASE("scores that are asked for as samples come and go are those of the samples that are there",
          "[supervised][regression]") {
  const auto scores = [](const SampledNumbers& samples) { return std::pair(samples.rmse(), samples.log_likelihood()); };
  const auto of = [&](const std::vector<float>& outputs) {
    SampledNumbers samples(1, {0.5}, {});
    for (const float output : outputs) add(samples, {output}, 4 * output);
    return samples;
  };
  SampledNumbers samples = of({1});
  CHECK(scores(samples) == scores(of({1})));
  add(samples, {2}, 8);
  CHECK(scores(samples) == scores(of({1, 2})));
  samples.drop_last(1);
  add(samples, {3}, 12);
  CHECK(scores(samples) == scores(of({1, 3})));
  Snapshot snapshot;
  of({4, 5}).save(snapshot);
  samples.restore(snapshot);
  CHECK(scores(samples) == scores(of({4, 5})));
}

TEST_CASE("traces are the means that samples predict, in the targets' units", "[supervised][regression]") {
  SampledNumbers samples(3, {11, 12, 13}, {.mean = 10, .deviation = 2});
  add(samples, {0, 1, 2}, 1);
  add(samples, {3, 4, 5}, 1);
  const inference::Matrix<double> all = samples.traces(3), one = samples.traces(1);
  REQUIRE((all.rows() == 3 && all.columns() == 2 && one.rows() == 1));
  CHECK(all.view()(0, 1) == 16);
  CHECK(all.view()(2, 0) == 14);
  CHECK(one.view()(0, 1) == 16);
}

TEST_CASE("samples of lost steps are dropped, and saved ones come back", "[supervised][regression]") {
  SampledNumbers samples = two_samples();
  Snapshot snapshot;
  samples.save(snapshot);
  samples.drop_last(1);
  CHECK(samples.samples() == 1);
  CHECK(samples.predictions()[0].mean == Approx(10));
  SampledNumbers restored(2, {11, 12}, {.mean = 10, .deviation = 2});
  restored.restore(snapshot);
  CHECK(restored.averaged().log_likelihood == two_samples().averaged().log_likelihood);
  SampledNumbers other(3, {1, 2, 3}, {});
  CHECK_ERROR(other.restore(snapshot), data, "4 predictions, expected 2 samples of 3 rows");
}

TEST_CASE("predictions that are no numbers, and questions without an answer, are refused", "[supervised][regression]") {
  SampledNumbers samples(1, {}, {});
  CHECK_ERROR(samples.predictions(), usage, "no sample yet");
  CHECK_ERROR(add(samples, {std::nanf("")}, 1), numeric, "sample 0 predicts nan for row 0");
  CHECK_ERROR(add(samples, {1}, 0), numeric, "noise precision of 0: the weights have diverged");
  CHECK_ERROR(add(samples, {1}, INFINITY), numeric, "noise precision of inf");
  SampledNumbers unknown(1, {}, {});
  add(unknown, {1}, 1);
  CHECK(unknown.predictions()[0].mean == 1);
  CHECK_ERROR(unknown.averaged(), usage, "targets of these rows are not known");
}

}  // namespace
}  // namespace stein::supervised
