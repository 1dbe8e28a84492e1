#include <hwy/cache_control.h>
#include <stein/bench/copy.h>
#include <stein/core/parallel.h>
#include <stein/core/simd.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/bench/copy.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stein::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void stream(const float* from, float* to, std::int64_t size) {
  const hn::ScalableTag<float> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  std::int64_t q = 0;
  for (; q + 4 * lanes <= size; q += 4 * lanes) {
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < 4 * lanes; j += lanes) hn::Stream(hn::Load(d, from + q + j), d, to + q + j);
  }
  hwy::FlushStream();
  for (; q < size; ++q) to[q] = from[q];
}

}  // namespace stein::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::bench {

HWY_EXPORT(stream);

void Copy::operator()() {
  constexpr std::int64_t block = std::int64_t{1} << 16;
  parallel_blocks(static_cast<std::int64_t>(from_.size()), block, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(stream)(from_.data() + begin, to_.data() + begin, end - begin);
  });
}

}  // namespace stein::bench
#endif
