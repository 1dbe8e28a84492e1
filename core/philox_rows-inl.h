// Philox on many rows at once: one counter a wide lane. Included once a target by files that Highway's foreach_target
// compiles; the same words as philox4x32_10 in core/rng.h.
#if defined(STEIN_CORE_PHILOX_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_CORE_PHILOX_ROWS_INL_H_
#undef STEIN_CORE_PHILOX_ROWS_INL_H_
#else
#define STEIN_CORE_PHILOX_ROWS_INL_H_
#endif

#include <hwy/highway.h>
#include <stein/core/rng.h>

#if HWY_TARGET != HWY_SCALAR  // one lane has no wide products: kernels use the scalar functions there
HWY_BEFORE_NAMESPACE();
namespace stein::HWY_NAMESPACE {
namespace philox_rows {
namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::ScalableTag<std::uint32_t>;
using WideTag = hn::RepartitionToWide<WordTag>;
using Word = hn::Vec<WordTag>;
using Wide = hn::Vec<WideTag>;

/// A counter a lane, a word in the low half of each; what is in the high halves the products ignore.
struct Counters {
  Wide c0, c1, c2, c3;

  /// The counter of `block` of the row in every lane.
  static HWY_INLINE Counters of(const NoiseKey& key, Wide row, std::uint32_t block) {
    const WideTag wide;
    const std::uint64_t stream =
        std::uint64_t{static_cast<std::uint8_t>(key.stream)} << 24 | (key.step >> 32 & 0xFFFFFFu);
    return {hn::Set(wide, std::uint64_t{block}), row, hn::Set(wide, key.step), hn::Set(wide, stream)};
  }
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

/// The ten rounds on two vectors of counters.
HWY_INLINE void mix(const NoiseKey& key, Counters& first, Counters& second) {
  const WideTag wide;
  std::uint32_t key0 = static_cast<std::uint32_t>(key.seed), key1 = static_cast<std::uint32_t>(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const Wide k0 = hn::Set(wide, std::uint64_t{key0}), k1 = hn::Set(wide, std::uint64_t{key1});
    first.advance(k0, k1);
    second.advance(k0, k1);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

/// The low halves of both, those of `even` in the even lanes.
HWY_INLINE Word interleaved(Wide even, Wide odd) {
  const WordTag word;
  return hn::OddEven(hn::BitCast(word, hn::ShiftLeft<32>(odd)), hn::BitCast(word, even));
}

}  // namespace philox_rows
}  // namespace stein::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
