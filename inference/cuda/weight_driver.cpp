// The loops over weights on a GPU, registered as "cuda": draws, gradients of means and ρ, slopes of mixtures and what
// sharpening makes have the bits of the SIMD passes and of the host's loops, but those of matrices whose rows and
// columns have scales and of mixtures over rows, for CUDA's exponential. Sums are in double, lane by lane in a
// fixed order, not the host's; logarithms in them and the exponential of the slab's probabilities are CUDA's.
#include <stein/inference/cuda/lane_sums.h>
#include <stein/inference/cuda/scratch.h>
#include <stein/inference/cuda/weight_kernels.h>
#include <stein/inference/weight_driver.h>

namespace stein::inference::cuda {
namespace {

template <class Body>
void for_each(std::int64_t count, const void* memory, const Body& body) {
  if (count == 0) return;
  const CurrentDevice device(device_of(memory));
  for_each_number(count, body, first_stream);
  check(cudaGetLastError(), "start a kernel");
}

template <class Body>
void for_each_group(const NoiseGroups& noise, const void* memory, const Body& body) {
  if (noise.count == 0) return;
  const CurrentDevice device(device_of(memory));
  for_each_noise_group(noise, body, first_stream);
  check(cudaGetLastError(), "start a kernel");
}

/// Σ of a term over `count` numbers.
template <class Term>
double sum_of(std::int64_t count, const void* memory, const Term& term) {
  if (count == 0) return 0;
  const CurrentDevice device(device_of(memory));
  const Scratch<double> sums(static_cast<std::size_t>(sum_blocks(count) * sum_lanes));
  add_up_terms(count, term, sums.data(), first_stream);
  const std::vector<double> lanes = sums.on_host();
  return sum_of_block_lanes(std::span(lanes));
}

void draw(const MeanField<float>& law, const MeanFieldNoise& noise, std::span<float> weights) {
  const MeanFieldRows rows(law, noise);
  for_each_group(rows.noise, weights.data(), DrawWeights{rows, weights.data()});
}

void pull_back(const MeanField<float>& law, const MeanFieldNoise& noise, MatrixView<const float> weight_gradient,
               double precision, std::span<float> mean_gradient, std::span<float> deviation_gradient) {
  const MeanFieldRows rows(law, noise);
  for_each_group(rows.noise, weight_gradient.data,
                 PullBackWeights{rows, weight_gradient, static_cast<float>(precision), mean_gradient.data(),
                                 deviation_gradient.data()});
}

double add_up_log_deviations(const MeanField<float>& law) {
  const float* const rho = law.log_deviation.data();
  return sum_of(law.size(), rho, LogDeviationTerm{rho});
}

double add_up_expected_squares(const MeanField<float>& law) {
  return sum_of(law.size(), law.mean.data(), ExpectedSquareTerm{law.mean.data(), law.log_deviation.data()});
}

void draw_matrix_of(const VariationalMatrix<float>& law, const MeanFieldNoise& noise, std::span<float> weights) {
  const VariationalMatrixRows rows(law, noise);
  for_each_group(rows.noise, weights.data(), DrawMatrix{rows, weights.data()});
}

void pull_back_matrix_of(const VariationalMatrix<float>& law, const MeanFieldNoise& noise,
                         MatrixView<const float> weight_gradient, double precision,
                         const VariationalMatrixGradient<float>& gradient) {
  const VariationalMatrixRows rows(law, noise);
  const void* const memory = weight_gradient.data;
  for_each(std::ssize(law.mean), memory,
           PullBackMatrixMean{rows, weight_gradient, static_cast<float>(precision), gradient.mean.data()});
  for_each(rows.rows, memory, PullBackMatrixScale<true>{rows, weight_gradient, precision, gradient.log_left.data()});
  for_each(rows.columns, memory,
           PullBackMatrixScale<false>{rows, weight_gradient, precision, gradient.log_right.data()});
}

double add_up_squares_of_matrix(const VariationalMatrix<float>& law) {
  const float *mean = law.mean.data(), *left = law.log_left.data(), *right = law.log_right.data();
  return sum_of(law.rows(), left, SquaredScaleTerm{left}) * sum_of(law.columns(), right, SquaredScaleTerm{right}) +
         sum_of(std::ssize(law.mean), mean, SquareTerm{mean});
}

void drop_units_of(const DroppedUnits& units, std::uint32_t draw, std::span<float> weights) {
  const std::int64_t rows = std::ssize(weights) / units.stride;
  for_each(rows * units.columns, weights.data(), DropWeight{units, draw, weights.data()});
}

void pull_back_units_of(const DroppedUnits& units, std::uint32_t first_draw, MatrixView<const float> weight_gradient,
                        std::span<float> gradient) {
  for_each(std::ssize(gradient), gradient.data(), PullBackDropped{units, first_draw, weight_gradient, gradient.data()});
}

void add_noise_to(const MeanFieldNoise& noise, float deviation, std::int64_t columns, std::int64_t stride,
                  std::span<float> weights) {
  const NoiseGroups groups{noise.key, noise.row, noise.first, std::ssize(weights) / stride * columns};
  for_each_group(groups, weights.data(), AddNoise{groups, {columns, stride}, deviation, weights.data()});
}

void add_mixture(const ScaleMixture& law, std::span<const float> weights, std::span<float> gradient, double* sum) {
  if (sum != nullptr) *sum = sum_of(std::ssize(weights), weights.data(), MixtureTerm{law, weights.data()});
  if (!gradient.empty())
    for_each(std::ssize(weights), weights.data(), AddMixture{law, weights.data(), gradient.data()});
}

void add_row_mixture_of(const RowMixture& law, std::span<const float> weights, std::span<float> gradient, double* sum) {
  const std::int64_t rows = std::ssize(weights) / law.stride;
  if (sum != nullptr) *sum = sum_of(rows, weights.data(), RowMixtureTerm{law, weights.data()});
  if (!gradient.empty()) for_each(rows, weights.data(), AddRowMixture{law, weights.data(), gradient.data()});
}

void sharpen_weights(const SharpeningNumbers& numbers, const SharpenedStretch<float>& stretch, const NoiseKey& key,
                     std::uint32_t row, std::uint64_t first, std::span<float> weights) {
  const NoiseGroups noise{key, row, first, std::ssize(weights)};
  for_each_group(
      noise, weights.data(),
      SharpenWeights{SharpeningFloats(numbers), noise, stretch.rates.data(), stretch.slopes.data(), weights.data()});
}

void pull_back_rate(const SharpeningNumbers& numbers, const SharpenedStretch<float>& stretch,
                    std::span<const float> gradient, std::span<float> rate_gradient, std::span<float> vector,
                    double* divergence) {
  const SharpeningFloats floats(numbers);
  const float *rates = stretch.rates.data(), *slopes = stretch.slopes.data();
  const std::int64_t count = std::ssize(stretch.rates);
  if (divergence != nullptr) *divergence += sum_of(count, rates, SharpeningTerm{floats, rates, slopes});
  if (gradient.empty()) return;
  for_each(count, rates, PullBackRate{floats, rates, slopes, gradient.data(), rate_gradient.data(), vector.data()});
}

void widen_numbers(std::span<const float> from, std::span<double> to) {
  for_each(std::ssize(from), from.data(), WidenNumber{from.data(), to.data()});
}

void add_slab_slopes(double spike, double slab, std::span<const double> rho, std::span<const float> weights,
                     std::span<float> gradient) {
  for_each(std::ssize(rho), rho.data(), AddSpikeAndSlab{spike, slab, rho.data(), weights.data(), gradient.data()});
}

double move_shares(const SpikeOdds& odds, std::span<const double> weights, double omega, std::span<double> rho) {
  for_each(std::ssize(rho), rho.data(), MoveSlabShare{odds, weights.data(), omega, rho.data()});
  return sum_of(std::ssize(rho), rho.data(), NumberTerm<double>{rho.data()});
}

SlabSums slab_sums_of(std::span<const double> rho, std::span<const double> weights) {
  const std::int64_t count = std::ssize(rho);
  return {.spikes = sum_of(count, rho.data(), SpikeTerm{rho.data(), weights.data()}),
          .slabs = sum_of(count, rho.data(), SlabTerm{rho.data(), weights.data()})};
}

void spread_numbers(std::span<const float> packed, std::int64_t columns, std::int64_t stride, std::span<float> rows) {
  for_each(std::ssize(rows), rows.data(), SpreadNumber{packed.data(), columns, stride, rows.data()});
}

void pack_sums(MatrixView<const float> spread_rows, std::int64_t columns, std::int64_t stride,
               std::span<float> packed) {
  for_each(std::ssize(packed), packed.data(), PackSum{spread_rows, columns, stride, packed.data()});
}

void fill_numbers(std::span<float> values, float number) {
  if (values.empty()) return;
  const CurrentDevice device(device_of(values.data()));
  fill(values.data(), number, std::ssize(values), first_stream);
  check(cudaGetLastError(), "start a kernel");
}

void shift_numbers(std::span<float> values, float number) {
  for_each(std::ssize(values), values.data(), ShiftNumber{values.data(), number});
}

void scale_numbers(std::span<float> values, float factor) {
  for_each(std::ssize(values), values.data(), ScaleNumber{values.data(), factor});
}

double add_up_numbers(std::span<const float> values) {
  return sum_of(std::ssize(values), values.data(), NumberTerm<float>{values.data()});
}

double add_up_squares_over(std::span<const float> values, std::span<const double> divisors) {
  return sum_of(std::ssize(values), values.data(), SquareOverTerm{values.data(), divisors.data()});
}

void add_squares_to(std::span<const float> values, double factor, std::span<double> sums) {
  for_each(std::ssize(values), values.data(), AddSquare{values.data(), factor, sums.data()});
}

constexpr WeightDriver<float> cuda_weight_driver{.name = "cuda",
                                                 .draw = draw,
                                                 .pull_back = pull_back,
                                                 .sum_of_log_deviations = add_up_log_deviations,
                                                 .sum_of_expected_squares = add_up_expected_squares,
                                                 .draw_matrix = draw_matrix_of,
                                                 .pull_back_matrix = pull_back_matrix_of,
                                                 .expected_square_of_matrix = add_up_squares_of_matrix,
                                                 .drop_units = drop_units_of,
                                                 .pull_back_units = pull_back_units_of,
                                                 .add_noise = add_noise_to,
                                                 .add_scale_mixture = add_mixture,
                                                 .add_row_mixture = add_row_mixture_of,
                                                 .sharpen = sharpen_weights,
                                                 .pull_back_rates = pull_back_rate,
                                                 .widen = widen_numbers,
                                                 .add_spike_and_slab = add_slab_slopes,
                                                 .move_slab_shares = move_shares,
                                                 .slab_sums = slab_sums_of,
                                                 .spread = spread_numbers,
                                                 .pack_sum = pack_sums,
                                                 .fill = fill_numbers,
                                                 .shift = shift_numbers,
                                                 .scale = scale_numbers,
                                                 .sum = add_up_numbers,
                                                 .sum_of_squares_over = add_up_squares_over,
                                                 .add_squares = add_squares_to};

const bool weights_registered = weight_drivers().add("cuda", &cuda_weight_driver);

}  // namespace
}  // namespace stein::inference::cuda
