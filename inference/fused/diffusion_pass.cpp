#include <hwy/cache_control.h>
#include <stein/core/parallel.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/diffusion_pass.h>
#include <stein/inference/samplers/diffusion_operations.h>

#include <atomic>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/diffusion_pass.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/core/normal-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

#include <stein/inference/samplers/diffusion_steps.inc>

constexpr std::int64_t sum_lanes = 16;   // of Σ r², whatever the width of a vector
constexpr std::int64_t cache_line = 16;  // floats

/// Moves coordinate q of row i: the tail of a row, and every coordinate where vectors have one lane.
template <class Step>
HWY_INLINE void move_one(const DiffusionStep<float>& step, const Step& move, std::int64_t i, std::int64_t q,
                         float* sums, bool& finite) {
  Coordinate<float> c{.value = step.values(i, q), .gradient = step.gradients(i, q)};
  if constexpr (Step::noisy)
    c.normal =
        normal_at<float>(step.noise, static_cast<std::uint32_t>(step.first_row + i), static_cast<std::uint64_t>(q));
  for (int k = 0; k < Step::states; ++k) c.state[k] = step.states[k](i, q);
  if constexpr (Step::adds_up_momentum) c.thermostat = step.thermostats[i];
  move(c);
  step.values(i, q) = c.value;
  if constexpr (Step::changes_states)
    for (int k = 0; k < Step::states; ++k) step.states[k](i, q) = c.state[k];
  if constexpr (Step::adds_up_momentum) sums[q % sum_lanes] = std::fma(c.state[0], c.state[0], sums[q % sum_lanes]);
  finite = finite && std::isfinite(c.value);
}

#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

struct SimdOperations : stein::HWY_NAMESPACE::VectorOperations {
  static HWY_INLINE Real set(double value) { return hn::Set(RealTag(), static_cast<float>(value)); }
  static HWY_INLINE Real largest(Real a, Real b) { return hn::Max(a, b); }
  static HWY_INLINE Real smallest(Real a, Real b) { return hn::Min(a, b); }
  static HWY_INLINE Real nearest(Real a) { return hn::Round(a); }
  static HWY_INLINE Real power_of_two(Real whole) {
    return hn::BitCast(RealTag(),
                       hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(SignedTag(), whole), hn::Set(SignedTag(), 127))));
  }
  static HWY_INLINE Real divide_or_zero(Real a, Real b) {
    return hn::IfThenZeroElse(hn::Eq(b, hn::Zero(RealTag())), hn::Div(a, b));
  }
  static HWY_INLINE Real exponential(Real a) { return exponential_steps<SimdOperations>(a); }
};

/// Moves whole vectors of row i from `begin` on; returns where it stopped. A chunk's random words are made first: while
/// the processor is busy with them, the memory it moves next is on its way.
template <class Step>
HWY_INLINE std::int64_t move_vectors(const DiffusionStep<float>& step, const Step& shared_move, std::int64_t i,
                                     std::int64_t begin, std::int64_t end, float* sums, bool& finite) {
  using O = SimdOperations;
  using Normals = stein::HWY_NAMESPACE::NormalBlocks;
  const O::RealTag d;
  constexpr std::int64_t lanes = Normals::lanes, group = Normals::numbers, chunk = 16 * group;
  const Step move = shared_move;  // numbers that nothing here can write to
  const Normals normals(step.noise, static_cast<std::uint32_t>(step.first_row + i));
  const O::Real thermostat = O::set(Step::adds_up_momentum ? step.thermostats[i] : 0);
  float* const value = step.values.data + i * step.values.stride;
  const float* const gradient = step.gradients.data + i * step.gradients.stride;
  float* state[most_states] = {};
  for (int k = 0; k < Step::states; ++k) state[k] = step.states[k].data + i * step.states[k].stride;
  HWY_ALIGN std::uint32_t words[chunk];
  HWY_ALIGN float noise[group];
  O::Word block = hn::Iota(O::WordTag(), static_cast<std::uint32_t>(begin / 4));
  O::Real not_finite = hn::Zero(d);
  const std::int64_t whole = begin + (end - begin) / group * group;
  for (std::int64_t first = begin; first < whole; first += chunk) {
    const std::int64_t last = std::min(first + chunk, whole);
    for (std::int64_t q = first; q < last; q += group) {
      if constexpr (Step::noisy) normals.store_words(block, words + (q - first));
      block = hn::Add(block, hn::Set(O::WordTag(), static_cast<std::uint32_t>(lanes)));
      for (std::int64_t j = 0; j < group; j += cache_line) {
        hwy::Prefetch(value + q + j);
        hwy::Prefetch(gradient + q + j);
#pragma GCC unroll 3
        for (int k = 0; k < Step::states; ++k) hwy::Prefetch(state[k] + q + j);
      }
    }
    for (std::int64_t group_begin = first; group_begin < last; group_begin += group) {
      if constexpr (Step::noisy) Normals::store_normals(words + (group_begin - first), noise);
#pragma GCC unroll 4
      for (std::int64_t j = 0; j < group; j += lanes) {
        const std::int64_t q = group_begin + j;
        Coordinate<O::Real> c;
        c.value = hn::Load(d, value + q);
        c.gradient = hn::Load(d, gradient + q);
        if constexpr (Step::noisy) c.normal = hn::Load(d, noise + j);
        c.thermostat = thermostat;
#pragma GCC unroll 3
        for (int k = 0; k < Step::states; ++k) c.state[k] = hn::Load(d, state[k] + q);
        move(c);
        hn::Store(c.value, d, value + q);
        if constexpr (Step::changes_states) {
#pragma GCC unroll 3
          for (int k = 0; k < Step::states; ++k) hn::Store(c.state[k], d, state[k] + q);
        }
        not_finite = hn::Add(not_finite, hn::Sub(c.value, c.value));
        if constexpr (Step::adds_up_momentum) {
          float* const sum = sums + q % sum_lanes;
          hn::Store(O::multiply_add(c.state[0], c.state[0], hn::Load(d, sum)), d, sum);
        }
      }
    }
  }
  finite = finite && hn::GetLane(hn::SumOfLanes(d, not_finite)) == 0;
  return whole;
}
#endif

/// Columns begin … end of row i; returns its Σ r².
template <class Step>
double move_columns(const DiffusionStep<float>& step, [[maybe_unused]] const Step& move, std::int64_t i,
                    std::int64_t begin, std::int64_t end, bool& finite) {
  HWY_ALIGN float sums[sum_lanes] = {};
  std::int64_t q = begin;
#if HWY_TARGET != HWY_SCALAR
  q = move_vectors(step, move, i, begin, end, sums, finite);
#endif
  const typename Step::template with<NumberOperations<float>> move_scalar(step.numbers);
  for (; q < end; ++q) move_one(step, move_scalar, i, q, sums, finite);
  double total = 0;
  for (const float sum : sums) total += static_cast<double>(sum);
  return total;
}

#if HWY_TARGET == HWY_SCALAR
using TargetOperations = NumberOperations<float>;
#else
using TargetOperations = SimdOperations;
#endif

double diffuse_block(const DiffusionStep<float>& step, std::int64_t i, std::int64_t begin, std::int64_t end,
                     bool& finite) {
  double squares = 0;
  HWY_NAMESPACE::with_step<TargetOperations>(step.dynamics, step.numbers, [&](const auto& move) {
    squares = move_columns(step, move, i, begin, end, finite);
  });
  return squares;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(diffuse_block);

namespace fused {
namespace {

constexpr std::int64_t block_columns = 4096;  // fixed, whatever the number of threads

}  // namespace

void diffuse(const DiffusionStep<float>& step, DiffusionResult& result) {
  const std::int64_t rows = step.values.rows, columns = step.values.columns;
  const std::int64_t blocks = (columns + block_columns - 1) / block_columns;
  const std::int64_t rows_per_task = blocks > 1 ? 1 : std::max<std::int64_t>(1, block_columns / columns);
  thread_local std::vector<double> partial;
  std::vector<double>& squares = partial;  // the caller's, also inside the tasks
  squares.resize(static_cast<std::size_t>(rows * blocks));
  std::atomic<bool> finite = true;
  parallel_blocks(rows * blocks, rows_per_task, [&](std::int64_t first, std::int64_t last) {
    bool all = true;
    for (std::int64_t task = first; task < last; ++task) {
      const std::int64_t i = task / blocks, begin = task % blocks * block_columns;
      squares[task] =
          HWY_DYNAMIC_DISPATCH(diffuse_block)(step, i, begin, std::min(begin + block_columns, columns), all);
    }
    if (!all) finite = false;
  });
  result.finite = finite;
  if (result.momentum_squares.empty()) return;
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t block = 0; block < blocks; ++block) sum += squares[i * blocks + block];
    result.momentum_squares[i] = sum;
  }
}

}  // namespace fused
}  // namespace stein::inference
#endif
