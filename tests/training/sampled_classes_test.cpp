// Scores of single samples, of averages, and of the first, the last and evenly spread samples.
#include <stein/training/sampled_classes.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

namespace stein::training {
namespace {

using inference::Selection;

/// Logits of two classes with these probabilities of the second, one a row.
std::vector<float> logits_of(const std::vector<double>& second) {
  std::vector<float> logits;
  for (const double p : second) {
    logits.push_back(0);
    logits.push_back(static_cast<float>(std::log(p / (1 - p))));
  }
  return logits;
}

void add(SampledClasses& samples, const std::vector<double>& second) {
  const std::vector<float> logits = logits_of(second);
  samples.add({logits.data(), std::ssize(second), 2});
}

}  // namespace

TEST_CASE("a score counts what was wrong, and a tie goes to the first class", "[training][samples]") {
  const std::vector<double> probabilities{0.8, 0.2, 0.5, 0.5, 0.1, 0.9};
  const std::vector<std::int64_t> labels{0, 0, 0};
  const runs::ClassifierScore score = score_of({probabilities.data(), 3, 2}, labels);
  CHECK(score.error == Approx(1.0 / 3));
  CHECK(score.log_likelihood == Approx((std::log(0.8) + std::log(0.5) + std::log(0.1)) / 3));
  CHECK(score.brier == Approx((2 * 0.04 + 2 * 0.25 + 2 * 0.81) / 3));  // Σ_c (p_c − 1[c = label])²
  // Bins of 1/15: confidences .8 (right), .5 (right) and .9 (wrong) lie apart: (|1 − .8| + |1 − .5| + |0 − .9|)/3.
  CHECK(score.ece == Approx((0.2 + 0.5 + 0.9) / 3));
}

TEST_CASE("every sample has an error of its own", "[training][samples]") {
  SampledClasses samples({1, 1, 0, 0}, 2);
  CHECK(samples.errors().empty());
  add(samples, {0.9, 0.8, 0.1, 0.2});
  add(samples, {0.9, 0.3, 0.7, 0.2});
  CHECK(samples.errors() == std::vector<double>{0, 0.5});
}

TEST_CASE("samples are averaged as probabilities, and single ones are scored alone", "[training][samples]") {
  SampledClasses samples({1, 1, 0}, 2);
  CHECK_ERROR(samples.averaged(), usage, "no draw");
  CHECK_ERROR(samples.single(), usage, "no sample");
  add(samples, {0.9, 0.4, 0.2});   // one of three wrong
  add(samples, {0.3, 0.8, 0.1});   // one of three wrong
  add(samples, {0.6, 0.45, 0.7});  // two of three wrong
  CHECK(samples.samples() == 3);
  CHECK(samples.single().error == Approx((1.0 / 3 + 1.0 / 3 + 2.0 / 3) / 3));
  // Averages .6, .55 and 1/3: all right.
  CHECK(samples.averaged().error == 0);
  CHECK(samples.averaged().log_likelihood == Approx((std::log(0.6) + std::log(0.55) + std::log(2.0 / 3)) / 3));
  CHECK(samples.averaged().log_likelihood > samples.single().log_likelihood);  // Jensen
  CHECK(samples.predictive().deviation()[1] == Approx(std::sqrt((0.09 + 0.09 + 0) / 3)));
}

TEST_CASE("traces are log probabilities of the labels", "[training][samples]") {
  SampledClasses samples({1, 0, 1}, 2);
  add(samples, {0.9, 0.4, 0.2});
  add(samples, {0.3, 0.8, 1 - 1e-12});
  const inference::Matrix<double> all = samples.traces(3), two = samples.traces(2);
  REQUIRE((all.rows() == 3 && all.columns() == 2 && two.rows() == 2));
  CHECK(all.view()(0, 0) == Approx(std::log(0.9)));
  CHECK(all.view()(1, 1) == Approx(std::log(0.2)));
  CHECK(all.view()(2, 0) == Approx(std::log(0.2)));
  CHECK(all.view()(2, 1) == Approx(-1e-12).epsilon(1e-3));
  CHECK(two.view()(1, 0) == all.view()(1, 0));
}

TEST_CASE("curves average the first, the last and evenly spread samples", "[training][samples]") {
  SampledClasses samples({1}, 2);
  for (const double p : {0.1, 0.2, 0.9, 0.95}) add(samples, {p});
  // Averages: .1, .15, .4, .5375; from the end .95, .925, .683, .5375.
  CHECK(samples.error_curve(Selection::forward) == std::vector<double>{1, 1, 1, 0});
  CHECK(samples.error_curve(Selection::backward) == std::vector<double>{0, 0, 0, 0});
  // The 4th; the 2nd and 4th (.575); the 1st, 2nd and 4th (.417); all.
  CHECK(samples.error_curve(Selection::thinned) == std::vector<double>{0, 0, 1, 0});
  // From the end .1, .525, .383, .5125.
  SampledClasses unlike({1}, 2);
  for (const double p : {0.9, 0.1, 0.95, 0.1}) add(unlike, {p});
  CHECK(unlike.error_curve(Selection::backward) == std::vector<double>{1, 0, 1, 0});
}

TEST_CASE("an average that is asked for as samples come and go is that of those that are there",
          "[training][samples]") {
  const auto averaged = [](const std::vector<double>& probabilities) {
    SampledClasses samples({1}, 2);
    for (const double p : probabilities) add(samples, {p});
    return samples.averaged().log_likelihood;
  };
  SampledClasses samples({1}, 2);
  add(samples, {0.9});
  CHECK(samples.averaged().log_likelihood == averaged({0.9}));
  add(samples, {0.2});
  CHECK(samples.averaged().log_likelihood == averaged({0.9, 0.2}));
  samples.drop_last(1);
  add(samples, {0.4});
  CHECK(samples.averaged().log_likelihood == averaged({0.9, 0.4}));
  Snapshot snapshot;
  SampledClasses other({1}, 2);
  add(other, {0.3}), add(other, {0.1});
  other.save(snapshot);
  samples.restore(snapshot);
  CHECK(samples.averaged().log_likelihood == averaged({0.3, 0.1}));
}

TEST_CASE("samples of steps that were taken back are dropped, and what is kept is saved", "[training][samples]") {
  SampledClasses samples({1, 0}, 2);
  add(samples, {0.9, 0.1});
  add(samples, {0.2, 0.7});
  samples.drop_last(1);
  CHECK(samples.samples() == 1);
  CHECK(samples.averaged().error == 0);
  CHECK_ERROR(samples.drop_last(2), usage, "cannot drop 2 of 1");
  Snapshot snapshot;
  samples.save(snapshot);
  SampledClasses same({1, 0}, 2), other({1, 0, 0}, 2);
  same.restore(snapshot);
  CHECK(same.averaged().log_likelihood == samples.averaged().log_likelihood);
  CHECK_ERROR(other.restore(snapshot), data, "4 logits", "1 samples of 3 rows with 2 classes");
  CHECK_ERROR(samples.add({nullptr, 1, 2}), usage, "expected logits [2, 2], got [1, 2]");
}

}  // namespace stein::training
