// What the threads of the CUDA kernels over weights do, run on the host by loops over blocks and threads, against the
// host's driver: the same bits, at addresses that no group is aligned to; sums and the slab's probabilities to
// roundings.
#include <stein/inference/cuda/lane_sums.h>
#include <stein/inference/cuda/mean_field_body.h>
#include <stein/inference/cuda/variational_matrix_body.h>
#include <stein/inference/cuda/weight_body.h>
#include <stein/inference/parameterizations/dropout_pass.h>
#include <stein/inference/priors/scale_mixture_prior.h>
#include <stein/inference/weight_driver.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "inference/cuda/kernel_loops.h"
#include "inference/weight_case.h"

using namespace stein;
using namespace stein::inference;
using test::for_each_index, test::numbers_around, test::WeightCase;

namespace {

const WeightDriver<float>& host() {
  return weight_driver<float>(Device{});
}

template <class Term>
double sum_of(std::int64_t count, const Term& term) {
  std::vector<double> lanes(static_cast<std::size_t>(cuda::sum_blocks(count) * cuda::sum_lanes));
  for_each_index(std::ssize(lanes), cuda::LaneTerms<Term>{term, count, lanes.data()});
  return cuda::sum_of_block_lanes(std::span<const double>(lanes));
}

}  // namespace

TEST_CASE("threads draw mean-field Gaussians and pull gradients back with the bits of the SIMD passes",
          "[inference][cuda][variational][parity]") {
  for (const WeightCase::Shape& shape : WeightCase::shapes) {
    for (const std::uint64_t first : {0, 1, 2, 7}) {
      for (const std::int64_t samples : {1, 3}) {
        const WeightCase weights(shape, samples);
        const MeanFieldNoise noise = WeightCase::noise(first);
        const cuda::MeanFieldRows rows(weights.law(), noise);
        WeightCase::Written expected(weights), found(weights);
        host().draw(weights.law(), noise, expected.weights);
        for_each_index(rows.noise.groups(), cuda::DrawWeights{rows, found.weights.data()});
        host().pull_back(weights.law(), noise, weights.slopes(), 2.5, expected.mean_gradient, expected.rho_gradient);
        for_each_index(
            rows.noise.groups(),
            cuda::PullBackWeights{rows, weights.slopes(), 2.5f, found.mean_gradient.data(), found.rho_gradient.data()});
        CAPTURE(shape.rows, shape.columns, shape.padding, first, samples);
        CHECK((found.weights == expected.weights));
        CHECK((found.mean_gradient == expected.mean_gradient));
        CHECK((found.rho_gradient == expected.rho_gradient));
      }
    }
  }
}

TEST_CASE("threads have the bits of softplus and its slope from tiny to large deviations",
          "[inference][cuda][variational][parity]") {
  WeightCase weights({1, 321, 0}, 1);
  for (std::size_t q = 0; q < 322; ++q) weights.rho[q] = (static_cast<float>(q) - 161) / 2;
  const MeanFieldNoise noise = WeightCase::noise(0);
  WeightCase::Written expected(weights), found(weights);
  host().draw(weights.law(), noise, expected.weights);
  const cuda::MeanFieldRows rows(weights.law(), noise);
  for_each_index(rows.noise.groups(), cuda::DrawWeights{rows, found.weights.data()});
  CHECK((found.weights == expected.weights));
}

TEST_CASE("threads write nothing before and behind a parameter", "[inference][cuda][variational]") {
  const WeightCase weights({1, 9, 0}, 1);
  std::vector<float> written(15, 7.0f), mean(15, 7.0f), rho(15, 7.0f);
  const cuda::MeanFieldRows rows(weights.law(), WeightCase::noise(2));
  for_each_index(rows.noise.groups() + 3, cuda::DrawWeights{rows, written.data() + 3});
  for_each_index(rows.noise.groups() + 3,
                 cuda::PullBackWeights{rows, weights.slopes(), 1, mean.data() + 3, rho.data() + 3});
  for (const std::vector<float>* numbers : {&written, &mean, &rho})
    for (const std::size_t place : {0, 1, 2, 12, 13, 14}) CHECK((*numbers)[place] == 7);
}

TEST_CASE("lanes add up the divergence of mean-field Gaussians in a fixed order", "[inference][cuda][variational]") {
  for (const std::int64_t size : {1, 17, 4096, 4097, 70001}) {
    const WeightCase weights({1, size, 0}, 1);
    const MeanField<float> law = weights.law();
    CAPTURE(size);
    CHECK(sum_of(size, cuda::LogDeviationTerm{law.log_deviation.data()}) ==
          Approx(host().sum_of_log_deviations(law)).epsilon(1e-6));
    CHECK(sum_of(size, cuda::ExpectedSquareTerm{law.mean.data(), law.log_deviation.data()}) ==
          Approx(host().sum_of_expected_squares(law)).epsilon(1e-6));
    CHECK(sum_of(size, cuda::NumberTerm<float>{law.mean.data()}) == Approx(host().sum(law.mean)).epsilon(1e-10));
  }
}

TEST_CASE("threads draw matrices whose rows and columns have scales, and pull gradients back, as the host does",
          "[inference][cuda][variational][parity]") {
  for (const WeightCase::Shape& shape : WeightCase::shapes)
    for (const std::uint64_t first : {0, 2, 7})
      for (const std::int64_t samples : {1, 3}) {
        CAPTURE(shape.rows, shape.columns, shape.padding, first, samples);
        const WeightCase weights(shape, samples);
        const test::MatrixCase matrix(weights);
        const MeanFieldNoise noise = WeightCase::noise(first);
        const cuda::VariationalMatrixRows rows(matrix.law(), noise);
        const MatrixView<const float> slopes = weights.slopes();
        test::MatrixCase::Written expected(weights), found(weights);
        host().draw_matrix(matrix.law(), noise, expected.weights);
        for_each_index(rows.noise.groups(), cuda::DrawMatrix{rows, found.weights.data()});
        host().pull_back_matrix(matrix.law(), noise, slopes, 2.5, expected.gradient());
        for_each_index(rows.noise.count, cuda::PullBackMatrixMean{rows, slopes, 2.5f, found.mean.data()});
        for_each_index(rows.rows, cuda::PullBackMatrixScale<true>{rows, slopes, 2.5, found.left.data()});
        for_each_index(rows.columns, cuda::PullBackMatrixScale<false>{rows, slopes, 2.5, found.right.data()});
        test::check_near(found.weights, expected.weights);
        CHECK((found.mean == expected.mean));
        test::check_near(found.left, expected.left);
        test::check_near(found.right, expected.right);
        const double squares = sum_of(rows.rows, cuda::SquaredScaleTerm{rows.log_left}) *
                                   sum_of(rows.columns, cuda::SquaredScaleTerm{rows.log_right}) +
                               sum_of(rows.noise.count, cuda::SquareTerm{rows.mean});
        CHECK(squares == Approx(host().expected_square_of_matrix(matrix.law())).epsilon(1e-6));
      }
}

TEST_CASE("threads drop units, pull gradients back and add noise with the bits of the host",
          "[inference][cuda][dropout][parity]") {
  for (const WeightCase::Shape& shape : WeightCase::shapes)
    for (const std::int64_t samples : {1, 3}) {
      CAPTURE(shape.rows, shape.columns, shape.padding, samples);
      const WeightCase weights(shape, samples);
      const DroppedUnits units = weights.units();
      const std::int64_t size = shape.rows * shape.columns;
      WeightCase::Written expected(weights), found(weights);
      host().spread(weights.law().mean, units.columns, units.stride, expected.weights);
      found.weights = expected.weights;
      host().drop_units(units, 5, expected.weights);
      for_each_index(size, cuda::DropWeight{units, 5, found.weights.data()});
      host().pull_back_units(units, 5, weights.slopes(), expected.mean_gradient);
      for_each_index(size, cuda::PullBackDropped{units, 5, weights.slopes(), found.mean_gradient.data()});
      CHECK((found.weights == expected.weights));
      CHECK((found.mean_gradient == expected.mean_gradient));
      for (const std::uint64_t first : {0, 3}) {
        const MeanFieldNoise noise = WeightCase::noise(first);
        host().add_noise(noise, 0.3f, units.columns, units.stride, expected.weights);
        const cuda::NoiseGroups groups{noise.key, noise.row, noise.first, size};
        for_each_index(groups.groups() + 1,
                       cuda::AddNoise{groups, {units.columns, units.stride}, 0.3f, found.weights.data()});
        CHECK((found.weights == expected.weights));
      }
    }
}

TEST_CASE("threads add up squares over a diagonal, and add to it", "[inference][cuda]") {
  for (const std::int64_t size : {1, 17, 4097, 70001}) {
    const std::vector<float> values = numbers_around(0, size);
    std::vector<double> diagonal(values.size());
    for (std::size_t q = 0; q < diagonal.size(); ++q) diagonal[q] = 1 + static_cast<double>(q % 7);
    std::vector<double> found = diagonal;
    CAPTURE(size);
    CHECK(sum_of(size, cuda::SquareOverTerm{values.data(), diagonal.data()}) ==
          Approx(host().sum_of_squares_over(values, diagonal)).epsilon(1e-12));
    host().add_squares(values, 0.7, diagonal);
    for_each_index(size, cuda::AddSquare{values.data(), 0.7, found.data()});
    CHECK((found == diagonal));
    CHECK(diagonal[0] == 1 + 0.7 * static_cast<double>(values[0]) * static_cast<double>(values[0]));
  }
}

TEST_CASE("threads have the slope of a scale mixture with the bits of the SIMD pass, and its density",
          "[inference][cuda][scale_mixture_pass][parity]") {
  const ScaleMixture law = test::mixture(GENERATE(0.0, 1.0));
  for (const std::int64_t size : {1, 7, 33, 4099, 70001}) {
    std::vector<float> weights = numbers_around(static_cast<float>(law.centre), size);
    std::vector<float> expected(weights.size(), 3.0f), found = expected;
    double value = 0;
    host().add_scale_mixture(law, weights, expected, &value);
    for_each_index(size, cuda::AddMixture{law, weights.data(), found.data()});
    CAPTURE(law.centre, size);
    CHECK((found == expected));
    CHECK(sum_of(size, cuda::MixtureTerm{law, weights.data()}) == Approx(value).epsilon(1e-5));
  }
}

TEST_CASE("threads have the slope and the density of mixtures over rows", "[inference][cuda][scale_mixture_pass]") {
  const ScaleMixture law = test::mixture(GENERATE(0.0, 1.0));
  for (const WeightCase::Shape& shape : WeightCase::shapes) {
    CAPTURE(law.centre, shape.rows, shape.columns, shape.padding);
    const RowMixture rows{law, {std::log(0.25), std::log(0.75)}, shape.columns, shape.columns + shape.padding};
    const std::vector<float> weights = numbers_around(static_cast<float>(law.centre), shape.rows * rows.stride);
    std::vector<float> expected(weights.size(), 3.0f), found = expected;
    double value = 0;
    host().add_row_mixture(rows, weights, expected, &value);
    for_each_index(shape.rows, cuda::AddRowMixture{rows, weights.data(), found.data()});
    CHECK((found == expected));
    CHECK(sum_of(shape.rows, cuda::RowMixtureTerm{rows, weights.data()}) == Approx(value).epsilon(1e-12));
  }
}

TEST_CASE("threads sharpen weights and pull back rates with the bits of the host", "[inference][cuda][sharpening]") {
  const SharpeningNumbers numbers = test::sharpening_numbers;
  for (const std::int64_t size : {1, 6, 1023, 2051}) {
    for (const std::uint64_t first : {0, 3, 5}) {
      const std::vector<float> rates = numbers_around(0, size), slopes = numbers_around(1, size),
                               gradient = numbers_around(-1, size);
      const SharpenedStretch<float> stretch{rates, slopes};
      std::vector<float> expected = numbers_around(2, size), found = expected;
      const NoiseKey key{.seed = 3, .step = 4, .stream = Stream::parameterization};
      host().sharpen(numbers, stretch, key, 5, first, expected);
      const cuda::NoiseGroups noise{key, 5, first, size};
      for_each_index(noise.groups(), cuda::SharpenWeights{cuda::SharpeningFloats(numbers), noise, rates.data(),
                                                          slopes.data(), found.data()});
      CAPTURE(size, first);
      CHECK((found == expected));
      double divergence = 0;
      std::vector<float> vector(rates.size(), 5.0f), found_vector = vector;
      host().pull_back_rates(numbers, stretch, gradient, expected, vector, &divergence);
      for_each_index(size, cuda::PullBackRate{cuda::SharpeningFloats(numbers), rates.data(), slopes.data(),
                                              gradient.data(), found.data(), found_vector.data()});
      CHECK((found == expected));
      CHECK((found_vector == vector));
      CHECK(sum_of(size, cuda::SharpeningTerm{cuda::SharpeningFloats(numbers), rates.data(), slopes.data()}) ==
            Approx(divergence).epsilon(1e-10));
    }
  }
}

TEST_CASE("threads move the probabilities of the slab and subtract its slopes as the host does",
          "[inference][cuda][spike_and_slab]") {
  for (const std::int64_t size : {1, 17, 4097, 20011}) {
    std::vector<float> weights = numbers_around(0, size);
    weights[0] = 0;
    std::vector<double> wide(weights.size()), again = wide, rho(weights.size(), 0.3), found = rho;
    host().widen(weights, wide);
    for_each_index(size, cuda::WidenNumber{weights.data(), again.data()});
    CHECK((again == wide));
    const SpikeOdds odds{.constant = 0.4, .absolute = 10, .square = 0.05};
    const double sum = host().move_slab_shares(odds, wide, 0.6, rho);
    for_each_index(size, cuda::MoveSlabShare{odds, wide.data(), 0.6, found.data()});
    for (std::size_t q = 0; q < rho.size(); ++q) REQUIRE(found[q] == Approx(rho[q]).epsilon(1e-14));
    const SlabSums sums = host().slab_sums(rho, wide);
    CHECK(sum_of(size, cuda::NumberTerm<double>{rho.data()}) == Approx(sum).epsilon(1e-12));
    CHECK(sum_of(size, cuda::SpikeTerm{rho.data(), wide.data()}) == Approx(sums.spikes).epsilon(1e-12));
    CHECK(sum_of(size, cuda::SlabTerm{rho.data(), wide.data()}) == Approx(sums.slabs).epsilon(1e-12));
    std::vector<float> slope(weights.size(), 2.0f), threads = slope;
    host().add_spike_and_slab(3, 0.25, rho, weights, slope);
    for_each_index(size, cuda::AddSpikeAndSlab{3, 0.25, rho.data(), weights.data(), threads.data()});
    CHECK((threads == slope));
    CHECK(slope[0] == 2);  // of a weight of 0
  }
}

TEST_CASE("threads spread and pack rows, shift and scale as the host does", "[inference][cuda]") {
  for (const WeightCase::Shape& shape : WeightCase::shapes) {
    const std::int64_t columns = shape.columns, stride = columns + shape.padding;
    const std::vector<float> packed = numbers_around(0, shape.rows * columns),
                             slopes = numbers_around(1, 3 * shape.rows * stride);
    std::vector<float> rows(static_cast<std::size_t>(shape.rows * stride), 5.0f), found_rows = rows;
    std::vector<float> sums(packed.size(), 5.0f), found_sums = sums;
    const MatrixView<const float> three{slopes.data(), 3, shape.rows * stride};
    host().spread(packed, columns, stride, rows);
    for_each_index(std::ssize(rows), cuda::SpreadNumber{packed.data(), columns, stride, found_rows.data()});
    host().pack_sum(three, columns, stride, sums);
    for_each_index(std::ssize(sums), cuda::PackSum{three, columns, stride, found_sums.data()});
    CHECK((found_rows == rows));
    CHECK((found_sums == sums));
    host().shift(sums, 0.3f), host().scale(rows, 0.3f);
    for_each_index(std::ssize(sums), cuda::ShiftNumber{found_sums.data(), 0.3f});
    for_each_index(std::ssize(rows), cuda::ScaleNumber{found_rows.data(), 0.3f});
    CHECK((found_rows == rows));
    CHECK((found_sums == sums));
  }
}
