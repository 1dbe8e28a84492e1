#include <stein/bench/logistic_posterior.h>
#include <stein/core/simd.h>

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/bench/logistic_posterior.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

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

HWY_INLINE Vector load(const float* from) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(Tag(), static_cast<double>(*from));
#else
  return hn::PromoteTo(Tag(), hn::Load(hn::Rebind<float, Tag>(), from));
#endif
}

/// Adds a block's part to `gradient` [columns] and returns that of the log likelihood.
double add_block(const float* inputs, const float* answers, std::int64_t columns, const double* weights,
                 double* gradient) {
  const Tag d;
  const Vector one = hn::Set(d, 1.0), zero = hn::Zero(d);
  constexpr std::int64_t half = vectors > 8 ? 8 : vectors;  // sums that stay in registers
  Vector rest[vectors];
  Vector linear = zero, product = one;
#pragma GCC unroll 4
  for (std::int64_t first = 0; first < vectors; first += half) {
    Vector eta[half];
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < half; ++v) eta[v] = zero;
    for (std::int64_t j = 0; j < columns; ++j) {
      const Vector weight = hn::Set(d, weights[j]);
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < half; ++v)
        eta[v] = hn::MulAdd(weight, load(inputs + j * block_rows + (first + v) * lanes), eta[v]);
    }
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < half; ++v) {
      const Vector y = load(answers + (first + v) * lanes);
      const Vector e = hn::Exp(d, hn::Neg(hn::Abs(eta[v]))), sum = hn::Add(one, e);
      // log(1 + e^η) = max(η, 0) + log(1 + e^−|η|); the factors of the product lie in (1, 2].
      linear = hn::Add(linear, hn::Sub(hn::Mul(y, eta[v]), hn::Max(eta[v], zero)));
      product = hn::Mul(product, sum);
      rest[first + v] = hn::Sub(y, hn::Div(hn::IfThenElse(hn::Lt(eta[v], zero), e, one), sum));
    }
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    Vector sums[2] = {zero, zero};
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v)
      sums[v % 2] = hn::MulAdd(rest[v], load(inputs + j * block_rows + v * lanes), sums[v % 2]);
    hn::Store(hn::Add(hn::Load(d, gradient + j * lanes), hn::Add(sums[0], sums[1])), d, gradient + j * lanes);
  }
  HWY_ALIGN double factors[lanes];
  hn::Store(product, d, factors);
  double all = 1;  // of at most block_rows factors up to 2
  for (const double factor : factors) all *= factor;
  return hn::GetLane(hn::SumOfLanes(d, linear)) - std::log(all);
}

/// Log likelihood; adds its gradient to `gradient`.
double log_likelihood(const float* inputs, const float* answers, std::int64_t blocks, std::int64_t columns,
                      const double* weights, double* gradient, double* scratch) {
  std::fill(scratch, scratch + columns * lanes, 0.0);
  double sum = 0;
  for (std::int64_t b = 0; b < blocks; ++b)
    sum += add_block(inputs + b * columns * block_rows, answers + b * block_rows, columns, weights, scratch);
  for (std::int64_t j = 0; j < columns; ++j)
    gradient[j] += hn::GetLane(hn::SumOfLanes(Tag(), hn::Load(Tag(), scratch + j * lanes)));
  return sum;
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
  fill_normal(std::span<float>(inputs), {.seed = seed, .stream = Stream::data}, 0);
  std::fill_n(inputs.begin(), rows, 1.0f);
  Draws draws({.seed = seed, .step = 1, .stream = Stream::data}, 0);
  std::vector<double> weights(static_cast<std::size_t>(columns));
  for (double& weight : weights) weight = draws.normal();
  for (std::int64_t i = 0; i < rows; ++i) {
    double eta = 0;
    for (std::int64_t j = 0; j < columns; ++j) eta += weights[j] * static_cast<double>(inputs[j * rows + i]);
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
                                 MatrixView<double> gradient, std::span<double> value) {
  thread_local AlignedBuffer<double> scratch;
  if (static_cast<std::int64_t>(scratch.size()) < columns_ * block_rows)
    scratch = AlignedBuffer<double>(static_cast<std::size_t>(columns_ * block_rows));
  for (std::int64_t i = 0; i < gradient.rows; ++i) {
    const std::span<const double> weights = coordinates.values.row(i);
    const std::span<double> slope = gradient.row(i);
    double square = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      slope[j] = -weights[j];
      square += weights[j] * weights[j];
    }
    const double likelihood = HWY_DYNAMIC_DISPATCH(log_likelihood)(inputs_.data(), answers_.data(), blocks_, columns_,
                                                                   weights.data(), slope.data(), scratch.data());
    if (!value.empty()) value[i] = likelihood - square / 2;
  }
}

}  // namespace stein::bench
#endif
