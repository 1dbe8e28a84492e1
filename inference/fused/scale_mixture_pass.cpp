#include <stein/core/block_sums.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/scale_mixture_pass.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/scale_mixture_pass.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/inference/fused/exponential-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using exponential::set;
using exponential::Tag;
using exponential::Vector;

constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(Tag()));
constexpr std::int64_t sum_block = 4096;  // weights whose terms are added in float

using exponential::decay_steps;
using exponential::log_one_plus_steps;
#include <stein/inference/priors/scale_mixture_steps.inc>

using MixtureTerm = MixtureStep<exponential::Operations>;

template <bool with_gradient>
HWY_INLINE double add_terms(const ScaleMixture& law, const float* weights, [[maybe_unused]] float* gradient,
                            std::int64_t size) {
  const Tag d;
  double sum = 0;
  for (std::int64_t begin = 0; begin < size; begin += sum_block) {
    const std::int64_t end = std::min(begin + sum_block, size);
    Vector sums = hn::Zero(d);
    std::int64_t q = begin;
    for (; q + lanes <= end; q += lanes) {
      const MixtureTerm term(law, hn::LoadU(d, weights + q));
      sums = hn::Add(sums, term.value);
      if constexpr (with_gradient) hn::StoreU(hn::Sub(hn::LoadU(d, gradient + q), term.slope), d, gradient + q);
    }
    HWY_ALIGN float parts[lanes];
    hn::Store(sums, d, parts);
    for (const float part : parts) sum += static_cast<double>(part);
    if (q == end) continue;
    HWY_ALIGN float tail[lanes] = {};
    std::copy(weights + q, weights + end, tail);
    const MixtureTerm term(law, hn::Load(d, tail));
    hn::Store(term.value, d, parts);
    hn::Store(term.slope, d, tail);
    for (std::int64_t k = 0; k < end - q; ++k) {
      sum += static_cast<double>(parts[k]);
      if constexpr (with_gradient) gradient[q + k] -= tail[k];
    }
  }
  return sum;
}

double add_scale_mixture(const ScaleMixture& law, const float* weights, float* gradient, std::int64_t size) {
  return gradient == nullptr ? add_terms<false>(law, weights, nullptr, size)
                             : add_terms<true>(law, weights, gradient, size);
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(add_scale_mixture);

double fused::add_scale_mixture(const ScaleMixture& law, std::span<const float> weights, std::span<float> gradient) {
  constexpr std::int64_t least = 16384;  // whole blocks of `sum_block`
  return sum_of_blocks<double>(std::ssize(weights), least, [&](std::int64_t begin, std::int64_t end) {
    return HWY_DYNAMIC_DISPATCH(add_scale_mixture)(law, weights.data() + begin,
                                                   gradient.empty() ? nullptr : gradient.data() + begin, end - begin);
  });
}

}  // namespace stein::inference
#endif
