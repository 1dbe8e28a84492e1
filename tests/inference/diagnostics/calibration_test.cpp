// Calibration measures on predictions small enough to work out by hand.
#include <stein/inference/diagnostics/calibration.h>

#include <cmath>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

// Three classes, five predictions; the largest of each row is .5, .5, 1, .8, .8.
const std::vector<double> numbers{0.5, 0.3, 0.2, 0.25, 0.5, 0.25, 1, 0, 0, 0.1, 0.1, 0.8, 0.8, 0.15, 0.05};
const MatrixView<const double> predictions{numbers.data(), 5, 3};
const std::vector<std::int64_t> labels{0, 0, 0, 2, 1};

}  // namespace

TEST_CASE("calibration error compares confidence with accuracy, and 1 lies in the last bin",
          "[inference][calibration]") {
  // Bins of width .1. (.4, .5]: confidence .5, one of two right: 0. (.7, .8]: .8 against ½, two rows: .6. (.9, 1]:
  // right.
  CHECK(expected_calibration_error(predictions, labels, 10) == Approx(0.6 / 5));
  // One bin: confidences 3.6, right answers 3.
  CHECK(expected_calibration_error(predictions, labels, 1) == Approx(0.6 / 5));
  // Bins of width ½: (0, ½] as above, (½, 1]: 2.6 against 2.
  CHECK(expected_calibration_error(predictions, labels, 2) == Approx(0.6 / 5));
  const std::vector<double> sure{1, 0, 1, 0};
  const std::vector<std::int64_t> wrong{1, 1};
  CHECK(expected_calibration_error({sure.data(), 2, 2}, wrong) == 1);
}

TEST_CASE("rows that share a bin make up for one another, and others do not", "[inference][calibration]") {
  // Confidences .55 right, .65 wrong, .75 right, .95 wrong.
  const std::vector<double> four{0.55, 0.45, 0.65, 0.35, 0.75, 0.25, 0.95, 0.05};
  const std::vector<std::int64_t> answers{0, 1, 0, 1};
  const auto error_in = [&](std::int64_t bins) {
    return expected_calibration_error({four.data(), 4, 2}, answers, bins);
  };
  CHECK(error_in(20) == Approx((0.45 + 0.65 + 0.25 + 0.95) / 4));       // each in a bin of its own
  CHECK(error_in(5) == Approx((0.45 + (0.65 + 0.75 - 1) + 0.95) / 4));  // (.4, .6], (.6, .8], (.8, 1]
  CHECK(error_in(2) == Approx((0.55 + 0.65 + 0.75 + 0.95 - 2) / 4));    // all in (½, 1]
  // The upper end belongs to a bin, the lower does not: .55 and .6 share (.4, .6], .6 and .75 no bin.
  const std::vector<double> edge{0.55, 0.45, 0.6, 0.4, 0.75, 0.25};
  CHECK(expected_calibration_error({edge.data(), 3, 2}, std::vector<std::int64_t>{0, 1, 0}, 5) ==
        Approx((0.55 + 0.6 - 1 + 0.25) / 3));
  // Of eight classes the best may have little: .15 right lies in (0, .2], .35 wrong in (.2, .4].
  const std::vector<double> little{0.15, 0.13, 0.12, 0.12, 0.12, 0.12, 0.12, 0.12,
                                   0.35, 0.1,  0.1,  0.1,  0.1,  0.1,  0.1,  0.05};
  CHECK(expected_calibration_error({little.data(), 2, 8}, std::vector<std::int64_t>{0, 1}, 5) ==
        Approx((0.85 + 0.35) / 2));
}

TEST_CASE("Brier score and log-likelihood are those worked out by hand", "[inference][calibration]") {
  const double brier =
      (0.25 + 0.09 + 0.04) + (0.5625 + 0.25 + 0.0625) + 0 + (0.01 + 0.01 + 0.04) + (0.64 + 0.7225 + 0.0025);
  CHECK(brier_score(predictions, labels) == Approx(brier / 5));
  CHECK(negative_log_likelihood(predictions, labels) ==
        Approx(-(std::log(0.5) + std::log(0.25) + std::log(1.0) + std::log(0.8) + std::log(0.15)) / 5));
  const std::vector<double> impossible{0, 1};
  const std::vector<std::int64_t> happened{0};
  CHECK(std::isinf(negative_log_likelihood({impossible.data(), 1, 2}, happened)));
}

TEST_CASE("the area under the ROC curve counts pairs, ties half", "[inference][calibration]") {
  const std::vector<double> positives{0.9, 0.4, 0.4}, negatives{0.1, 0.4};
  CHECK(area_under_roc(positives, negatives) == Approx((2 + 1.5 + 1.5) / 6));
  CHECK(area_under_roc(negatives, positives) == Approx(1 - 5.0 / 6));
}

TEST_CASE("predictions that make no sense are refused by row", "[inference][calibration]") {
  CHECK_ERROR(brier_score(predictions, std::vector<std::int64_t>{0, 0, 0}), usage, "each of 5 predictions, got 3");
  CHECK_ERROR(brier_score(predictions, std::vector<std::int64_t>{0, 0, 3, 0, 0}), usage, "label 3 of row 2");
  const std::vector<double> beyond{1.5, -0.5};
  CHECK_ERROR(brier_score({beyond.data(), 1, 2}, std::vector<std::int64_t>{0}), usage, "probability 1.5 in row 0");
  CHECK_ERROR(area_under_roc({}, std::vector<double>{1}), usage, "got 0 and 1");
  const std::vector<double> broken{0.5, NAN}, whole{0.2};
  CHECK_ERROR(area_under_roc(broken, whole), usage, "a score is not a number");
  CHECK_ERROR(area_under_roc(whole, broken), usage, "a score is not a number");
}
