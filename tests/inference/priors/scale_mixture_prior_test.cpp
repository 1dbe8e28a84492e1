// The scale mixture against its formula written out, finite differences, and weights far out.
#include <stein/core/rng.h>
#include <stein/inference/priors/scale_mixture_prior.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

double normal_density(double x, double deviation) {
  return std::exp(-x * x / (2 * deviation * deviation)) / (deviation * std::sqrt(2 * std::numbers::pi));
}

/// Rows of two and three columns, padded to four; a log-precision that has no law here.
Layout padded_layout() {
  Layout layout;
  layout.add("layer0.weight", {2, 3}, Role::weight, 0, 4);
  layout.add("layer0.bias", {2}, Role::bias, 0, 4);
  layout.add("log_noise_precision", {1}, Role::log_precision, 1);
  return layout;
}

struct Found {
  std::vector<double> gradient;
  double value;
};

Found evaluate(const ScaleMixturePrior<double>& prior, const std::vector<double>& row) {
  Found found{std::vector<double>(row.size()), 0};
  const auto size = static_cast<std::int64_t>(row.size());
  prior.add_log_density({{row.data(), 1, size}},
                        {.gradient = {found.gradient.data(), 1, size}, .value = {&found.value, 1}});
  return found;
}

}  // namespace

TEST_CASE("every weight has its own mixture, padding and log-precisions have none", "[inference][prior]") {
  const ScaleMixtureOptions options{.wide_share = 0.3, .log_wide_deviation = 0, .log_narrow_deviation = -1.5};
  const Layout layout = padded_layout();
  const ScaleMixturePrior<double> prior(options, layout);
  std::vector<double> row(static_cast<std::size_t>(layout.size()));
  fill_normal(std::span<double>(row), {.seed = 6}, 0);
  double expected = 0;
  for (const std::size_t q : {0, 1, 2, 4, 5, 6, 8, 9})
    expected += std::log(0.3 * normal_density(row[q], 1) + 0.7 * normal_density(row[q], std::exp(-1.5)));
  const Found found = evaluate(prior, row);
  CHECK(found.value == Approx(expected).epsilon(1e-12));
  for (std::size_t q = 0; q < row.size(); ++q) {
    std::vector<double> up = row, down = row;
    up[q] += 1e-6, down[q] -= 1e-6;
    CHECK(found.gradient[q] ==
          Approx((evaluate(prior, up).value - evaluate(prior, down).value) / 2e-6).margin(1e-7).epsilon(1e-7));
  }
}

TEST_CASE("every particle has its own value and gradient, and gains their mixture around 1", "[inference][prior]") {
  Layout layout = padded_layout();
  layout.add("norm.weight", {2}, Role::gain, 0, 4);
  const ScaleMixturePrior<double> prior({.wide_share = 0.3, .log_wide_deviation = 0, .log_narrow_deviation = -1.5},
                                        layout);
  const auto size = static_cast<std::int64_t>(layout.size());
  std::vector<double> rows(2 * layout.size()), gradients(rows.size()), values(2);
  fill_normal(std::span<double>(rows), {.seed = 8}, 0);
  prior.add_log_density({{rows.data(), 2, size}}, {.gradient = {gradients.data(), 2, size}, .value = values});
  for (const std::int64_t m : {0, 1}) {
    const auto begin = rows.begin() + m * size;
    const Found alone = evaluate(prior, {begin, begin + size});
    CHECK(values[static_cast<std::size_t>(m)] == alone.value);
    CHECK(std::vector<double>(gradients.begin() + m * size, gradients.begin() + (m + 1) * size) == alone.gradient);
  }
  CHECK(values[0] != values[1]);
  std::vector<double> row(layout.size());
  const auto gain = static_cast<std::size_t>(layout.at("norm.weight").offset);
  row[gain] = row[gain + 1] = 1;
  const Found centred = evaluate(prior, row);
  CHECK(centred.gradient[gain] == 0);
  row[gain] = 1.3;
  const Found moved = evaluate(prior, row);
  CHECK(moved.gradient[gain] < 0);
  CHECK(moved.value < centred.value);
}

TEST_CASE("the mixture of whole rows is there by its name", "[inference][prior]") {
  const ScaleMixtureOptions options{
      .wide_share = 0.3, .log_wide_deviation = 0, .log_narrow_deviation = -1, .mixture_over = MixtureOver::row};
  Layout layout;
  layout.add("layer0.weight", {2, 2}, Role::weight);
  const ScaleMixturePrior<double> prior(options, layout);
  const std::vector<double> row{0.5, -0.2, 1, 0.1};
  double expected = 0;
  for (const std::size_t first : {0, 2})
    expected += std::log(0.3 * normal_density(row[first], 1) * normal_density(row[first + 1], 1) +
                         0.7 * normal_density(row[first], std::exp(-1)) * normal_density(row[first + 1], std::exp(-1)));
  CHECK(evaluate(prior, row).value == Approx(expected).epsilon(1e-12));
}

TEST_CASE(
    "the gradient of the mixture of whole rows is that of its density, around 1 for gains, and leaves padding alone",
    "[inference][prior]") {
  Layout layout = padded_layout();
  layout.add("norm.weight", {2}, Role::gain, 1);
  const ScaleMixturePrior<double> prior(
      {.wide_share = 0.3, .log_wide_deviation = 0, .log_narrow_deviation = -1, .mixture_over = MixtureOver::row},
      layout);
  std::vector<double> row(static_cast<std::size_t>(layout.size()));
  for (const LayoutEntry& entry : layout.entries())
    for (std::int64_t r = 0; r < entry.rows(); ++r)
      fill_normal(std::span(row).subspan(entry.offset + r * entry.row_stride, entry.columns()), {.seed = 6},
                  static_cast<std::uint32_t>(entry.offset + r));
  const std::vector<double> gradient = evaluate(prior, row).gradient;
  for (std::size_t q = 0; q < row.size(); ++q) {
    const double here = row[q], step = 1e-5;
    row[q] = here + step;
    const double up = evaluate(prior, row).value;
    row[q] = here - step;
    CHECK(gradient[q] == Approx((up - evaluate(prior, row).value) / (2 * step)).margin(1e-8));
    row[q] = here;
  }
}

TEST_CASE("a weight far out is pulled by the wide component, however far", "[inference][prior]") {
  Layout layout;
  layout.add("layer0.weight", {1}, Role::weight);
  const ScaleMixturePrior<double> prior({}, layout);
  const double precision = std::exp(2);
  for (const double w : {1.0, 30.0, 1e6}) {
    const Found found = evaluate(prior, {w});
    CHECK(found.gradient[0] == Approx(-precision * w));
    CHECK(found.value == Approx(std::log(0.25) + 1 - 0.5 * std::log(2 * std::numbers::pi) - precision * w * w / 2));
  }
  CHECK(ScaleMixtureOptions{}.deviation() == Approx(0.1839).epsilon(1e-3));  // sd of the whole mixture at its defaults
}

TEST_CASE("a mixture whose components are in the wrong order is refused", "[inference][prior]") {
  Layout layout;
  layout.add("layer0.weight", {1}, Role::weight);
  CHECK_ERROR(ScaleMixturePrior<double>({.log_wide_deviation = -8}, layout), usage, "log_wide_deviation", "-8 and -7");
  CHECK_ERROR(ScaleMixturePrior<double>({.wide_share = 1}, layout), usage, "'wide_share'");
}
