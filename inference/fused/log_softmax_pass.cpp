#include <stein/core/parallel.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/log_softmax_pass.h>

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/log_softmax_pass.cpp"  // Highway compiles this file once a target
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

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference::fused {

HWY_EXPORT(log_sum);

void log_probabilities(MatrixView<const float> logits, std::span<const float> classes,
                       std::span<float> log_probability) {
  parallel_blocks(logits.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto c = static_cast<std::int64_t>(classes[static_cast<std::size_t>(i)]);
      const double value =
          c < 0 ? 0 : logits(i, c) - HWY_DYNAMIC_DISPATCH(log_sum)(logits.row(i).data(), logits.columns);
      log_probability[static_cast<std::size_t>(i)] = static_cast<float>(value);
    }
  });
}

}  // namespace stein::inference::fused
#endif
