#include <stein/core/block_sums.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/slab_shares.h>

#include <algorithm>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/slab_shares.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using DoubleVector = hn::Vec<DoubleTag>;
constexpr std::int64_t doubles = static_cast<std::int64_t>(hn::MaxLanes(DoubleTag()));

HWY_INLINE DoubleVector moved_shares(const SpikeOdds& odds, DoubleVector beta, DoubleVector omega, DoubleVector rho) {
  const DoubleTag d;
  const DoubleVector one = hn::Set(d, 1);
  const DoubleVector near = hn::NegMulAdd(hn::Set(d, odds.absolute), hn::Abs(beta), hn::Set(d, odds.constant));
  // Beyond e⁷⁰⁰ the probability is 0 to 300 digits, and the exponential has no more room.
  const DoubleVector log_odds = hn::MulAdd(hn::Mul(hn::Set(d, odds.square), beta), beta, near);
  const DoubleVector slab = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Min(log_odds, hn::Set(d, 700)))));
  return hn::MulAdd(omega, hn::Sub(slab, rho), rho);
}

double move_slab_shares(const SpikeOdds& odds, const double* weights, double omega, double* rho, std::int64_t size) {
  const DoubleTag d;
  const DoubleVector rate = hn::Set(d, omega);
  DoubleVector sums = hn::Zero(d);
  std::int64_t j = 0;
  for (; j + doubles <= size; j += doubles) {
    const DoubleVector moved = moved_shares(odds, hn::LoadU(d, weights + j), rate, hn::LoadU(d, rho + j));
    hn::StoreU(moved, d, rho + j);
    sums = hn::Add(sums, moved);
  }
  HWY_ALIGN double parts[doubles], tail[doubles] = {};
  hn::Store(sums, d, parts);
  double sum = 0;
  for (const double part : parts) sum += part;
  if (j == size) return sum;
  std::copy(weights + j, weights + size, tail);
  std::fill(std::copy(rho + j, rho + size, parts), parts + doubles, 0.0);
  hn::Store(moved_shares(odds, hn::Load(d, tail), rate, hn::Load(d, parts)), d, parts);
  for (std::int64_t k = 0; k < size - j; ++k) sum += rho[j + k] = parts[k];
  return sum;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(move_slab_shares);

double fused::move_slab_shares(const SpikeOdds& odds, std::span<const double> weights, double omega,
                               std::span<double> rho) {
  constexpr std::int64_t least = 8192;
  return sum_of_blocks<double>(std::ssize(rho), least, [&](std::int64_t begin, std::int64_t end) {
    return HWY_DYNAMIC_DISPATCH(move_slab_shares)(odds, weights.data() + begin, omega, rho.data() + begin, end - begin);
  });
}

}  // namespace stein::inference
#endif
