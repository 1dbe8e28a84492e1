// The first words of many rows at once: Philox on one row a wide lane.
#include <stein/core/rng.h>
#include <stein/core/simd.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/core/opening_words.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/core/philox_rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::HWY_NAMESPACE {

void opening_words(const NoiseKey& key, std::span<const std::uint32_t> rows, std::span<OpeningWords> words) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  namespace hn = hwy::HWY_NAMESPACE;
  using philox_rows::Counters, philox_rows::Wide, philox_rows::WideTag;
  const WideTag wide;
  constexpr std::size_t lanes = hn::MaxLanes(WideTag());
  static_assert(sizeof(OpeningWords) == 4 * sizeof(std::uint64_t));
  // Two neighbouring words of a row in one lane.
  const auto joined = [&](Wide low, Wide high) { return hn::BitCast(wide, philox_rows::interleaved(low, high)); };
  HWY_ALIGN std::uint64_t lane_rows[lanes], lane_words[4 * lanes];
  for (; i < rows.size(); i += lanes) {
    const std::size_t count = std::min(lanes, rows.size() - i);
    for (std::size_t k = 0; k < lanes; ++k) lane_rows[k] = rows[i + std::min(k, count - 1)];
    const Wide row = hn::Load(wide, lane_rows);
    Counters first = Counters::of(key, row, 0), second = Counters::of(key, row, 1);
    philox_rows::mix(key, first, second);
    hn::StoreInterleaved4(joined(first.c0, first.c1), joined(first.c2, first.c3), joined(second.c0, second.c1),
                          joined(second.c2, second.c3), wide, lane_words);
    __builtin_memcpy(&words[i], lane_words, count * sizeof(OpeningWords));
  }
#endif
  for (; i < rows.size(); ++i) words[i] = {random_block(key, rows[i], 0), random_block(key, rows[i], 1)};
}

}  // namespace stein::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein {

HWY_EXPORT(opening_words);

void opening_words(const NoiseKey& key, std::span<const std::uint32_t> rows, std::span<OpeningWords> words) {
  HWY_DYNAMIC_DISPATCH(opening_words)(key, rows, words);
}

}  // namespace stein
#endif
