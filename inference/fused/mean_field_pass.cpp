#include <hwy/cache_control.h>
#include <stein/core/parallel.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/mean_field_pass.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/mean_field_pass.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(FloatTag()));

/// σ = softplus(ρ) and ∂σ/∂ρ.
struct Deviation {
  FloatVector value, slope;

  HWY_INLINE explicit Deviation(FloatVector rho) {
    const FloatTag d;
    const auto set = [](float x) { return hn::Set(FloatTag(), x); };
    const FloatVector magnitude = hn::Abs(rho), e = hn::Exp(d, hn::Neg(magnitude));
    // log(1 + e) = 2 artanh s with s = e/(2 + e) ≤ 1/3: seven terms of its series, the eighth is below 2e-8 of the sum.
    const FloatVector s = hn::Div(e, hn::Add(set(2), e)), s2 = hn::Mul(s, s);
    FloatVector series = set(1.0f / 13);
    series = hn::MulAdd(series, s2, set(1.0f / 11));
    series = hn::MulAdd(series, s2, set(1.0f / 9));
    series = hn::MulAdd(series, s2, set(1.0f / 7));
    series = hn::MulAdd(series, s2, set(1.0f / 5));
    series = hn::MulAdd(series, s2, set(1.0f / 3));
    series = hn::MulAdd(series, s2, set(1));
    // (ρ + |ρ|)/2 is max(ρ, 0), and no number where ρ is none.
    value = hn::MulAdd(set(0.5f), hn::Add(rho, magnitude), hn::Mul(hn::Add(s, s), series));
    slope = hn::Div(hn::IfThenElse(hn::Lt(rho, hn::Zero(d)), e, set(1)), hn::Add(set(1), e));
  }
};

/// Calls body for `count` numbers of every input, a vector at a time, and stores what it makes of them.
template <int inputs, int outputs, class Body>
HWY_INLINE void for_each_vector(const Body& body, const float* const (&from)[inputs], float* const (&to)[outputs],
                                std::int64_t count) {
  const FloatTag d;
  FloatVector x[inputs], y[outputs];
  std::int64_t q = 0;
  for (; q + lanes <= count; q += lanes) {
#pragma GCC unroll 4
    for (int k = 0; k < inputs; ++k) x[k] = hn::LoadU(d, from[k] + q);
    body(x, y);
#pragma GCC unroll 4
    for (int k = 0; k < outputs; ++k) hn::StoreU(y[k], d, to[k] + q);
  }
  if (q == count) return;
  HWY_ALIGN float tail[lanes] = {};
#pragma GCC unroll 4
  for (int k = 0; k < inputs; ++k) {
    std::copy(from[k] + q, from[k] + count, tail);
    x[k] = hn::Load(d, tail);
  }
  body(x, y);
#pragma GCC unroll 4
  for (int k = 0; k < outputs; ++k) {
    hn::Store(y[k], d, tail);
    std::copy_n(tail, count - q, to[k] + q);
  }
}

struct Draw {
  HWY_INLINE void operator()(const FloatVector (&x)[3], FloatVector (&theta)[1]) const {
    theta[0] = hn::MulAdd(Deviation(x[1]).value, x[2], x[0]);
  }
};

struct AddUp {
  HWY_INLINE void operator()(const FloatVector (&x)[4], FloatVector (&sum)[2]) const {
    sum[0] = hn::Add(x[2], x[0]);
    sum[1] = hn::MulAdd(x[0], x[1], x[3]);
  }
};

struct PullBack {
  FloatVector precision;
  HWY_INLINE void operator()(const FloatVector (&x)[4], FloatVector (&gradient)[2]) const {
    const Deviation deviation(x[1]);
    gradient[0] = hn::NegMulAdd(precision, x[0], x[2]);
    gradient[1] = hn::MulAdd(hn::NegMulAdd(precision, deviation.value, x[3]), deviation.slope,
                             hn::Div(deviation.slope, deviation.value));
  }
};

/// θ = μ + σ ε.
void draw_chunk(const float* mean, const float* rho, const float* epsilon, float* weights, std::int64_t count) {
  for_each_vector(Draw(), {mean, rho, epsilon}, {weights}, count);
}

/// Adds a draw to Σ g and Σ g ε.
void add_up_chunk(const float* slope, const float* epsilon, float* slopes, float* pulls, std::int64_t count) {
  for_each_vector(AddUp(), {slope, epsilon, slopes, pulls}, {slopes, pulls}, count);
}

/// The gradients by μ and ρ from Σ g and Σ g ε.
void pull_back_chunk(const float* mean, const float* rho, const float* slopes, const float* pulls, float precision,
                     float* mean_gradient, float* deviation_gradient, std::int64_t count) {
  for_each_vector(PullBack{hn::Set(FloatTag(), precision)}, {mean, rho, slopes, pulls},
                  {mean_gradient, deviation_gradient}, count);
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(draw_chunk);
HWY_EXPORT(add_up_chunk);
HWY_EXPORT(pull_back_chunk);

namespace fused {
namespace {

constexpr std::int64_t block_weights = 4096;  // of a task: fixed, whatever the number of threads
constexpr std::int64_t chunk_weights = 256;   // as many as a few pages of the first-level cache hold
constexpr std::int64_t cache_line = 16;       // floats

/// The ε of one chunk. Made in whole groups of vectors, as fill_normal is fastest: a few more on both sides.
class ChunkNoise {
 public:
  /// Of weights begin … begin + count of draw s.
  const float* make(const MeanFieldNoise& noise, std::int64_t s, std::int64_t begin, std::int64_t count) {
    const std::uint64_t first = noise.first + static_cast<std::uint64_t>(begin), start = first / group * group;
    const std::uint64_t end = (first + static_cast<std::uint64_t>(count) + group - 1) / group * group;
    fill_normal(std::span(numbers_, end - start), noise.key, noise.row + static_cast<std::uint32_t>(s), start);
    return numbers_ + (first - start);
  }

 private:
  static constexpr std::uint64_t group = 64;
  alignas(64) float numbers_[chunk_weights + 2 * group];
};

/// Starts to bring a chunk in: while the processor is busy with its noise, the memory is on its way.
void prefetch(const float* from, std::int64_t count) {
  for (std::int64_t q = 0; q < count; q += cache_line) hwy::Prefetch(from + q);
}

/// Calls body(begin, count) for chunks, blocks of them at the same time.
template <class Body>
void for_each_chunk(std::int64_t size, const Body& body) {
  parallel_blocks(size, block_weights, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t q = begin; q < end; q += chunk_weights) body(q, std::min(chunk_weights, end - q));
  });
}

/// Puts a chunk of weights where they belong, with the zeros behind each row.
void spread(const MeanField<float>& law, const float* packed, std::int64_t begin, std::int64_t count, float* weights) {
  law.for_each_stretch(begin, begin + count, [&](std::int64_t q, std::int64_t place, std::int64_t length) {
    std::copy_n(packed + (q - begin), length, weights + place);
    if ((q + length) % law.columns == 0) std::fill_n(weights + place + length, law.stride - law.columns, 0.0f);
  });
}

/// The reverse, without the zeros.
void pack(const MeanField<float>& law, const float* weights, std::int64_t begin, std::int64_t count, float* packed) {
  law.for_each_stretch(begin, begin + count, [&](std::int64_t q, std::int64_t place, std::int64_t length) {
    std::copy_n(weights + place, length, packed + (q - begin));
  });
}

}  // namespace

void draw(const MeanField<float>& law, const MeanFieldNoise& noise, float* weights) {
  for_each_chunk(law.size(), [&](std::int64_t begin, std::int64_t count) {
    const float* const mean = law.mean.data() + begin;
    const float* const rho = law.log_deviation.data() + begin;
    const bool end_to_end = law.stride == law.columns;
    prefetch(mean, count), prefetch(rho, count);
    if (end_to_end) prefetch(weights + begin, count);
    ChunkNoise epsilon;
    alignas(64) float packed[chunk_weights];
    HWY_DYNAMIC_DISPATCH(draw_chunk)
    (mean, rho, epsilon.make(noise, 0, begin, count), end_to_end ? weights + begin : packed, count);
    if (!end_to_end) spread(law, packed, begin, count, weights);
  });
}

void pull_back(const MeanField<float>& law, const MeanFieldNoise& noise, MatrixView<const float> weight_gradient,
               double precision, std::span<float> mean_gradient, std::span<float> deviation_gradient) {
  for_each_chunk(law.size(), [&](std::int64_t begin, std::int64_t count) {
    const float* const mean = law.mean.data() + begin;
    const float* const rho = law.log_deviation.data() + begin;
    const bool end_to_end = law.stride == law.columns;
    prefetch(mean, count), prefetch(rho, count);
    prefetch(mean_gradient.data() + begin, count), prefetch(deviation_gradient.data() + begin, count);
    ChunkNoise epsilon;
    alignas(64) float packed[chunk_weights], slopes[chunk_weights] = {}, pulls[chunk_weights] = {};
    for (std::int64_t s = 0; s < weight_gradient.rows; ++s) {
      const float* const gradient = weight_gradient.row(s).data();
      if (end_to_end)
        prefetch(gradient + begin, count);
      else
        pack(law, gradient, begin, count, packed);
      HWY_DYNAMIC_DISPATCH(add_up_chunk)
      (end_to_end ? gradient + begin : packed, epsilon.make(noise, s, begin, count), slopes, pulls, count);
    }
    HWY_DYNAMIC_DISPATCH(pull_back_chunk)
    (mean, rho, slopes, pulls, static_cast<float>(precision), mean_gradient.data() + begin,
     deviation_gradient.data() + begin, count);
  });
}

}  // namespace fused
}  // namespace stein::inference
#endif
