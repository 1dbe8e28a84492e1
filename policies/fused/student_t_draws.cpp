// A variable a lane: words and normals in vectors of words and floats, the draws in vectors of doubles. Where the
// squeeze does not accept, the exact bound is looked at for that variable alone.
#include <stein/core/simd.h>
#include <stein/policies/fused/student_t_draws.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/policies/fused/student_t_draws.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/core/normal-inl.h>
#include <stein/core/philox_rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::policies::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void draw_each(const StudentTDraws& draws) {
  reference::draw_each(draws);
}
#else
namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using DoubleTag = hn::ScalableTag<double>;
using Double = hn::Vec<DoubleTag>;
constexpr std::size_t chunk = hn::MaxLanes(FloatTag());

/// The first proposals of as many variables as a vector of floats has lanes.
struct Proposals {
  HWY_ALIGN float normals[chunk], others[chunk];
  HWY_ALIGN std::int32_t uniforms[chunk];  ///< 31 bits

  HWY_INLINE Proposals(const NoiseKey& key, const std::uint32_t* rows) {
    namespace philox = stein::HWY_NAMESPACE::philox_rows;
    using Operations = stein::HWY_NAMESPACE::VectorOperations;
    const philox::WordTag word;
    const auto row = hn::BitCast(philox::WideTag(), hn::Load(word, rows));
    auto even = philox::Counters::of(key, row, 0), odd = philox::Counters::of(key, hn::ShiftRight<32>(row), 0);
    philox::mix(key, even, odd);
    const auto pair = stein::HWY_NAMESPACE::box_muller_steps<Operations>(philox::interleaved(even.c0, odd.c0),
                                                                         philox::interleaved(even.c1, odd.c1));
    hn::Store(pair.first, FloatTag(), normals);
    hn::Store(pair.second, FloatTag(), others);
    const auto bits = hn::ShiftRight<1>(philox::interleaved(even.c2, odd.c2));
    hn::Store(hn::BitCast(hn::RebindToSigned<philox::WordTag>(), bits), hn::RebindToSigned<philox::WordTag>(),
              uniforms);
  }
  GammaProposal of(std::size_t k) const {
    return {.normal = normals[k], .other = others[k], .uniform = uniform_of(static_cast<std::uint32_t>(uniforms[k]))};
  }
};

/// Variables of a chunk, number by number.
struct Variables {
  HWY_ALIGN double degrees[chunk], locations[chunk], scales[chunk];
};

/// Draws as many variables as a vector of doubles has lanes; a bit for each that the squeeze accepts.
HWY_INLINE std::uint64_t draw_vector(const Variables& variables, const Proposals& proposals, std::size_t k,
                                     double* values) {
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> half;
  const hn::Rebind<std::int32_t, DoubleTag> whole;
  const auto set = [&](double value) { return hn::Set(d, value); };
  const Double shape = hn::Mul(hn::Load(d, variables.degrees + k), set(0.5));
  const Double rest = hn::Sub(shape, set(1.0 / 3));
  const Double c = hn::Div(set(1), hn::Sqrt(hn::Mul(set(9), rest)));
  const Double x = hn::PromoteTo(d, hn::Load(half, proposals.others + k));
  const Double y = hn::Add(set(1), hn::Mul(c, x)), v = hn::Mul(hn::Mul(y, y), y), x2 = hn::Mul(x, x);
  const Double normal = hn::PromoteTo(d, hn::Load(half, proposals.normals + k));
  const Double t = hn::Mul(normal, hn::Sqrt(hn::Div(shape, hn::Mul(rest, v))));
  hn::Store(hn::Add(hn::Load(d, variables.locations + k), hn::Mul(hn::Load(d, variables.scales + k), t)), d, values);
  const Double bits = hn::PromoteTo(d, hn::Load(whole, proposals.uniforms + k));
  const Double uniform = hn::Mul(hn::Add(bits, set(0.5)), set(0x1p-31));
  const Double bound = hn::Sub(set(1), hn::Mul(set(squeeze_factor), hn::Mul(x2, x2)));
  const auto accepted =
      hn::And(hn::Gt(y, hn::Zero(d)), hn::And(hn::Ge(shape, set(squeeze_shape)), hn::Lt(uniform, bound)));
  std::uint8_t mask[8] = {};
  hn::StoreMaskBits(d, accepted, mask);
  return mask[0];
}

void draw_each(const StudentTDraws& draws) {
  constexpr std::size_t lanes = hn::MaxLanes(DoubleTag());
  HWY_ALIGN std::uint32_t rows[chunk];
  HWY_ALIGN double values[lanes];
  Variables variables;
  for (std::size_t first = 0; first < draws.variables.size(); first += chunk) {
    const std::size_t count = std::min(chunk, draws.variables.size() - first);
    for (std::size_t k = 0; k < chunk; ++k) {
      const std::size_t i = first + std::min(k, count - 1);
      const auto& [degrees, location, scale] = draws.variables[i];
      variables.degrees[k] = degrees, variables.locations[k] = location, variables.scales[k] = scale;
      rows[k] = draws.rows[i];
    }
    const Proposals proposals(draws.key, rows);
    for (std::size_t k = 0; k < count; k += lanes) {
      const std::size_t some = std::min(lanes, count - k);
      std::uint64_t refused = ~draw_vector(variables, proposals, k, values) & ((std::uint64_t{1} << some) - 1);
      for (; refused != 0; refused &= refused - 1) {
        const auto j = static_cast<std::size_t>(std::countr_zero(refused));
        values[j] = accepted_draw(draws.variables[first + k + j], draws.key, rows[k + j], proposals.of(k + j));
      }
      std::copy_n(values, some, draws.values.begin() + static_cast<std::ptrdiff_t>(first + k));
    }
  }
}
#endif

}  // namespace stein::policies::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::policies::fused {

HWY_EXPORT(draw_each);

void draw_each(const StudentTDraws& draws) {
  HWY_DYNAMIC_DISPATCH(draw_each)(draws);
}

}  // namespace stein::policies::fused
#endif
