#include <stein/core/component.h>
#include <stein/core/parallel.h>
#include <stein/inference/fused/diffusion_pass.h>
#include <stein/inference/fused/svgd_pass.h>
#include <stein/inference/fused/vector_arithmetic.h>
#include <stein/inference/particles.h>
#include <stein/inference/priors/learned_precision.h>
#include <stein/inference/priors/precision_slopes.h>
#include <stein/inference/samplers/diffusion_pass.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/samplers/stein_move.h>
#include <stein/inference/samplers/svgd_pass.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stein::inference {
namespace {

template <class Scalar>
void draw_row(std::span<Scalar> row, const NoiseKey& key, std::int64_t global_row, double deviation) {
  fill_normal(row, key, static_cast<std::uint32_t>(global_row));
  for (Scalar& value : row) value = static_cast<Scalar>(value * deviation);
}

template <class Scalar>
void draw_in_order(MatrixView<Scalar> rows, const NoiseKey& key, std::int64_t first_row, double deviation) {
  for (std::int64_t i = 0; i < rows.rows; ++i) draw_row(rows.row(i), key, first_row + i, deviation);
}

void draw(MatrixView<float> rows, const NoiseKey& key, std::int64_t first_row, double deviation) {
  parallel_for(rows.rows, [&](std::int64_t i) { draw_row(rows.row(i), key, first_row + i, deviation); });
}

// Loops of the host have been made when they return: nothing is to be watched.

template <class Scalar,
          bool (*ascend)(MatrixView<Scalar>, MatrixView<const Scalar>, OptimizerState<Scalar>&, const OptimizerStep&)>
bool ascend_now(MatrixView<Scalar> values, MatrixView<const Scalar> directions, OptimizerState<Scalar>& state,
                const OptimizerStep& step, MoveWatch*) {
  return ascend(values, directions, state, step);
}

template <class Scalar>
using PairMatrix = void (*)(MatrixView<const Scalar> values, std::span<double> matrix,
                            distributed::Communicator& ranks);
template <class Scalar>
using SteinUpdate = bool (*)(MatrixView<Scalar>, MatrixView<const Scalar>, const KernelWeights&,
                             OptimizerState<Scalar>&, const OptimizerStep&, std::optional<distributed::PartRange>);

template <class Scalar, SteinUpdate<Scalar> stein_update>
bool update_now(MatrixView<Scalar> values, MatrixView<const Scalar> gradients, const KernelWeights& weights,
                OptimizerState<Scalar>& state, const OptimizerStep& step, MoveWatch*) {
  return stein_update(values, gradients, weights, state, step, {});
}

template <class Scalar, PairMatrix<Scalar> pairs>
void pairs_of_one(MatrixView<const Scalar> values, std::span<double> matrix) {
  pairs(values, matrix, distributed::single_process());
}

template <class Scalar, void (*clip)(MatrixView<Scalar>, const GradientClipOptions&)>
void clip_now(MatrixView<Scalar> gradients, const GradientClipOptions& options, MoveWatch*) {
  clip(gradients, options);
}

template <class Scalar>
bool finite_rows(MatrixView<const Scalar> rows) {
  for (std::int64_t i = 0; i < rows.rows; ++i)
    if (!all_finite(rows.row(i))) return false;
  return true;
}

template <class Scalar>
void subtract_in_order(std::span<const Scalar> values, Scalar scale, std::span<Scalar> gradient, double* squares) {
  for (std::size_t q = 0; q < values.size(); ++q) gradient[q] -= scale * values[q];
  if (squares != nullptr) *squares = sum_of_squares(values);
}

void subtract(std::span<const float> values, float scale, std::span<float> gradient, double* squares) {
  const double sum = subtract_scaled(values, scale, gradient);
  if (squares != nullptr) *squares = sum;
}

/// Row by row, run by run. @param subtract  the loop over one run
template <class Scalar, void (*subtract)(std::span<const Scalar>, Scalar, std::span<Scalar>, double*)>
void subtract_each_run(MatrixView<const Scalar> values, std::span<const ScaledRun<Scalar>> runs,
                       MatrixView<Scalar> gradient) {
  for (std::int64_t i = 0; i < values.rows; ++i)
    for (const auto& [first, count, scale] : runs) {
      const auto at = static_cast<std::size_t>(first), size = static_cast<std::size_t>(count);
      subtract(values.row(i).subspan(at, size), scale, gradient.row(i).subspan(at, size), nullptr);
    }
}

/// The same. The sum of squares of a row is that of its runs, one after the other.
template <class Scalar, void (*subtract)(std::span<const Scalar>, Scalar, std::span<Scalar>, double*)>
void add_precision_of_each_row(MatrixView<const Scalar> values, const LearnedPrecision& law,
                               MatrixView<Scalar> gradient) {
  for (std::int64_t i = 0; i < values.rows; ++i) {
    const double precision = std::exp(static_cast<double>(values(i, law.coordinate)));
    Scalar& slope = gradient(i, law.coordinate);
    double square = 0;
    for (const auto& [first, count] : law.runs) {
      const auto at = static_cast<std::size_t>(first), size = static_cast<std::size_t>(count);
      double own = 0;
      subtract(values.row(i).subspan(at, size), static_cast<Scalar>(precision), gradient.row(i).subspan(at, size),
               &own);
      square += own;
    }
    if (!law.runs.empty())
      slope += static_cast<Scalar>(log_precision_slope(static_cast<double>(law.variables), precision, square));
    slope += static_cast<Scalar>(log_gamma_slope(law.gamma.gamma_shape, law.gamma.gamma_rate, precision));
  }
}

template <class Scalar>
void add_products_in_order(std::span<const Scalar> a, std::span<const Scalar> b, double& sum) {
  for (std::size_t q = 0; q < a.size(); ++q) sum += static_cast<double>(a[q]) * static_cast<double>(b[q]);
}

/// Moves the rows of this rank by their weights, and brings those of the others.
template <class Scalar, SteinUpdate<Scalar> stein_update>
bool update_together(const SteinMove<Scalar>& move) {
  std::vector<std::uint8_t> finite(static_cast<std::size_t>(move.values.rows));
  const auto whether = [&](std::int64_t i) { return std::span(finite).subspan(static_cast<std::size_t>(i), 1); };
  distributed::share_work(
      move.ranks, move.values.rows,
      [&](distributed::PartRange own) {
        const bool all = stein_update(move.values, move.gradients, move.weights, move.state, move.step, own);
        for (std::int64_t i = own.first; i < own.end; ++i) whether(i).front() = all ? 1 : 0;
      },
      [&](std::int64_t i, std::string& message) {
        distributed::write_numbers(whether(i), message);
        distributed::write_numbers(move.values.row(i), message);
      },
      [&](std::int64_t i, std::string_view& message) {
        distributed::read_numbers(message, whether(i));
        distributed::read_numbers(message, move.values.row(i));
      });
  return std::ranges::all_of(finite, [](std::uint8_t each) { return each != 0; });
}

/// A move as its parts, one after the other.
template <class Scalar, PairMatrix<Scalar> squared_distances, PairMatrix<Scalar> inner_products,
          SteinUpdate<Scalar> stein_update>
bool move_by_parts(const SteinMove<Scalar>& move) {
  const MatrixView<const Scalar> positions = move.values;
  (move.kernel.kernel == SvgdKernel::linear ? inner_products : squared_distances)(positions, move.distances,
                                                                                  move.ranks);
  kernel_weights(move.kernel, move.distances, positions.rows, move.weights);
  if (move.ranks.size() > 1) return update_together<Scalar, stein_update>(move);
  return stein_update(move.values, move.gradients, move.weights, move.state, move.step, {});
}

template <class Scalar>
constexpr Driver<Scalar> reference_driver{
    .name = "reference",
    .diffuse = reference::diffuse<Scalar>,
    .ascend = ascend_now<Scalar, reference::ascend<Scalar>>,
    .stein_update = update_now<Scalar, reference::stein_update<Scalar>>,
    .stein_move = move_by_parts<Scalar, reference::squared_distances<Scalar>, reference::inner_products<Scalar>,
                                reference::stein_update<Scalar>>,
    .squared_distances = pairs_of_one<Scalar, reference::squared_distances<Scalar>>,
    .inner_products = pairs_of_one<Scalar, reference::inner_products<Scalar>>,
    .draw = draw_in_order<Scalar>,
    .clip = clip_now<Scalar, reference::clip_rows<Scalar>>,
    .all_finite = finite_rows<Scalar>,
    .hold = zero_where_held<Scalar>,
    .subtract_scaled = subtract_in_order<Scalar>,
    .subtract_runs = subtract_each_run<Scalar, subtract_in_order<Scalar>>,
    .add_learned_precision = add_precision_of_each_row<Scalar, subtract_in_order<Scalar>>,
    .sum_of_squares = sum_of_squares,
    .add_products = add_products_in_order<Scalar>};

constexpr Driver<float> simd_driver{
    .name = "simd",
    .diffuse = fused::diffuse,
    .ascend = ascend_now<float, fused::ascend>,
    .stein_update = update_now<float, fused::stein_update>,
    .stein_move = move_by_parts<float, fused::squared_distances, fused::inner_products, fused::stein_update>,
    .squared_distances = pairs_of_one<float, fused::squared_distances>,
    .inner_products = pairs_of_one<float, fused::inner_products>,
    .draw = draw,
    .clip = clip_now<float, fused::clip_rows>,
    .all_finite = finite_rows<float>,
    .hold = zero_where_held<float>,
    .subtract_scaled = subtract,
    .subtract_runs = subtract_each_run<float, subtract>,
    .add_learned_precision = add_precision_of_each_row<float, subtract>,
    .sum_of_squares = sum_of_squares,
    .add_products = add_products_in_order<float>};

}  // namespace

Registry<const Driver<float>*>& device_drivers() {
  static Registry<const Driver<float>*> registry("driver of a device");
  return registry;
}

template <>
const Driver<float>& driver(const Ensemble& ensemble) {
  if (ensemble.device.kind == Device::Kind::fenced) return *device_drivers().at("fenced");
  if (ensemble.device.kind == Device::Kind::cuda) {
    load_component("cuda");
    return *device_drivers().at("cuda");
  }
  return ensemble.arithmetic == Arithmetic::fused ? simd_driver : reference_driver<float>;
}

template <>
const Driver<double>& driver(const Ensemble& ensemble) {
  STEIN_CHECK(ensemble.device.kind == Device::Kind::host,
              "a sampler in double moves particles on the host only; on a device take floats");
  return reference_driver<double>;
}

}  // namespace stein::inference
