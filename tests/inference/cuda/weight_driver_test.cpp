// The drivers of weights on devices against that of the host: the fenced device everywhere, a GPU where there is one.
#include <stein/inference/storage/device_number.h>
#include <stein/inference/storage/matrix.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error_matcher.h"
#include "inference/fenced_device.h"
#include "inference/gpu.h"
#include "inference/weight_case.h"

using namespace stein;
using namespace stein::inference;
using test::numbers_around, test::WeightCase;

namespace {

/// Numbers on a device, which begin one past where a row of a matrix does: at an address that nothing is aligned to.
template <class Number>
class There {
 public:
  There(const std::vector<Number>& numbers, Device device) : host_(1, std::ssize(numbers) + 1) {
    std::ranges::copy(numbers, host_.row(0).begin() + 1);
    numbers_ = host_.to(device);
  }
  std::span<Number> span() { return numbers_.row(0).subspan(1); }
  std::vector<Number> read() const {
    const Matrix<Number> host = numbers_.to({});
    return {host.row(0).begin() + 1, host.row(0).end()};
  }

 private:
  Matrix<Number> host_, numbers_;
};

void check_mean_field(Device device) {
  const WeightDriver<float>&tested = weight_driver<float>(device), &host = weight_driver<float>(Device{});
  for (const WeightCase::Shape& shape : WeightCase::shapes) {
    const WeightCase weights(shape, 2);
    const MeanField<float> law = weights.law();
    const MeanFieldNoise noise = WeightCase::noise(7);
    WeightCase::Written expected(weights);
    host.draw(law, noise, expected.weights);
    host.pull_back(law, noise, weights.slopes(), 2.5, expected.mean_gradient, expected.rho_gradient);
    There<float> mean({law.mean.begin(), law.mean.end()}, device);
    There<float> rho({law.log_deviation.begin(), law.log_deviation.end()}, device),
        gradients(weights.gradients, device);
    const WeightCase::Written empty(weights);
    There<float> drawn(empty.weights, device), of_mean(empty.mean_gradient, device), of_rho(empty.rho_gradient, device);
    const MeanField<float> there{mean.span(), rho.span(), law.columns, law.stride};
    const MatrixView<const float> slopes{gradients.span().data() + 1, 2, shape.rows * weights.stride()};
    tested.draw(there, noise, drawn.span());
    tested.pull_back(there, noise, slopes, 2.5, of_mean.span(), of_rho.span());
    CAPTURE(tested.name, shape.rows, shape.columns, shape.padding);
    CHECK((drawn.read() == expected.weights));
    CHECK((of_mean.read() == expected.mean_gradient));
    CHECK((of_rho.read() == expected.rho_gradient));
    CHECK(tested.sum_of_log_deviations(there) == Approx(host.sum_of_log_deviations(law)).epsilon(1e-6));
    CHECK(tested.sum_of_expected_squares(there) == Approx(host.sum_of_expected_squares(law)).epsilon(1e-6));
    CHECK(tested.sum(mean.span()) == Approx(host.sum(law.mean)).epsilon(1e-10));
    There<float> rows(empty.weights, device);
    tested.spread(mean.span(), law.columns, law.stride, rows.span());
    host.spread(law.mean, law.columns, law.stride, expected.weights);
    tested.pack_sum(slopes, law.columns, law.stride, of_mean.span());
    host.pack_sum(weights.slopes(), law.columns, law.stride, expected.mean_gradient);
    CHECK((rows.read() == expected.weights));
    CHECK((of_mean.read() == expected.mean_gradient));
  }
}

void check_matrix(Device device) {
  const WeightDriver<float>&tested = weight_driver<float>(device), &host = weight_driver<float>(Device{});
  for (const WeightCase::Shape& shape : WeightCase::shapes) {
    CAPTURE(tested.name, shape.rows, shape.columns, shape.padding);
    const WeightCase weights(shape, 2);
    const test::MatrixCase matrix(weights);
    const MeanFieldNoise noise = WeightCase::noise(7);
    test::MatrixCase::Written expected(weights);
    host.draw_matrix(matrix.law(), noise, expected.weights);
    host.pull_back_matrix(matrix.law(), noise, weights.slopes(), 2.5, expected.gradient());
    There<float> mean(matrix.mean, device), left(matrix.log_left, device), right(matrix.log_right, device),
        gradients(weights.gradients, device);
    const test::MatrixCase::Written empty(weights);
    There<float> drawn(empty.weights, device), of_mean(empty.mean, device), of_left(empty.left, device),
        of_right(empty.right, device);
    const VariationalMatrix<float> there{mean.span(), left.span(), right.span(), weights.stride()};
    const MatrixView<const float> slopes{gradients.span().data() + 1, 2, shape.rows * weights.stride()};
    tested.draw_matrix(there, noise, drawn.span());
    tested.pull_back_matrix(there, noise, slopes, 2.5, {of_mean.span(), of_left.span(), of_right.span()});
    test::check_near(drawn.read(), expected.weights);
    test::check_near(of_mean.read(), expected.mean);
    test::check_near(of_left.read(), expected.left);
    test::check_near(of_right.read(), expected.right);
    CHECK(tested.expected_square_of_matrix(there) ==
          Approx(host.expected_square_of_matrix(matrix.law())).epsilon(1e-6));
  }
}

void check_units_and_noise(Device device) {
  const WeightDriver<float>&tested = weight_driver<float>(device), &host = weight_driver<float>(Device{});
  for (const WeightCase::Shape& shape : WeightCase::shapes) {
    CAPTURE(tested.name, shape.rows, shape.columns, shape.padding);
    const WeightCase weights(shape, 2);
    const DroppedUnits units = weights.units();
    WeightCase::Written expected(weights);
    There<float> drawn(expected.weights, device), slope(expected.mean_gradient, device),
        gradients(weights.gradients, device);
    const MatrixView<const float> slopes{gradients.span().data() + 1, 2, shape.rows * weights.stride()};
    for (const auto& [driver, values] :
         {std::pair{&tested, drawn.span()}, std::pair{&host, std::span<float>(expected.weights)}}) {
      driver->drop_units(units, 2, values);
      driver->add_noise(WeightCase::noise(5), 0.25f, units.columns, units.stride, values);
    }
    tested.pull_back_units(units, 2, slopes, slope.span());
    host.pull_back_units(units, 2, weights.slopes(), expected.mean_gradient);
    CHECK((drawn.read() == expected.weights));
    CHECK((slope.read() == expected.mean_gradient));
  }
}

void check_diagonal(Device device) {
  const WeightDriver<float>&tested = weight_driver<float>(device), &host = weight_driver<float>(Device{});
  const std::vector<float> values = numbers_around(0, 20011);
  std::vector<double> diagonal(values.size(), 3);
  There<float> there(values, device);
  There<double> diagonal_there(diagonal, device);
  host.add_squares(values, 0.7, diagonal), tested.add_squares(there.span(), 0.7, diagonal_there.span());
  CHECK((diagonal_there.read() == diagonal));
  CHECK(tested.sum_of_squares_over(there.span(), diagonal_there.span()) ==
        Approx(host.sum_of_squares_over(values, diagonal)).epsilon(1e-12));
}

void check_mixture(Device device) {
  const WeightDriver<float>&tested = weight_driver<float>(device), &host = weight_driver<float>(Device{});
  const ScaleMixture law = test::mixture(1);
  const std::vector<float> weights = numbers_around(1, 5003);
  std::vector<float> expected(weights.size(), 3.0f);
  There<float> there(weights, device), gradient(expected, device);
  double value = 0, found = 0, alone = 0;
  host.add_scale_mixture(law, weights, expected, &value);
  tested.add_scale_mixture(law, there.span(), gradient.span(), &found);
  tested.add_scale_mixture(law, there.span(), {}, &alone);
  CHECK((gradient.read() == expected));
  CHECK(found == Approx(value).epsilon(1e-5));
  CHECK(alone == found);
  tested.add_scale_mixture(law, there.span(), gradient.span(), nullptr);
  host.add_scale_mixture(law, weights, expected, nullptr);
  CHECK((gradient.read() == expected));
  const RowMixture rows{law, {std::log(0.25), std::log(0.75)}, 1000, 1250};  // four rows, and three numbers behind
  const auto four = [](auto numbers) { return std::span(numbers).first(5000); };
  host.add_row_mixture(rows, four(std::span(weights)), four(std::span(expected)), &value);
  tested.add_row_mixture(rows, four(there.span()), four(gradient.span()), &found);
  tested.add_row_mixture(rows, four(there.span()), {}, &alone);
  test::check_near(gradient.read(), expected);
  CHECK(found == Approx(value).epsilon(1e-10));
  CHECK(alone == found);
}

void check_sharpening(Device device) {
  const WeightDriver<float>&tested = weight_driver<float>(device), &host = weight_driver<float>(Device{});
  const std::vector<float> rates = numbers_around(0, 2051), slopes = numbers_around(1, 2051);
  std::vector<float> expected = numbers_around(2, 2051);
  There<float> rates_there(rates, device), slopes_there(slopes, device), moved(expected, device);
  const NoiseKey key{.seed = 3, .step = 4, .stream = Stream::parameterization};
  const SharpenedStretch<float> stretch{rates, slopes}, there{rates_there.span(), slopes_there.span()};
  host.sharpen(test::sharpening_numbers, stretch, key, 5, 3, expected);
  tested.sharpen(test::sharpening_numbers, there, key, 5, 3, moved.span());
  CHECK((moved.read() == expected));
  double value = 1, found = 1;
  std::vector<float> vector(rates.size());
  There<float> vector_there(vector, device);
  host.pull_back_rates(test::sharpening_numbers, stretch, slopes, expected, vector, &value);
  tested.pull_back_rates(test::sharpening_numbers, there, slopes_there.span(), moved.span(), vector_there.span(),
                         &found);
  CHECK((moved.read() == expected));
  CHECK((vector_there.read() == vector));
  CHECK(found == Approx(value).epsilon(1e-10));
  CHECK(value > 1);
}

void check_slab(Device device) {
  const WeightDriver<float>&tested = weight_driver<float>(device), &host = weight_driver<float>(Device{});
  const std::vector<float> weights = numbers_around(0, 20011);
  std::vector<double> wide(weights.size()), rho(weights.size(), 0.3);
  There<float> there(weights, device);
  There<double> wide_there(wide, device), rho_there(rho, device);
  host.widen(weights, wide), tested.widen(there.span(), wide_there.span());
  CHECK((wide_there.read() == wide));
  const SpikeOdds odds{.constant = 0.4, .absolute = 10, .square = 0.05};
  const double sum = host.move_slab_shares(odds, wide, 0.6, rho);
  CHECK(tested.move_slab_shares(odds, wide_there.span(), 0.6, rho_there.span()) == Approx(sum).epsilon(1e-12));
  const std::vector<double> moved = rho_there.read();
  for (std::size_t q = 0; q < rho.size(); ++q) REQUIRE(moved[q] == Approx(rho[q]).epsilon(1e-13));
  const SlabSums sums = host.slab_sums(rho, wide), found = tested.slab_sums(rho_there.span(), wide_there.span());
  CHECK(found.spikes == Approx(sums.spikes).epsilon(1e-12));
  CHECK(found.slabs == Approx(sums.slabs).epsilon(1e-12));
  std::vector<float> slope(weights.size(), 2.0f);
  There<float> slope_there(slope, device);
  There<double> same_rho(rho, device);
  host.add_spike_and_slab(3, 0.25, rho, weights, slope);
  tested.add_spike_and_slab(3, 0.25, same_rho.span(), there.span(), slope_there.span());
  CHECK((slope_there.read() == slope));
}

void check_numbers(Device device) {
  const WeightDriver<float>& tested = weight_driver<float>(device);
  There<float> numbers({1, 2, 3, 4, 5, 6}, device);
  tested.shift(numbers.span().subspan(1, 4), 0.5f);
  tested.scale(numbers.span().subspan(2, 2), 2);
  tested.fill(numbers.span().subspan(5), -1);
  tested.fill({}, 3);
  CHECK(numbers.read() == std::vector<float>{1, 2.5f, 7, 9, 5.5f, -1});
  CHECK(number_at<float>(numbers.span(), 3, device) == 9);
}

void check_driver(Device device) {
  check_mean_field(device);
  check_matrix(device);
  check_units_and_noise(device);
  check_diagonal(device);
  check_mixture(device);
  check_sharpening(device);
  check_slab(device);
  check_numbers(device);
}

}  // namespace

TEST_CASE("the fenced device has the numbers of the host's loops over weights", "[inference][cuda]") {
  check_driver(test::fenced_device());
}

TEST_CASE("a GPU has the bits of the host's loops over weights, and its sums to a few roundings",
          "[inference][cuda][gpu]") {
  check_driver(test::gpu());
}

TEST_CASE("weights in double are refused on a device", "[inference][cuda]") {
  CHECK_ERROR(weight_driver<double>(test::fenced_device()), usage, "on the host only");
}
