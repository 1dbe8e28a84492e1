// Philox and Box–Muller on SIMD vectors, for kernels that make their noise in registers. Included once a target by
// files that Highway's foreach_target compiles; the same arithmetic as core/rng.h and core/box_muller.h, bit for bit.
#if defined(STEIN_CORE_NORMAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_CORE_NORMAL_INL_H_
#undef STEIN_CORE_NORMAL_INL_H_
#else
#define STEIN_CORE_NORMAL_INL_H_
#endif

#include <hwy/highway.h>
#include <stein/core/box_muller.h>
#include <stein/core/rng.h>

#if HWY_TARGET != HWY_SCALAR  // one lane has no wide products: kernels use the scalar functions there
HWY_BEFORE_NAMESPACE();
namespace stein::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include <stein/core/box_muller_steps.inc>

/// The operations of box_muller_steps on a vector of floats.
struct VectorOperations {
  using RealTag = hn::ScalableTag<float>;
  using WordTag = hn::ScalableTag<std::uint32_t>;
  using SignedTag = hn::ScalableTag<std::int32_t>;
  using Real = hn::Vec<RealTag>;
  using Word = hn::Vec<WordTag>;

  static HWY_INLINE Real set(float value) { return hn::Set(RealTag(), value); }
  static HWY_INLINE Word set_word(std::uint32_t value) { return hn::Set(WordTag(), value); }
  static HWY_INLINE Real multiply_add(Real a, Real b, Real c) {
#if HWY_NATIVE_FMA
    return hn::MulAdd(a, b, c);
#else
    // Without the instruction each lane goes through the exact library function: the same bits on every machine.
    HWY_ALIGN float x[hn::MaxLanes(RealTag())], y[hn::MaxLanes(RealTag())], z[hn::MaxLanes(RealTag())];
    hn::Store(a, RealTag(), x);
    hn::Store(b, RealTag(), y);
    hn::Store(c, RealTag(), z);
    for (std::size_t i = 0; i < hn::Lanes(RealTag()); ++i) x[i] = std::fma(x[i], y[i], z[i]);
    return hn::Load(RealTag(), x);
#endif
  }
  static HWY_INLINE Real square_root(Real a) {
    return hn::Sqrt(a);
  }
  static HWY_INLINE Word bits(Real a) {
    return hn::BitCast(WordTag(), a);
  }
  static HWY_INLINE Real real(Word a) {
    return hn::BitCast(RealTag(), a);
  }
  static HWY_INLINE Real from_signed(Word a) {
    return hn::ConvertTo(RealTag(), hn::BitCast(SignedTag(), a));
  }
  template <int n>
  static HWY_INLINE Word shift_left(Word a) {
    return hn::ShiftLeft<n>(a);
  }
  template <int n>
  static HWY_INLINE Word shift_right(Word a) {
    return hn::ShiftRight<n>(a);
  }
  template <int n>
  static HWY_INLINE Word shift_right_signed(Word a) {
    return hn::BitCast(WordTag(), hn::ShiftRight<n>(hn::BitCast(SignedTag(), a)));
  }
  static HWY_INLINE Real choose(Word mask, Real a, Real b) {
    return hn::IfNegativeThenElse(hn::BitCast(RealTag(), mask), a, b);
  }
};

/// Two independent vectors that go through the same steps side by side: twice the work in flight while a chain waits.
template <class V>
struct Twin {
  V a, b;
  friend HWY_INLINE Twin operator+(Twin x, Twin y) { return {x.a + y.a, x.b + y.b}; }
  friend HWY_INLINE Twin operator-(Twin x, Twin y) { return {x.a - y.a, x.b - y.b}; }
  friend HWY_INLINE Twin operator*(Twin x, Twin y) { return {x.a * y.a, x.b * y.b}; }
  friend HWY_INLINE Twin operator&(Twin x, Twin y) { return {x.a & y.a, x.b & y.b}; }
  friend HWY_INLINE Twin operator^(Twin x, Twin y) { return {x.a ^ y.a, x.b ^ y.b}; }
};

/// The operations of box_muller_steps on two vectors at once.
struct TwinOperations {
  using O = VectorOperations;
  using Real = Twin<O::Real>;
  using Word = Twin<O::Word>;

  static HWY_INLINE Real set(float value) { return {O::set(value), O::set(value)}; }
  static HWY_INLINE Word set_word(std::uint32_t value) { return {O::set_word(value), O::set_word(value)}; }
  static HWY_INLINE Real multiply_add(Real x, Real y, Real z) {
    return {O::multiply_add(x.a, y.a, z.a), O::multiply_add(x.b, y.b, z.b)};
  }
  static HWY_INLINE Real square_root(Real x) { return {O::square_root(x.a), O::square_root(x.b)}; }
  static HWY_INLINE Word bits(Real x) { return {O::bits(x.a), O::bits(x.b)}; }
  static HWY_INLINE Real real(Word x) { return {O::real(x.a), O::real(x.b)}; }
  static HWY_INLINE Real from_signed(Word x) { return {O::from_signed(x.a), O::from_signed(x.b)}; }
  template <int n>
  static HWY_INLINE Word shift_left(Word x) {
    return {O::shift_left<n>(x.a), O::shift_left<n>(x.b)};
  }
  template <int n>
  static HWY_INLINE Word shift_right(Word x) {
    return {O::shift_right<n>(x.a), O::shift_right<n>(x.b)};
  }
  template <int n>
  static HWY_INLINE Word shift_right_signed(Word x) {
    return {O::shift_right_signed<n>(x.a), O::shift_right_signed<n>(x.b)};
  }
  static HWY_INLINE Real choose(Word mask, Real x, Real y) {
    return {O::choose(mask.a, x.a, y.a), O::choose(mask.b, x.b, y.b)};
  }
};

/// The normals of one (key, row), block by block. What does not depend on the block is prepared once.
///
/// Philox runs on half the lanes of a vector at a time: each 64-bit lane holds one 32-bit word in its low half and
/// anything in its high half, which the 32 × 32 → 64 bit product ignores; so no shuffles. Three of the four words that
/// enter are the same for all blocks, and so is half of the first two rounds.
///
/// Words and normals are made in two steps, because a loop over each of them keeps more of the processor busy than one
/// over both: Box–Muller is a long chain of operations that wait for one another.
class NormalBlocks {
 public:
  using O = VectorOperations;
  using WideTag = hn::RepartitionToWide<O::WordTag>;
  using Wide = hn::Vec<WideTag>;
  static constexpr std::size_t lanes = hn::MaxLanes(O::WordTag());
  static constexpr std::size_t numbers = 4 * lanes;  ///< of a vector of blocks

  HWY_INLINE NormalBlocks(const NoiseKey& key, std::uint32_t row) {
    const WideTag wide;
    std::uint32_t key0 = static_cast<std::uint32_t>(key.seed), key1 = static_cast<std::uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      hn::Store(hn::Set(wide, std::uint64_t{key0}), wide, keys_[round][0]);
      hn::Store(hn::Set(wide, std::uint64_t{key1}), wide, keys_[round][1]);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    const std::uint64_t step_low = key.step & 0xFFFFFFFFu;
    const std::uint64_t stream =
        std::uint64_t{static_cast<std::uint8_t>(key.stream)} << 24 | (key.step >> 32 & 0xFFFFFFu);
    // Round 0 of the words row, step_low, stream, of which only the last mixes with the block, and round 1 of what
    // follows from them alone.
    const std::uint64_t product1 = right * step_low;
    const std::uint64_t word0 = product1 >> 32 ^ row ^ static_cast<std::uint32_t>(key.seed);
    const std::uint64_t product0 = left * (word0 & 0xFFFFFFFFu);
    const auto prepare = [&](std::uint64_t value, std::uint64_t* to) { hn::Store(hn::Set(wide, value), wide, to); };
    prepare(stream ^ key.seed >> 32, mixed_[0]);
    prepare(product1 ^ keys_[1][0][0], mixed_[1]);
    prepare(product0 >> 32 ^ keys_[1][1][0], mixed_[2]);
    prepare(product0 ^ keys_[2][1][0], mixed_[3]);
  }

  /// Writes the four words of a vector of blocks to `words` [numbers], in an order for `store_normals` only.
  HWY_INLINE void store_words(O::Word block, std::uint32_t* words) const {
    const WideTag wide;
    const O::WordTag word;
    State even = start(hn::BitCast(wide, block)), odd = start(hn::ShiftRight<32>(hn::BitCast(wide, block)));
#pragma GCC unroll 7
    for (int round = 3; round < 10; ++round) {
      const Wide key0 = hn::Load(wide, keys_[round][0]), key1 = hn::Load(wide, keys_[round][1]);
      advance(even, key0, key1);
      advance(odd, key0, key1);
    }
    hn::Store(interleave(even.c0, odd.c0), word, words);
    hn::Store(interleave(even.c1, odd.c1), word, words + lanes);
    hn::Store(interleave(even.c2, odd.c2), word, words + 2 * lanes);
    hn::Store(interleave(even.c3, odd.c3), word, words + 3 * lanes);
  }

  /// Turns what store_words wrote into the normals at indices 4·block, 4·block + 1, … in `values` [numbers], which may
  /// be the same memory.
  static HWY_INLINE void store_normals(const std::uint32_t* words, float* values) {
    const O::WordTag word;
    const TwinOperations::Word first{hn::Load(word, words), hn::Load(word, words + 2 * lanes)};
    const TwinOperations::Word second{hn::Load(word, words + lanes), hn::Load(word, words + 3 * lanes)};
    const NormalPair<TwinOperations::Real> pairs = box_muller_steps<TwinOperations>(first, second);
    hn::StoreInterleaved4(pairs.first.a, pairs.second.a, pairs.first.b, pairs.second.b, O::RealTag(), values);
  }

 private:
  struct State {
    Wide c0, c1, c2, c3;
  };
  static constexpr std::uint64_t left = 0xD2511F53u, right = 0xCD9E8D57u;

  static HWY_INLINE Wide times(std::uint64_t factor, Wide value) {
    const O::WordTag word;
    return hn::MulEven(hn::BitCast(word, value), hn::Set(word, static_cast<std::uint32_t>(factor)));
  }
  /// Rounds 0, 1 and 2.
  HWY_INLINE State start(Wide block) const {
    const WideTag wide;
    const Wide first0 = times(left, block);
    const Wide second1 = times(right, hn::ShiftRight<32>(first0) ^ hn::Load(wide, mixed_[0]));
    const Wide c0 = hn::ShiftRight<32>(second1) ^ hn::Load(wide, mixed_[1]);
    const Wide third0 = times(left, c0), third1 = times(right, first0 ^ hn::Load(wide, mixed_[2]));
    return {hn::ShiftRight<32>(third1) ^ (second1 ^ hn::Load(wide, keys_[2][0])), third1,
            hn::ShiftRight<32>(third0) ^ hn::Load(wide, mixed_[3]), third0};
  }
  static HWY_INLINE void advance(State& state, Wide key0, Wide key1) {
    const Wide product0 = times(left, state.c0), product1 = times(right, state.c2);
    state.c0 = hn::ShiftRight<32>(product1) ^ (state.c1 ^ key0);
    state.c2 = hn::ShiftRight<32>(product0) ^ (state.c3 ^ key1);
    state.c1 = product1;
    state.c3 = product0;
  }
  /// Words of the even lanes from `even`, of the odd lanes from `odd`.
  static HWY_INLINE O::Word interleave(Wide even, Wide odd) {
    const O::WordTag word;
    return hn::OddEven(hn::BitCast(word, hn::ShiftLeft<32>(odd)), hn::BitCast(word, even));
  }

  static constexpr std::size_t wide_lanes = hn::MaxLanes(WideTag());
  HWY_ALIGN std::uint64_t keys_[10][2][wide_lanes];
  HWY_ALIGN std::uint64_t mixed_[4][wide_lanes];
};

}  // namespace stein::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
