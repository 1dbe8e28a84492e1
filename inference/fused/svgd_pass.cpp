#include <stein/core/parallel.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/scratch.h>
#include <stein/inference/fused/svgd_pass.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
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
  distributed::PartRange moved;  ///< rows that climb along the Stein direction
};

constexpr std::int64_t tile_rows = 4;

/// Rows of tiles of the lower triangle of a matrix of pairs, some parts of which a rank makes. A part is a short row of
/// tiles and a long one, so all are alike.
struct TileRows {
  std::int64_t rows;  ///< of the matrix
  std::int64_t count = (rows + tile_rows - 1) / tile_rows;
  distributed::PartRange made{0, parts()};

  constexpr std::int64_t parts() const { return (count + 1) / 2; }
  constexpr std::int64_t part_of(std::int64_t tile_row) const { return std::min(tile_row, count - 1 - tile_row); }
  constexpr bool makes(std::int64_t tile_row) const {
    return made.first <= part_of(tile_row) && part_of(tile_row) < made.end;
  }
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
constexpr std::int64_t tile_columns = 3, tile_sums = tile_rows * tile_columns;
constexpr std::int64_t gram_chunk = 256;                // 24 rows of it fit the first-level cache:
constexpr std::int64_t near_tiles = 24 / tile_columns;  // those of as many tiles, which all rows meet in turn

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

/// Copies columns first … first + chunk of all rows into `copy` [rows, gram_chunk], minus those of row `origin_row`
/// unless that is negative.
HWY_INLINE void copy_chunk(const MatrixView<const float>& values, std::int64_t first, std::int64_t chunk,
                           std::int64_t origin_row, float* copy) {
  const FloatTag d;
  const bool relative = origin_row >= 0;
  const float* const origin = values.data + first + std::max<std::int64_t>(origin_row, 0) * values.stride;
  for (std::int64_t i = 0; i < values.rows; ++i) {
    const float* const row = values.data + first + i * values.stride;
    float* const to = copy + i * gram_chunk;
    for (std::int64_t q = 0; q < chunk; q += lanes) {
      const FloatVector value = hn::LoadU(d, row + q);
      hn::Store(relative ? hn::Sub(value, hn::LoadU(d, origin + q)) : value, d, to + q);
    }
  }
}

/// Adds the inner products of columns begin … end to some rows of the lower triangle of `gram` [rows·rows].
void gram_block(const MatrixView<const float>& values, std::int64_t begin, std::int64_t end, std::int64_t origin_row,
                const TileRows& tiles, double* gram) {
  const std::int64_t rows = values.rows;
  const std::int64_t row_tiles = tiles.count, column_tiles = (rows + tile_columns - 1) / tile_columns;
  const std::int64_t copy_size = (row_tiles * tile_rows + tile_columns) * gram_chunk;
  float* const copy = fused::scratch<GramScratch>(copy_size + row_tiles * column_tiles * tile_sums * lanes);
  float* const sums = copy + copy_size;
  std::fill(copy, sums, 0.0f);
  std::fill(sums, sums + row_tiles * column_tiles * tile_sums * lanes, 0.0f);
  for (std::int64_t first = begin; first < end; first += gram_chunk) {
    const std::int64_t chunk = padded(std::min(gram_chunk, end - first));
    copy_chunk(values, first, chunk, origin_row, copy);
    for (std::int64_t near = 0; near < column_tiles; near += near_tiles) {
      const std::int64_t last = std::min(near + near_tiles, column_tiles);
      for (std::int64_t r = near * tile_columns / tile_rows; r < row_tiles; ++r) {
        if (!tiles.makes(r)) continue;
        for (std::int64_t c = near; c < last && c * tile_columns < (r + 1) * tile_rows; ++c)
          gram_tile<tile_rows, tile_columns>(copy + r * tile_rows * gram_chunk, copy + c * tile_columns * gram_chunk,
                                             chunk, sums + (r * column_tiles + c) * tile_sums * lanes);
      }
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    if (!tiles.makes(i / tile_rows)) continue;
    for (std::int64_t j = 0; j <= i; ++j) {
      const std::int64_t tile = i / tile_rows * column_tiles + j / tile_columns;
      const float* partial = sums + (tile * tile_sums + i % tile_rows * tile_columns + j % tile_columns) * lanes;
      double sum = 0;
      for (std::int64_t lane = 0; lane < lanes; ++lane) sum += partial[lane];
      gram[i * rows + j] += sum;
    }
  }
}

/// ‖a − b‖² of `size` numbers, rounded up to whole vectors; float in lanes, which are added up in double every 4,096.
double distance(const float* a, const float* b, std::int64_t size) {
  constexpr std::int64_t block = 4096;
  const FloatTag d;
  double total = 0;
  for (std::int64_t first = 0; first < size; first += block) {
    FloatVector sum = hn::Zero(d);
    for (std::int64_t q = first; q < std::min(first + block, size); q += lanes) {
      const FloatVector apart = hn::Sub(hn::LoadU(d, a + q), hn::LoadU(d, b + q));
      sum = hn::MulAdd(apart, apart, sum);
    }
    float partial[lanes];
    hn::StoreU(sum, d, partial);
    for (const float part : partial) total += static_cast<double>(part);
  }
  return total;
}

/// The numbers of one optimizer step as vectors.
struct StepVectors {
  explicit HWY_INLINE StepVectors(const OptimizerStep& step) {
    const auto set = [](double value) { return hn::Set(FloatTag(), static_cast<float>(value)); };
    step_size = set(step.step_size);
    momentum = set(step.momentum);
    square_decay = set(step.square_decay);
    rest_momentum = hn::Sub(set(1), momentum);
    rest_square = hn::Sub(set(1), square_decay);
    square_correction = set(step.square_correction);
    epsilon = set(step.epsilon);
  }
  FloatVector step_size, momentum, square_decay, rest_momentum, rest_square, square_correction, epsilon;
};

/// Moves `lanes` coordinates from x along `direction`, the operations of update_coordinate in optimizer_step.h; returns
/// where they are then. `averages` says whether there is a mean of directions.
template <OptimizerMethod method, bool averages>
HWY_INLINE FloatVector ascend_vector(const StepVectors& step, FloatVector direction, FloatVector x, float* mean,
                                     float* square) {
  const FloatTag d;
  FloatVector m = direction;
  if constexpr (method == OptimizerMethod::sgd && averages)
    m = hn::MulAdd(step.momentum, hn::LoadU(d, mean), direction);
  if constexpr (method == OptimizerMethod::adam)
    m = hn::MulAdd(step.momentum, hn::LoadU(d, mean), hn::Mul(step.rest_momentum, direction));
  if constexpr (averages) hn::StoreU(m, d, mean);
  if constexpr (method == OptimizerMethod::sgd) {
    return hn::MulAdd(step.step_size, m, x);
  } else {
    const FloatVector v =
        hn::MulAdd(step.square_decay, hn::LoadU(d, square), hn::Mul(step.rest_square, hn::Mul(direction, direction)));
    hn::StoreU(v, d, square);
    const FloatVector root = hn::MulAdd(hn::Sqrt(v), step.square_correction, step.epsilon);
    return hn::Add(x, hn::Div(hn::Mul(step.step_size, m), root));
  }
}

/// Whether numbers that were stored are all finite: x − x is 0 for those and no number for the others.
class FiniteCheck {
 public:
  HWY_INLINE FiniteCheck() : sum_(hn::Zero(FloatTag())) {}
  HWY_INLINE void add(FloatVector x) { sum_ = hn::Add(sum_, hn::Sub(x, x)); }
  HWY_INLINE bool passed() const { return hn::GetLane(hn::SumOfLanes(FloatTag(), sum_)) == 0; }

 private:
  FloatVector sum_;
};

/// Columns begin … end of the update, where every row climbs along its own gradient. Whether they are finite after it.
template <OptimizerMethod method, bool averages>
bool ascend_columns(const Update& update, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const StepVectors step(update.step);
  FiniteCheck finite;
  for (std::int64_t i = 0; i < update.values.rows; ++i) {
    float* const value = update.values.data + i * update.values.stride;
    float* const mean = update.mean.data + i * update.mean.stride;
    float* const square = update.square.data + i * update.square.stride;
    const float* const gradient = update.gradients.data + i * update.gradients.stride;
    for (std::int64_t q = begin; q < end; q += lanes) {
      const FloatVector moved = ascend_vector<method, averages>(step, hn::LoadU(d, gradient + q),
                                                                hn::LoadU(d, value + q), mean + q, square + q);
      hn::StoreU(moved, d, value + q);
      finite.add(moved);
    }
  }
  return finite.passed();
}

/// C = A·B (+ C) for `count` rows of a square A of `rows`, in slices of B that stay in the first-level cache; the order
/// of the sums is that of one product.
// NOLINTNEXTLINE(readability-non-const-parameter): written by vector stores
HWY_INLINE void weigh(const float* weights, std::int64_t count, std::int64_t rows, const float* b, float* c,
                      std::int64_t columns, std::int64_t stride, bool add) {
  constexpr std::int64_t slice = 256;  // times a panel of a few vectors
  for (std::int64_t first = 0; first < rows; first += slice) {
    const Product part{.m = count,
                       .n = columns,
                       .k = std::min(slice, rows - first),
                       .a = {weights + first, rows, 1},
                       .b = b + first * stride,
                       .b_stride = stride,
                       .c = c,
                       .c_stride = stride};
    add || first > 0 ? product<Start::add_to_c>(part) : product<Start::zero>(part);
  }
}

/// Columns begin … end of the update along the Stein direction. Whether they are finite after it.
template <OptimizerMethod method, bool averages>
bool stein_columns(const Update& update, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const std::int64_t rows = update.values.rows, moved = update.moved.first, count = update.moved.end - moved;
  // Columns at a time: few enough for the second-level cache. Rows of them start in different places of the first-level
  // one, which a stride of a power of two would not give.
  const std::int64_t chunk = rows <= 128 ? 240 : 96, stride = chunk + 16;
  float* const mixed = fused::scratch<UpdateScratch>((3 * rows + 1) * stride);
  float* const position = mixed + rows * stride;
  float* const direction = position + rows * stride;
  float* const origin = direction + rows * stride;
  const StepVectors step(update.step);
  const FloatVector shift = hn::Set(d, static_cast<float>(update.weights->shift));
  const bool relative = update.weights->translation_invariant;
  FiniteCheck finite;
  for (std::int64_t first = begin; first < end; first += chunk) {
    const std::int64_t size = padded(std::min(chunk, end - first));
    // Differences of nearly equal positions times 2/h: relative to a particle in their middle they keep their digits.
    const float* const middle = update.values.data + update.weights->middle * update.values.stride + first;
    for (std::int64_t q = 0; q < size; q += lanes)
      hn::Store(relative ? hn::LoadU(d, middle + q) : hn::Zero(d), d, origin + q);
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* const value = update.values.data + i * update.values.stride + first;
      const float* const gradient = update.gradients.data + i * update.gradients.stride + first;
      for (std::int64_t q = 0; q < size; q += lanes) {
        const FloatVector x = hn::Sub(hn::LoadU(d, value + q), hn::Load(d, origin + q));
        hn::Store(hn::MulAdd(shift, x, hn::LoadU(d, gradient + q)), d, mixed + i * stride + q);
        if (update.position_weights != nullptr) hn::Store(x, d, position + i * stride + q);
      }
    }
    weigh(update.gradient_weights + moved * rows, count, rows, mixed, direction, size, stride, false);
    if (update.position_weights != nullptr)
      weigh(update.position_weights + moved * rows, count, rows, position, direction, size, stride, true);
    for (std::int64_t i = moved; i < update.moved.end; ++i) {
      float* const value = update.values.data + i * update.values.stride + first;
      float* const mean = update.mean.data + i * update.mean.stride + first;
      float* const square = update.square.data + i * update.square.stride + first;
      const FloatVector own = hn::Set(d, update.own_weights[i]);
      for (std::int64_t q = 0; q < size; q += lanes) {
        const FloatVector x = hn::LoadU(d, value + q), from_origin = hn::Sub(x, hn::Load(d, origin + q));
        const FloatVector along = hn::MulAdd(own, from_origin, hn::Load(d, direction + (i - moved) * stride + q));
        const FloatVector to = ascend_vector<method, averages>(step, along, x, mean + q, square + q);
        hn::StoreU(to, d, value + q);
        finite.add(to);
      }
    }
  }
  return finite.passed();
}

template <OptimizerMethod method, bool averages>
bool update_columns(const Update& update, std::int64_t begin, std::int64_t end) {
  return update.weights == nullptr ? ascend_columns<method, averages>(update, begin, end)
                                   : stein_columns<method, averages>(update, begin, end);
}

bool update_block(const Update& update, std::int64_t begin, std::int64_t end) {
  switch (update.method) {
    case OptimizerMethod::sgd:
      return update.mean.data != nullptr ? update_columns<OptimizerMethod::sgd, true>(update, begin, end)
                                         : update_columns<OptimizerMethod::sgd, false>(update, begin, end);
    case OptimizerMethod::rmsprop: return update_columns<OptimizerMethod::rmsprop, false>(update, begin, end);
    case OptimizerMethod::adam: return update_columns<OptimizerMethod::adam, true>(update, begin, end);
  }
  return false;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(gram_block);
HWY_EXPORT(update_block);
HWY_EXPORT(distance);

namespace fused {
namespace {

constexpr std::int64_t block_columns = 4096;  // fixed, whatever the number of threads

/// Blocks of columns are summed in groups of neighbours, so many that the partial sums of many particles stay small.
/// The split depends on the shape alone.
void gram_rows(MatrixView<const float> values, std::int64_t origin_row, const TileRows& tiles,
               std::span<double> result) {
  constexpr std::int64_t most_partial_sums = std::int64_t{1} << 23;
  const std::int64_t rows = values.rows, blocks = (values.columns + block_columns - 1) / block_columns;
  const std::int64_t most_groups = std::max<std::int64_t>(1, most_partial_sums / (rows * rows));
  const std::int64_t group_columns = block_columns * ((blocks + most_groups - 1) / most_groups);
  const std::int64_t groups = (values.columns + group_columns - 1) / group_columns;
  thread_local std::vector<double> partial;
  std::vector<double>& sums = partial;  // the caller's, also inside the tasks
  sums.assign(static_cast<std::size_t>(groups * rows * rows), 0);
  parallel_blocks(values.columns, group_columns, [&](std::int64_t begin, std::int64_t end) {
    double* const own = sums.data() + begin / group_columns * rows * rows;
    for (std::int64_t block = begin; block < end; block += block_columns)
      HWY_DYNAMIC_DISPATCH(gram_block)(values, block, std::min(block + block_columns, end), origin_row, tiles, own);
  });
  for (std::int64_t i = 0; i < rows; ++i) {
    if (!tiles.makes(i / tile_rows)) continue;
    for (std::int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::int64_t group = 0; group < groups; ++group) sum += sums[(group * rows + i) * rows + j];
      result[i * rows + j] = result[j * rows + i] = sum;
    }
  }
}

/// The rows of the lower triangle that a part of its tiles has, one after the other.
template <class Use>
void for_rows_of(std::int64_t part, const TileRows& tiles, std::span<double> matrix, const Use& use) {
  for (std::int64_t i = 0; i < tiles.rows; ++i)
    if (tiles.part_of(i / tile_rows) == part)
      use(i, matrix.subspan(static_cast<std::size_t>(i * tiles.rows), static_cast<std::size_t>(i + 1)));
}

/// Inner products of all rows, relative to one of them unless that is negative: each rank makes some.
void gram(MatrixView<const float> values, std::int64_t origin_row, distributed::Communicator& ranks,
          std::span<double> result) {
  const TileRows all{.rows = values.rows};
  if (ranks.size() == 1) return gram_rows(values, origin_row, all, result);
  distributed::share_work(
      ranks, all.parts(),
      [&](distributed::PartRange own) { gram_rows(values, origin_row, {.rows = values.rows, .made = own}, result); },
      [&](std::int64_t part, std::string& message) {
        for_rows_of(part, all, result,
                    [&](std::int64_t, std::span<double> row) { distributed::write_numbers(row, message); });
      },
      [&](std::int64_t part, std::string_view& message) {
        for_rows_of(part, all, result, [&](std::int64_t i, std::span<double> row) {
          distributed::read_numbers(message, row);
          for (std::int64_t j = 0; j < i; ++j) result[j * values.rows + i] = row[static_cast<std::size_t>(j)];
        });
      });
}

bool run(const Update& update) {
  std::atomic<bool> finite = true;
  parallel_blocks(update.values.columns, block_columns, [&](std::int64_t begin, std::int64_t end) {
    if (!HWY_DYNAMIC_DISPATCH(update_block)(update, begin, end)) finite = false;
  });
  return finite;
}

/// Squared distances from the inner products of all rows relative to row `origin`; returns the pairs that are so much
/// nearer to each other than to the origin that digits are lost.
std::vector<std::pair<std::int64_t, std::int64_t>> distances_from(MatrixView<const float> values, std::int64_t origin,
                                                                  distributed::Communicator& ranks,
                                                                  std::span<double> distances) {
  constexpr double enough_digits = 0.01;  // of float's seven, two are lost
  gram(values, origin, ranks, distances);
  const std::int64_t rows = values.rows;
  thread_local std::vector<double> squares;
  squares.resize(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) squares[i] = distances[i * rows + i];
  std::vector<std::pair<std::int64_t, std::int64_t>> lossy;
  for (std::int64_t i = 0; i < rows; ++i) {
    distances[i * rows + i] = 0;
    for (std::int64_t j = 0; j < i; ++j) {
      const double found = squares[i] + squares[j] - 2 * distances[i * rows + j];
      if (!(found >= enough_digits * (squares[i] + squares[j]))) lossy.emplace_back(i, j);
      distances[i * rows + j] = distances[j * rows + i] = std::max(0.0, found);
    }
  }
  return lossy;
}

/// The matrix of weights in float, in memory of this thread.
const float* in_float(const std::vector<double>& weights, std::vector<float>& copy) {
  copy.assign(weights.begin(), weights.end());
  return copy.data();
}

}  // namespace

void squared_distances(MatrixView<const float> values, std::span<double> distances, distributed::Communicator& ranks) {
  auto lossy = distances_from(values, 0, ranks, distances);
  // Particle 0 is an outlier: one of those that lie together is a better origin.
  if (std::ssize(lossy) > values.rows) lossy = distances_from(values, lossy.front().first, ranks, distances);
  const auto lower = [&](std::int64_t k) {
    const auto [i, j] = lossy[static_cast<std::size_t>(k)];
    return distances.subspan(static_cast<std::size_t>(i * values.rows + j), 1);
  };
  distributed::shared_for(
      ranks, std::ssize(lossy),
      [&](std::int64_t k) {
        const auto [i, j] = lossy[static_cast<std::size_t>(k)];
        lower(k).front() = HWY_DYNAMIC_DISPATCH(distance)(values.row(i).data(), values.row(j).data(), values.columns);
      },
      lower);
  for (const auto& [i, j] : lossy) distances[j * values.rows + i] = distances[i * values.rows + j];
}

void inner_products(MatrixView<const float> values, std::span<double> products, distributed::Communicator& ranks) {
  gram(values, -1, ranks, products);
}

bool stein_update(MatrixView<float> values, MatrixView<const float> gradients, const KernelWeights& weights,
                  OptimizerState<float>& state, const OptimizerStep& step,
                  std::optional<distributed::PartRange> moved) {
  thread_local std::vector<float> gradient_weights, own_weights, position_weights;
  return run({.values = values,
              .gradients = gradients,
              .mean = state.mean(),
              .square = state.square(),
              .weights = &weights,
              .gradient_weights = in_float(weights.gradient, gradient_weights),
              .own_weights = in_float(weights.own, own_weights),
              .position_weights = weights.position.empty() ? nullptr : in_float(weights.position, position_weights),
              .method = state.method(),
              .step = step,
              .moved = moved.value_or(distributed::PartRange{0, values.rows})});
}

bool ascend(MatrixView<float> values, MatrixView<const float> directions, OptimizerState<float>& state,
            const OptimizerStep& step) {
  return run({.values = values,
              .gradients = directions,
              .mean = state.mean(),
              .square = state.square(),
              .weights = nullptr,
              .gradient_weights = nullptr,
              .own_weights = nullptr,
              .position_weights = nullptr,
              .method = state.method(),
              .step = step,
              .moved = {0, values.rows}});
}

}  // namespace fused
}  // namespace stein::inference
#endif
