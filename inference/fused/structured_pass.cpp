#include <stein/core/simd.h>
#include <stein/inference/fused/structured_pass.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/structured_pass.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/inference/fused/structured_pullback-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

std::int64_t kept_floats(const fused::MatrixShape& shape) {
  return Kept(shape, nullptr).size;
}

std::int64_t forward_one(const fused::MatrixShape& shape, const fused::MatrixParts<const float>& parts, float* kept,
                         float* weight, std::int64_t weight_stride) {
  return forward_matrix(shape, parts, kept, weight, weight_stride);
}

void pullback_one(const fused::MatrixShape& shape, const fused::MatrixParts<const float>& parts, float* kept,
                  const float* weight_gradient, std::int64_t weight_stride, const fused::MatrixParts<float>& gradient) {
  pullback_matrix(shape, parts, kept, weight_gradient, weight_stride, gradient);
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(kept_floats);
HWY_EXPORT(forward_one);
HWY_EXPORT(pullback_one);

namespace fused {

std::int64_t structured_kept_floats(const MatrixShape& shape) {
  return HWY_DYNAMIC_DISPATCH(kept_floats)(shape);
}

std::int64_t structured_forward(const MatrixShape& shape, const MatrixParts<const float>& parts, float* kept,
                                float* weight, std::int64_t weight_stride) {
  return HWY_DYNAMIC_DISPATCH(forward_one)(shape, parts, kept, weight, weight_stride);
}

void structured_pullback(const MatrixShape& shape, const MatrixParts<const float>& parts, float* kept,
                         const float* weight_gradient, std::int64_t weight_stride, const MatrixParts<float>& gradient) {
  HWY_DYNAMIC_DISPATCH(pullback_one)(shape, parts, kept, weight_gradient, weight_stride, gradient);
}

}  // namespace fused
}  // namespace stein::inference
#endif
