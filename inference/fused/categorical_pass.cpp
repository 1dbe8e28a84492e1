#include <stein/core/parallel.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/categorical_pass.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/categorical_pass.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/inference/fused/exponential-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using exponential::Tag;
using exponential::Vector;

constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(Tag()));

/// log Σ e^{x_k}, with the largest logit taken out.
double log_sum(const float* logits, std::int64_t size) {
  const Tag d;
  float largest = logits[0];
  std::int64_t k = 0;
  if (size >= lanes) {
    Vector most = hn::LoadU(d, logits);
    for (k = lanes; k + lanes <= size; k += lanes) most = hn::Max(most, hn::LoadU(d, logits + k));
    largest = hn::GetLane(hn::MaxOfLanes(d, most));
  }
  for (; k < size; ++k) largest = std::max(largest, logits[k]);
  const Vector offset = hn::Set(d, largest);
  Vector sums = hn::Zero(d);
  for (k = 0; k + lanes <= size; k += lanes)
    sums = hn::Add(sums, exponential::decay(hn::Sub(offset, hn::LoadU(d, logits + k))));
  HWY_ALIGN float parts[lanes];
  hn::Store(sums, d, parts);
  double sum = 0;
  for (const float part : parts) sum += static_cast<double>(part);
  if (k < size) {
    HWY_ALIGN float tail[lanes];
    for (std::int64_t j = 0; j < lanes; ++j) tail[j] = k + j < size ? logits[k + j] : largest;
    hn::Store(exponential::decay(hn::Sub(offset, hn::Load(d, tail))), d, parts);
    for (std::int64_t j = 0; k + j < size; ++j) sum += static_cast<double>(parts[j]);
  }
  return static_cast<double>(largest) + std::log(sum);
}

void add_row(const float* from, float* to, std::int64_t size) {
  const Tag d;
  std::int64_t k = 0;
  for (; k + lanes <= size; k += lanes) hn::StoreU(hn::Add(hn::LoadU(d, to + k), hn::LoadU(d, from + k)), d, to + k);
  for (; k < size; ++k) to[k] += from[k];
}

/// x_k ← −factor e^{x_k − log_total}: minus the probabilities, scaled.
void to_slopes(float* x, std::int64_t size, double log_total, float factor) {
  const Tag d;
  const Vector offset = hn::Set(d, static_cast<float>(log_total)), scale = hn::Set(d, -factor);
  std::int64_t k = 0;
  for (; k + lanes <= size; k += lanes)
    hn::StoreU(hn::Mul(scale, exponential::decay(hn::Max(hn::Sub(offset, hn::LoadU(d, x + k)), hn::Zero(d)))), d,
               x + k);
  if (k == size) return;
  HWY_ALIGN float tail[lanes] = {};
  for (std::int64_t j = 0; k + j < size; ++j) tail[j] = x[k + j];
  hn::Store(hn::Mul(scale, exponential::decay(hn::Max(hn::Sub(offset, hn::Load(d, tail)), hn::Zero(d)))), d, tail);
  for (std::int64_t j = 0; k + j < size; ++j) x[k + j] = tail[j];
}

void probabilities_row(float* logits, std::int64_t size, float share) {
  to_slopes(logits, size, log_sum(logits, size), -share);
}

/// One row of `score_classes`; returns log p of the class.
double score_row(float* logits, const float* bias, std::int64_t size, std::int64_t c, float factor) {
  add_row(bias, logits, size);
  const double log_total = log_sum(logits, size), value = logits[c] - log_total;
  to_slopes(logits, size, log_total, factor);
  logits[c] += factor;
  return value;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference::fused {

HWY_EXPORT(log_sum);
HWY_EXPORT(add_row);
HWY_EXPORT(score_row);
HWY_EXPORT(probabilities_row);

/// Rows of one task.
constexpr std::int64_t block = 16;

void log_probabilities(MatrixView<const float> logits, std::span<const float> classes,
                       std::span<float> log_probability) {
  parallel_blocks(logits.rows, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto c = static_cast<std::int64_t>(classes[static_cast<std::size_t>(i)]);
      const double value =
          c < 0 ? 0 : logits(i, c) - HWY_DYNAMIC_DISPATCH(log_sum)(logits.row(i).data(), logits.columns);
      log_probability[static_cast<std::size_t>(i)] = static_cast<float>(value);
    }
  });
}

double score_classes(MatrixView<float> logits, std::span<const float> bias, std::span<const float> classes,
                     std::span<const float> row_weights, double scale) {
  std::vector<double> sums(static_cast<std::size_t>((logits.rows + block - 1) / block));
  parallel_blocks(logits.rows, block, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::span<float> row = logits.row(i);
      const auto c = static_cast<std::int64_t>(classes[static_cast<std::size_t>(i)]);
      const double weight = row_weights.empty() ? 1.0 : double{row_weights[static_cast<std::size_t>(i)]};
      if (c < 0)
        std::ranges::fill(row, 0.0f);
      else
        sum += weight * HWY_DYNAMIC_DISPATCH(score_row)(row.data(), bias.data(), logits.columns, c,
                                                        static_cast<float>(scale * weight));
    }
    sums[static_cast<std::size_t>(begin / block)] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void to_probabilities(MatrixView<float> logits, float share) {
  parallel_blocks(logits.rows, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      HWY_DYNAMIC_DISPATCH(probabilities_row)(logits.row(i).data(), logits.columns, share);
  });
}

void add_probabilities(MatrixView<float> logits, float share, MatrixView<float> sums) {
  parallel_blocks(logits.rows, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      HWY_DYNAMIC_DISPATCH(probabilities_row)(logits.row(i).data(), logits.columns, share);
      HWY_DYNAMIC_DISPATCH(add_row)(logits.row(i).data(), sums.row(i).data(), logits.columns);
    }
  });
}

void add_bias(MatrixView<float> logits, std::span<const float> bias) {
  parallel_blocks(logits.rows, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      HWY_DYNAMIC_DISPATCH(add_row)(bias.data(), logits.row(i).data(), logits.columns);
  });
}

void sum_columns(MatrixView<const float> x, std::span<float> sums) {
  constexpr std::int64_t columns = 1024;
  std::ranges::fill(sums, 0.0f);
  parallel_blocks(x.columns, columns, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < x.rows; ++i)
      HWY_DYNAMIC_DISPATCH(add_row)(x.row(i).data() + begin, sums.data() + begin, end - begin);
  });
}

}  // namespace stein::inference::fused
#endif
