#include <stein/core/simd.h>
#include <stein/inference/vector_arithmetic.h>

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/vector_arithmetic.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

float subtract_scaled(const float* values, float scale, float* gradient, std::size_t size) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, scale);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    const auto x0 = hn::LoadU(d, values + i), x1 = hn::LoadU(d, values + i + lanes);
    hn::StoreU(hn::NegMulAdd(factor, x0, hn::LoadU(d, gradient + i)), d, gradient + i);
    hn::StoreU(hn::NegMulAdd(factor, x1, hn::LoadU(d, gradient + i + lanes)), d, gradient + i + lanes);
    sum0 = hn::MulAdd(x0, x0, sum0);
    sum1 = hn::MulAdd(x1, x1, sum1);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; i < size; ++i) {
    gradient[i] -= scale * values[i];
    sum += values[i] * values[i];
  }
  return sum;
}

double sum_of_squares(const float* values, std::size_t size) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    const auto x0 = hn::LoadU(d, values + i), x1 = hn::LoadU(d, values + i + lanes);
    sum0 = hn::MulAdd(x0, x0, sum0);
    sum1 = hn::MulAdd(x1, x1, sum1);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; i < size; ++i) sum += double{values[i]} * values[i];
  return sum;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(subtract_scaled);
HWY_EXPORT(sum_of_squares);

float subtract_scaled(std::span<const float> values, float scale, std::span<float> gradient) {
  return HWY_DYNAMIC_DISPATCH(subtract_scaled)(values.data(), scale, gradient.data(), values.size());
}

double sum_of_squares(std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(values.data(), values.size());
}

double subtract_scaled(std::span<const double> values, double scale, std::span<double> gradient) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    gradient[i] -= scale * values[i];
    sum += values[i] * values[i];
  }
  return sum;
}

double sum_of_squares(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

}  // namespace stein::inference
#endif
