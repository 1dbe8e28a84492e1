// The first words of many rows at once: Philox on one row a wide lane.
#include <stein/core/rng.h>
#include <stein/core/simd.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/core/opening_words.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stein::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;
using WordTag = hn::ScalableTag<std::uint32_t>;
using WideTag = hn::RepartitionToWide<WordTag>;
using Wide = hn::Vec<WideTag>;

/// A counter a lane, a word in the low half of each; what is in the high halves the products ignore.
struct Counters {
  Wide c0, c1, c2, c3;

  HWY_INLINE void advance(Wide key0, Wide key1) {
    const Wide product0 = times(0xD2511F53u, c0), product1 = times(0xCD9E8D57u, c2);
    c0 = hn::ShiftRight<32>(product1) ^ c1 ^ key0;
    c2 = hn::ShiftRight<32>(product0) ^ c3 ^ key1;
    c1 = product1;
    c3 = product0;
  }
  static HWY_INLINE Wide times(std::uint32_t factor, Wide value) {
    return hn::MulEven(hn::BitCast(WordTag(), value), hn::Set(WordTag(), factor));
  }
};

/// Two neighbouring words in one lane.
HWY_INLINE Wide joined(Wide low, Wide high) {
  const WordTag word;
  return hn::BitCast(WideTag(), hn::OddEven(hn::BitCast(word, hn::ShiftLeft<32>(high)), hn::BitCast(word, low)));
}
#endif

void opening_words(const NoiseKey& key, std::span<const std::uint32_t> rows, std::span<OpeningWords> words) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const WideTag wide;
  constexpr std::size_t lanes = hn::MaxLanes(WideTag());
  static_assert(sizeof(OpeningWords) == 4 * sizeof(std::uint64_t));
  const std::uint64_t stream =
      std::uint64_t{static_cast<std::uint8_t>(key.stream)} << 24 | (key.step >> 32 & 0xFFFFFFu);
  HWY_ALIGN std::uint64_t lane_rows[lanes], lane_words[4 * lanes];
  for (; i < rows.size(); i += lanes) {
    const std::size_t count = std::min(lanes, rows.size() - i);
    for (std::size_t k = 0; k < lanes; ++k) lane_rows[k] = rows[i + std::min(k, count - 1)];
    const Wide row = hn::Load(wide, lane_rows), step = hn::Set(wide, key.step), last = hn::Set(wide, stream);
    Counters first{hn::Zero(wide), row, step, last}, second{hn::Set(wide, 1), row, step, last};
    std::uint32_t key0 = static_cast<std::uint32_t>(key.seed), key1 = static_cast<std::uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const Wide k0 = hn::Set(wide, std::uint64_t{key0}), k1 = hn::Set(wide, std::uint64_t{key1});
      first.advance(k0, k1);
      second.advance(k0, k1);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
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
