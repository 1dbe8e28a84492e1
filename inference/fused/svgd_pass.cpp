#include <stein/core/parallel.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/scratch.h>
#include <stein/inference/fused/svgd_pass.h>

#include <algorithm>
#include <vector>

#ifndef STEIN_INFERENCE_FUSED_SVGD_PASS_UPDATE_  // this file is compiled once a target
#define STEIN_INFERENCE_FUSED_SVGD_PASS_UPDATE_
namespace stein::inference {

/// What one update of a column block needs, in float.
struct Update {
  MatrixView<float> values;
  MatrixView<const float> gradients;
  MatrixView<float> mean, square;  ///< data null where the optimizer keeps none
  const KernelWeights* weights;    ///< null: every row climbs along its own gradient
  const float* gradient_weights;   ///< [M·M]
  const float* own_weights;        ///< [M]
  const float* position_weights;   ///< [M·M] or null
  OptimizerMethod method;
  OptimizerStep step;
};

}  // namespace stein::inference
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/svgd_pass.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/inference/fused/gemm-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

struct GramScratch;
struct UpdateScratch;

/// Four rows times three of the lower triangle: twelve sums of `lanes` partial products each, kept between column
/// chunks.
constexpr std::int64_t tile_rows = 4, tile_columns = 3, tile_sums = tile_rows * tile_columns;
constexpr std::int64_t gram_chunk = 512;

template <int R, int C>
HWY_INLINE void gram_tile(const float* rows, const float* columns, std::int64_t chunk, float* sums) {
  const FloatTag d;
  FloatVector sum[R][C];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) sum[r][c] = hn::Load(d, sums + (r * C + c) * lanes);
  for (std::int64_t q = 0; q < chunk; q += lanes) {
    FloatVector column[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) column[c] = hn::Load(d, columns + c * gram_chunk + q);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const FloatVector row = hn::Load(d, rows + r * gram_chunk + q);
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) sum[r][c] = hn::MulAdd(row, column[c], sum[r][c]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) hn::Store(sum[r][c], d, sums + (r * C + c) * lanes);
}

/// Copies columns first … first + chunk of all rows into `copy` [rows, gram_chunk], minus their mean over rows if
/// `centred`.
HWY_INLINE void copy_chunk(const MatrixView<const float>& values, std::int64_t first, std::int64_t chunk, bool centred,
                           float* copy) {
  const FloatTag d;
  const FloatVector share = hn::Set(d, 1.0f / static_cast<float>(values.rows));
  for (std::int64_t q = 0; q < chunk; q += lanes) {
    FloatVector mean = hn::Zero(d);
    if (centred) {
      for (std::int64_t i = 0; i < values.rows; ++i)
        mean = hn::Add(mean, hn::LoadU(d, values.data + i * values.stride + first + q));
      mean = hn::Mul(mean, share);
    }
    for (std::int64_t i = 0; i < values.rows; ++i)
      hn::Store(hn::Sub(hn::LoadU(d, values.data + i * values.stride + first + q), mean), d, copy + i * gram_chunk + q);
  }
}

/// Adds the inner products of columns begin … end to the lower triangle of `gram` [rows·rows].
void gram_block(const MatrixView<const float>& values, std::int64_t begin, std::int64_t end, bool centred,
                double* gram) {
  const std::int64_t rows = values.rows;
  const std::int64_t row_tiles = (rows + tile_rows - 1) / tile_rows,
                     column_tiles = (rows + tile_columns - 1) / tile_columns;
  const std::int64_t copy_size = (row_tiles * tile_rows + tile_columns) * gram_chunk;
  float* const copy = fused::scratch<GramScratch>(copy_size + row_tiles * column_tiles * tile_sums * lanes);
  float* const sums = copy + copy_size;
  std::fill(copy, sums, 0.0f);
  std::fill(sums, sums + row_tiles * column_tiles * tile_sums * lanes, 0.0f);
  for (std::int64_t first = begin; first < end; first += gram_chunk) {
    const std::int64_t chunk = padded(std::min(gram_chunk, end - first));
    copy_chunk(values, first, chunk, centred, copy);
    for (std::int64_t r = 0; r < row_tiles; ++r)
      for (std::int64_t c = 0; c < column_tiles && c * tile_columns < (r + 1) * tile_rows; ++c)
        gram_tile<tile_rows, tile_columns>(copy + r * tile_rows * gram_chunk, copy + c * tile_columns * gram_chunk,
                                           chunk, sums + (r * column_tiles + c) * tile_sums * lanes);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const std::int64_t tile = i / tile_rows * column_tiles + j / tile_columns;
      const float* partial = sums + (tile * tile_sums + i % tile_rows * tile_columns + j % tile_columns) * lanes;
      double sum = 0;
      for (std::int64_t lane = 0; lane < lanes; ++lane) sum += partial[lane];
      gram[i * rows + j] += sum;
    }
  }
}

/// Moves `size` coordinates of one row along `direction`.
template <OptimizerMethod method>
HWY_INLINE void ascend_row(const Update& update, std::int64_t row, std::int64_t first, std::int64_t size,
                           const float* direction) {
  const FloatTag d;
  const FloatVector h = hn::Set(d, static_cast<float>(update.step.step_size));
  const FloatVector mu = hn::Set(d, static_cast<float>(update.step.momentum));
  const FloatVector beta = hn::Set(d, static_cast<float>(update.step.square_decay));
  const FloatVector correction = hn::Set(d, static_cast<float>(update.step.square_correction));
  const FloatVector epsilon = hn::Set(d, static_cast<float>(update.step.epsilon)), one = hn::Set(d, 1.0f);
  float* const value = update.values.data + row * update.values.stride + first;
  float* const mean = update.mean.data + row * update.mean.stride + first;
  float* const square = update.square.data + row * update.square.stride + first;
  for (std::int64_t q = 0; q < size; q += lanes) {
    const FloatVector g = hn::LoadU(d, direction + q), x = hn::LoadU(d, value + q);
    FloatVector m = g, v = one;
    if constexpr (method == OptimizerMethod::sgd) m = hn::MulAdd(mu, hn::LoadU(d, mean + q), g);
    if constexpr (method == OptimizerMethod::adam)
      m = hn::MulAdd(mu, hn::LoadU(d, mean + q), hn::Mul(hn::Sub(one, mu), g));
    if constexpr (method != OptimizerMethod::rmsprop) hn::StoreU(m, d, mean + q);
    if constexpr (method == OptimizerMethod::sgd) {
      hn::StoreU(hn::MulAdd(h, m, x), d, value + q);
    } else {
      v = hn::MulAdd(beta, hn::LoadU(d, square + q), hn::Mul(hn::Sub(one, beta), hn::Mul(g, g)));
      hn::StoreU(v, d, square + q);
      const FloatVector root = hn::MulAdd(hn::Sqrt(v), correction, epsilon);
      hn::StoreU(hn::Add(x, hn::Div(hn::Mul(h, m), root)), d, value + q);
    }
  }
}

/// Columns begin … end of the update.
template <OptimizerMethod method>
void update_columns(const Update& update, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t chunk = 128;
  const FloatTag d;
  const std::int64_t rows = update.values.rows;
  if (update.weights == nullptr) {
    for (std::int64_t i = 0; i < rows; ++i)
      ascend_row<method>(update, i, begin, padded(end - begin),
                         update.gradients.data + i * update.gradients.stride + begin);
    return;
  }
  float* const mixed = fused::scratch<UpdateScratch>(3 * rows * chunk);
  float* const centred = mixed + rows * chunk;
  float* const direction = centred + rows * chunk;
  const FloatVector shift = hn::Set(d, static_cast<float>(update.weights->shift));
  const FloatVector share = hn::Set(d, update.weights->translation_invariant ? 1.0f / static_cast<float>(rows) : 0.0f);
  for (std::int64_t first = begin; first < end; first += chunk) {
    const std::int64_t size = padded(std::min(chunk, end - first));
    const float* const x = update.values.data + first;
    for (std::int64_t q = 0; q < size; q += lanes) {
      // Differences of nearly equal positions times 2/h: centred on the mean particle they keep their digits.
      FloatVector mean = hn::Zero(d);
      for (std::int64_t i = 0; i < rows; ++i) mean = hn::Add(mean, hn::LoadU(d, x + i * update.values.stride + q));
      mean = hn::Mul(mean, share);
      for (std::int64_t i = 0; i < rows; ++i) {
        const FloatVector position = hn::Sub(hn::LoadU(d, x + i * update.values.stride + q), mean);
        const FloatVector gradient = hn::LoadU(d, update.gradients.data + i * update.gradients.stride + first + q);
        const FloatVector own = hn::Set(d, update.own_weights[i]);
        hn::Store(position, d, centred + i * chunk + q);
        hn::Store(hn::MulAdd(shift, position, gradient), d, mixed + i * chunk + q);
        hn::Store(hn::Mul(own, position), d, direction + i * chunk + q);
      }
    }
    product<Start::add_to_c>({.m = rows,
                              .n = size,
                              .k = rows,
                              .a = {update.gradient_weights, rows, 1},
                              .b = mixed,
                              .b_stride = chunk,
                              .c = direction,
                              .c_stride = chunk});
    if (update.position_weights != nullptr)
      product<Start::add_to_c>({.m = rows,
                                .n = size,
                                .k = rows,
                                .a = {update.position_weights, rows, 1},
                                .b = centred,
                                .b_stride = chunk,
                                .c = direction,
                                .c_stride = chunk});
    for (std::int64_t i = 0; i < rows; ++i) ascend_row<method>(update, i, first, size, direction + i * chunk);
  }
}

void update_block(const Update& update, std::int64_t begin, std::int64_t end) {
  switch (update.method) {
    case OptimizerMethod::sgd: return update_columns<OptimizerMethod::sgd>(update, begin, end);
    case OptimizerMethod::rmsprop: return update_columns<OptimizerMethod::rmsprop>(update, begin, end);
    case OptimizerMethod::adam: return update_columns<OptimizerMethod::adam>(update, begin, end);
  }
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(gram_block);
HWY_EXPORT(update_block);

namespace fused {
namespace {

constexpr std::int64_t block_columns = 4096;  // fixed, whatever the number of threads

void gram(MatrixView<const float> values, bool centred, std::span<double> result) {
  const std::int64_t rows = values.rows, blocks = (values.columns + block_columns - 1) / block_columns;
  thread_local std::vector<double> partial;
  std::vector<double>& sums = partial;  // the caller's, also inside the tasks
  sums.assign(static_cast<std::size_t>(blocks * rows * rows), 0);
  parallel_blocks(values.columns, block_columns, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(gram_block)(values, begin, end, centred, sums.data() + begin / block_columns * rows * rows);
  });
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::int64_t block = 0; block < blocks; ++block) sum += sums[(block * rows + i) * rows + j];
      result[i * rows + j] = result[j * rows + i] = sum;
    }
  }
}

void run(const Update& update) {
  parallel_blocks(update.values.columns, block_columns, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(update_block)(update, begin, end);
  });
}

/// The matrix of weights in float, in memory of this thread.
const float* in_float(const std::vector<double>& weights, std::vector<float>& copy) {
  copy.assign(weights.begin(), weights.end());
  return copy.data();
}

}  // namespace

void squared_distances(MatrixView<const float> values, std::span<double> distances) {
  gram(values, true, distances);
  const std::int64_t rows = values.rows;
  thread_local std::vector<double> squares;
  squares.resize(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) squares[i] = distances[i * rows + i];
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < rows; ++j)
      distances[i * rows + j] = i == j ? 0 : std::max(0.0, squares[i] + squares[j] - 2 * distances[i * rows + j]);
}

void inner_products(MatrixView<const float> values, std::span<double> products) {
  gram(values, false, products);
}

void stein_update(MatrixView<float> values, MatrixView<const float> gradients, const KernelWeights& weights,
                  OptimizerState<float>& state) {
  thread_local std::vector<float> gradient_weights, own_weights, position_weights;
  run({.values = values,
       .gradients = gradients,
       .mean = state.mean(),
       .square = state.square(),
       .weights = &weights,
       .gradient_weights = in_float(weights.gradient, gradient_weights),
       .own_weights = in_float(weights.own, own_weights),
       .position_weights = weights.position.empty() ? nullptr : in_float(weights.position, position_weights),
       .method = state.options().method,
       .step = state.advance()});
}

void ascend(MatrixView<float> values, MatrixView<const float> directions, OptimizerState<float>& state) {
  run({.values = values,
       .gradients = directions,
       .mean = state.mean(),
       .square = state.square(),
       .weights = nullptr,
       .gradient_weights = nullptr,
       .own_weights = nullptr,
       .position_weights = nullptr,
       .method = state.options().method,
       .step = state.advance()});
}

}  // namespace fused
}  // namespace stein::inference
#endif
