#include <stein/bench/logistic_posterior.h>
#include <stein/core/simd.h>

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/bench/logistic_posterior.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef STEIN_BENCH_LOGISTIC_POSTERIOR_
#define STEIN_BENCH_LOGISTIC_POSTERIOR_
namespace stein::bench {

constexpr std::int64_t block_rows = 32;

}  // namespace stein::bench
#endif

HWY_BEFORE_NAMESPACE();
namespace stein::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, block_rows>;
using Vector = hn::Vec<Tag>;
constexpr std::int64_t lanes = hn::MaxLanes(Tag()), vectors = block_rows / lanes;

/// e[i] = e^−|x[i]|, x limited to ±700: 2^n times the Taylor polynomial of degree 12 on |r| ≤ ½ ln 2, < 3e-16 relative.
/// The vectors go through it side by side, because each of its steps waits for the one before.
template <int N>
HWY_INLINE void exponential(const Vector* x, Vector* e) {
  const Tag d;
  const hn::RebindToUnsigned<Tag> bits;
  const Vector magic = hn::Set(d, 0x1.8p52);  // adding it rounds to a whole number, which is then in the low bits
  Vector shifted[N], r[N];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    const Vector limited = hn::Max(hn::Neg(hn::Abs(x[i])), hn::Set(d, -700.0));
    shifted[i] = hn::MulAdd(limited, hn::Set(d, 1.4426950408889634), magic);
    const Vector turns = hn::Sub(shifted[i], magic);
    r[i] = hn::NegMulAdd(turns, hn::Set(d, 0x1.62e42fefap-1), limited);
    r[i] = hn::NegMulAdd(turns, hn::Set(d, 0x1.cf79abc9e3b3ap-40), r[i]);
    e[i] = hn::Set(d, 1.0 / 479001600);
  }
  double factorial = 479001600;
#pragma GCC unroll 12
  for (int k = 12; k > 0; --k) {
    factorial /= k;
    const Vector term = hn::Set(d, 1 / factorial);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) e[i] = hn::MulAdd(e[i], r[i], term);
  }
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i)
    e[i] = hn::BitCast(d, hn::Add(hn::BitCast(bits, e[i]), hn::ShiftLeft<52>(hn::BitCast(bits, shifted[i]))));
}

/// What is summed over blocks of rows.
struct Sums {
  Vector linear;   ///< Σ y η − max(η, 0)
  Vector product;  ///< Π 1 + e^−|η|: its logarithm is the rest of the log likelihood
};

/// Adds a block's part to `sums` and to `gradient` [columns][lanes].
HWY_INLINE void add_block(const double* inputs, const double* answers, std::int64_t columns, const double* weights,
                          Sums& sums, double* gradient) {
  const Tag d;
  const Vector one = hn::Set(d, 1.0), zero = hn::Zero(d);
  constexpr std::int64_t half = vectors > 8 ? 8 : vectors;  // sums that stay in registers
  Vector rest[vectors];
#pragma GCC unroll 4
  for (std::int64_t first = 0; first < vectors; first += half) {
    Vector eta[half];
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < half; ++v) eta[v] = zero;
    for (std::int64_t j = 0; j < columns; ++j) {
      const Vector weight = hn::Set(d, weights[j]);
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < half; ++v)
        eta[v] = hn::MulAdd(weight, hn::Load(d, inputs + j * block_rows + (first + v) * lanes), eta[v]);
    }
    constexpr int side = half < 4 ? half : 4;
#pragma GCC unroll 2
    for (std::int64_t v = 0; v < half; v += side) {
      Vector e[side], sum[side], inverse[side / 2];
      exponential<side>(eta + v, e);
#pragma GCC unroll 2
      for (std::int64_t i = 0; i < side; i += 2) {
        sum[i] = hn::Add(one, e[i]), sum[i + 1] = hn::Add(one, e[i + 1]);
        const Vector both = hn::Mul(sum[i], sum[i + 1]);
        sums.product = hn::Mul(sums.product, both);
        inverse[i / 2] = hn::Div(one, both);  // one quotient for two
      }
#pragma GCC unroll 4
      for (std::int64_t i = 0; i < side; ++i) {
        const Vector y = hn::Load(d, answers + (first + v + i) * lanes), x = eta[v + i];
        sums.linear = hn::Add(sums.linear, hn::MulSub(y, x, hn::Max(x, zero)));
        const Vector numerator = hn::IfThenElse(hn::Lt(x, zero), e[i], one);
        rest[first + v + i] = hn::NegMulAdd(numerator, hn::Mul(inverse[i / 2], sum[i ^ 1]), y);
      }
    }
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    Vector part[2] = {hn::Load(d, gradient + j * lanes), zero};
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v)
      part[v % 2] = hn::MulAdd(rest[v], hn::Load(d, inputs + j * block_rows + v * lanes), part[v % 2]);
    hn::Store(hn::Add(part[0], part[1]), d, gradient + j * lanes);
  }
}

/// Log likelihood; adds its gradient to `gradient`.
double log_likelihood(const double* inputs, const double* answers, std::int64_t blocks, std::int64_t columns,
                      const double* weights, double* gradient, double* scratch) {
  const Tag d;
  constexpr std::int64_t blocks_a_product = 512 / vectors;  // factors up to 2 in a lane
  std::fill(scratch, scratch + columns * lanes, 0.0);
  double logarithms = 0;
  Sums sums{.linear = hn::Zero(d), .product = hn::Set(d, 1.0)};
  for (std::int64_t b = 0; b < blocks; ++b) {
    add_block(inputs + b * columns * block_rows, answers + b * block_rows, columns, weights, sums, scratch);
    if (b + 1 < blocks && (b + 1) % blocks_a_product != 0) continue;
    HWY_ALIGN double factors[lanes];
    hn::Store(sums.product, d, factors);
    for (const double factor : factors) logarithms += std::log(factor);
    sums.product = hn::Set(d, 1.0);
  }
  for (std::int64_t j = 0; j < columns; ++j)
    gradient[j] += hn::GetLane(hn::SumOfLanes(d, hn::Load(d, scratch + j * lanes)));
  return hn::GetLane(hn::SumOfLanes(d, sums.linear)) - logarithms;
}

}  // namespace stein::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::bench {

HWY_EXPORT(log_likelihood);

using namespace stein::inference;

LogisticData::LogisticData(std::int64_t row_count, std::int64_t column_count, std::uint64_t seed)
    : rows(row_count),
      columns(column_count),
      inputs(static_cast<std::size_t>(rows * columns)),
      answers(static_cast<std::size_t>(rows)) {
  fill_normal(std::span<double>(inputs), {.seed = seed, .stream = Stream::data}, 0);
  std::fill_n(inputs.begin(), rows, 1.0);
  Draws draws({.seed = seed, .step = 1, .stream = Stream::data}, 0);
  std::vector<double> weights(static_cast<std::size_t>(columns));
  for (double& weight : weights) weight = draws.normal() / std::sqrt(static_cast<double>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    double eta = 0;
    for (std::int64_t j = 0; j < columns; ++j) eta += weights[j] * inputs[j * rows + i];
    answers[i] = draws.uniform() < 1 / (1 + std::exp(-eta)) ? 1 : 0;
  }
}

/// Rows that fill the last block have inputs 0 and add log ½ each, whatever the weights.
LogisticPosterior::LogisticPosterior(const LogisticData& data)
    : columns_(data.columns),
      blocks_((data.rows + block_rows - 1) / block_rows),
      inputs_(static_cast<std::size_t>(blocks_ * block_rows * columns_)),
      answers_(static_cast<std::size_t>(blocks_ * block_rows)) {
  layout_.add("weights", {columns_}, Role::weight);
  for (std::int64_t i = 0; i < data.rows; ++i) {
    answers_.data()[i] = data.answers[i];
    for (std::int64_t j = 0; j < columns_; ++j)
      inputs_.data()[(i / block_rows * columns_ + j) * block_rows + i % block_rows] = data.inputs[j * data.rows + i];
  }
}

void LogisticPosterior::evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey&,
                                 const Evaluation<double>& wanted) {
  thread_local AlignedBuffer<double> scratch;
  if (static_cast<std::int64_t>(scratch.size()) < columns_ * block_rows)
    scratch = AlignedBuffer<double>(static_cast<std::size_t>(columns_ * block_rows));
  std::vector<double> unwanted(wanted.wants_gradient() ? 0 : static_cast<std::size_t>(columns_));
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
    const std::span<const double> weights = coordinates.values.row(i);
    const std::span<double> slope = wanted.wants_gradient() ? wanted.gradient.row(i) : std::span<double>(unwanted);
    double square = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      slope[j] = -weights[j];
      square += weights[j] * weights[j];
    }
    const double likelihood = HWY_DYNAMIC_DISPATCH(log_likelihood)(inputs_.data(), answers_.data(), blocks_, columns_,
                                                                   weights.data(), slope.data(), scratch.data());
    if (wanted.wants_value()) wanted.value[i] = likelihood - square / 2;
  }
}

}  // namespace stein::bench
#endif
