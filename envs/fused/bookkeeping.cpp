#include <stein/core/simd.h>
#include <stein/envs/fused/bookkeeping.h>

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/envs/fused/bookkeeping.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stein::envs::fused::HWY_NAMESPACE {

// Flags are added up instead of tested, so that the compiler makes SIMD loops of them.
bool all_finite(std::span<const float> values) {
  // Without its sign a float is ordered as its bits are; infinity and all that is no number come last.
  std::uint32_t largest = 0;
  for (const float value : values) largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFF);
  return largest < 0x7F800000;
}

bool all_choices(std::span<const float> values, std::int64_t choices) {
  const auto count = static_cast<float>(choices);
  std::uint32_t wrong = 0;
  for (const float value : values) {
    const bool inside = (value >= 0) & (value < count);
    const float held = inside ? value : 0;
    wrong |= inside & (held == static_cast<float>(static_cast<std::int32_t>(held))) ? 0 : 1;
  }
  return wrong == 0;
}

bool all_within(std::span<const float> values, std::int64_t width, float low, float high) {
  std::uint32_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(width))
    wrong |= (values[i] >= low) & (values[i] <= high) ? 0 : 1;
  return wrong == 0;
}

/// Steps 64 slots or fewer; returns a bit for each whose episode has ended.
HWY_INLINE std::uint64_t count_slots(std::int64_t slots, float horizon, const float* __restrict rewards,
                                     const float* __restrict terminated, float* __restrict truncated,
                                     float* __restrict returns, float* __restrict lengths) {
  std::int64_t i = 0;
  std::uint64_t ended = 0;
#if HWY_TARGET != HWY_SCALAR
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto one = hn::Set(d, 1.0F), zero = hn::Zero(d), last = hn::Set(d, horizon);
  for (; i + lanes <= slots; i += lanes) {
    const auto length = hn::Add(hn::LoadU(d, lengths + i), one);
    const auto terminal = hn::Ne(hn::LoadU(d, terminated + i), zero), over = hn::Ge(length, last);
    hn::StoreU(length, d, lengths + i);
    hn::StoreU(hn::Add(hn::LoadU(d, returns + i), hn::LoadU(d, rewards + i)), d, returns + i);
    hn::StoreU(hn::IfThenElseZero(hn::AndNot(terminal, over), one), d, truncated + i);
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Or(terminal, over), bits);
    std::uint64_t word;
    __builtin_memcpy(&word, bits, sizeof word);
    ended |= word << i;
  }
#endif
  for (; i < slots; ++i) {
    returns[i] += rewards[i];
    lengths[i] += 1;
    const bool terminal = terminated[i] != 0, over = lengths[i] >= horizon;
    truncated[i] = over && !terminal ? 1.0F : 0.0F;
    ended |= std::uint64_t{terminal || over} << i;
  }
  return ended;
}

std::int64_t count_step(const EpisodeBlock& block) {
  std::int64_t count = 0;
  for (std::int64_t begin = 0; begin < block.slots; begin += 64) {
    std::uint64_t ended =
        count_slots(std::min<std::int64_t>(64, block.slots - begin), block.horizon, block.rewards + begin,
                    block.terminated + begin, block.truncated + begin, block.returns + begin, block.lengths + begin);
    for (; ended != 0; ended &= ended - 1)
      block.ended[count++] = static_cast<std::int32_t>(block.first + begin + std::countr_zero(ended));
  }
  return count;
}

}  // namespace stein::envs::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::envs::fused {

HWY_EXPORT(all_finite);
HWY_EXPORT(all_choices);
HWY_EXPORT(all_within);
HWY_EXPORT(count_step);

bool all_finite(std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(all_finite)(values);
}

bool all_choices(std::span<const float> values, std::int64_t choices) {
  return HWY_DYNAMIC_DISPATCH(all_choices)(values, choices);
}

bool all_within(std::span<const float> values, std::int64_t width, float low, float high) {
  return HWY_DYNAMIC_DISPATCH(all_within)(values, width, low, high);
}

std::int64_t count_step(const EpisodeBlock& block) {
  return HWY_DYNAMIC_DISPATCH(count_step)(block);
}

}  // namespace stein::envs::fused
#endif
