#include <hwy/cache_control.h>
#include <stein/core/parallel.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/mean_field_pass.h>

#ifndef STEIN_INFERENCE_FUSED_MEAN_FIELD_PASS_CHUNK_  // this file is compiled once a target
#define STEIN_INFERENCE_FUSED_MEAN_FIELD_PASS_CHUNK_
namespace stein::inference {

constexpr std::int64_t chunk_weights = 512;  // of a few arrays, which the first-level cache holds
constexpr std::uint64_t noise_group = 64;    // of whole vectors of blocks on every target
constexpr std::size_t most_noise = chunk_weights + 2 * noise_group;

/// What the way back of `count` weights reads and writes.
struct MeanFieldChunk {
  const float *mean, *rho;
  const float *slopes, *pulls;  ///< Σ g and Σ g ε over draws, or g and ε of a single one
  float precision;
  float* decays;  ///< working memory
  float *mean_gradient, *deviation_gradient;
  std::int64_t count;
};

}  // namespace stein::inference
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/mean_field_pass.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/core/normal-inl.h>
#include <stein/inference/fused/exponential-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(FloatTag()));

HWY_INLINE FloatVector set(float x) {
  return hn::Set(FloatTag(), x);
}

/// e^(−|ρ|), what softplus and its slope are made of.
struct Decay {
  HWY_INLINE void operator()(const FloatVector (&rho)[1], FloatVector (&e)[1]) const {
    e[0] = exponential::decay(rho[0]);
  }
};

using exponential::decay_steps;
using exponential::log_one_plus_steps;
#include <stein/inference/parameterizations/mean_field_steps.inc>

/// Calls body for `count` numbers of every input, a vector at a time, and stores what it makes of them.
template <int inputs, int outputs, class Body>
HWY_INLINE void for_each_vector(const Body& body, const float* const (&from)[inputs], float* const (&to)[outputs],
                                std::int64_t count) {
  const FloatTag d;
  FloatVector x[inputs], y[outputs];
  std::int64_t q = 0;
  for (; q + lanes <= count; q += lanes) {
#pragma GCC unroll 5
    for (int k = 0; k < inputs; ++k) x[k] = hn::LoadU(d, from[k] + q);
    body(x, y);
#pragma GCC unroll 5
    for (int k = 0; k < outputs; ++k) hn::StoreU(y[k], d, to[k] + q);
  }
  if (q == count) return;
  HWY_ALIGN float tail[lanes] = {};
#pragma GCC unroll 5
  for (int k = 0; k < inputs; ++k) {
    std::copy(from[k] + q, from[k] + count, tail);
    x[k] = hn::Load(d, tail);
  }
  body(x, y);
#pragma GCC unroll 5
  for (int k = 0; k < outputs; ++k) {
    hn::Store(y[k], d, tail);
    std::copy_n(tail, count - q, to[k] + q);
  }
}

struct Draw {
  HWY_INLINE void operator()(const FloatVector (&x)[4], FloatVector (&theta)[1]) const {
    theta[0] = draw_step<exponential::Operations>(x[0], x[1], x[2], x[3]);
  }
};

/// Σ g and Σ g ε, with one draw more.
struct AddUp {
  HWY_INLINE void operator()(const FloatVector (&x)[4], FloatVector (&sum)[2]) const {
    sum[0] = hn::Add(x[2], x[0]);
    sum[1] = hn::MulAdd(x[0], x[1], x[3]);
  }
};

/// From μ, ρ, its e, Σ g and Σ g ε; with one draw from μ, ρ, its e, g and ε.
template <bool one_draw>
struct PullBack {
  FloatVector precision;
  HWY_INLINE void operator()(const FloatVector (&x)[5], FloatVector (&gradient)[2]) const {
    const FloatVector pulls = one_draw ? hn::Mul(x[3], x[4]) : x[4];
    const PullBackStep<exponential::Operations> step(precision, x[0], x[1], x[2], x[3], pulls);
    gradient[0] = step.mean;
    gradient[1] = step.rho;
  }
};

/// Makes the ε from `start` on in whole groups of vectors. While the processor is busy with them, the memory that is
/// used next is on its way.
void make_noise(const MeanFieldNoise& noise, std::uint64_t start, std::span<float> epsilon,
                std::span<const float* const> next) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(next);
  fill_normal(epsilon, noise.key, noise.row, start);
#else
  using Normals = stein::HWY_NAMESPACE::NormalBlocks;
  using WordTag = stein::HWY_NAMESPACE::VectorOperations::WordTag;
  constexpr std::size_t group = Normals::numbers, cache_line = 16;
  const Normals normals(noise.key, noise.row);
  HWY_ALIGN std::uint32_t words[most_noise];
  auto block = hn::Iota(WordTag(), static_cast<std::uint32_t>(start / 4));
  for (std::size_t q = 0; q < epsilon.size(); q += group) {
    normals.store_words(block, words + q);
    block = hn::Add(block, hn::Set(WordTag(), static_cast<std::uint32_t>(lanes)));
    for (const float* const place : next)
      for (std::size_t j = q; j < q + group; j += cache_line) hwy::Prefetch(place + j);
  }
  for (std::size_t q = 0; q < epsilon.size(); q += group) Normals::store_normals(words + q, epsilon.data() + q);
#endif
}

// The e of a chunk are made first, into `decays`: two loops of short chains of operations keep more of the processor
// busy than one of long ones.

void draw_chunk(const float* mean, const float* rho, const float* epsilon, float* decays, float* weights,
                std::int64_t count) {
  for_each_vector(Decay(), {rho}, {decays}, count);
  for_each_vector(Draw(), {mean, rho, decays, epsilon}, {weights}, count);
}

void add_up_chunk(const float* slope, const float* epsilon, float* slopes, float* pulls, std::int64_t count) {
  for_each_vector(AddUp(), {slope, epsilon, slopes, pulls}, {slopes, pulls}, count);
}

void pull_back_chunk(const MeanFieldChunk& chunk, bool one_draw) {
  for_each_vector(Decay(), {chunk.rho}, {chunk.decays}, chunk.count);
  const auto run = [&](const auto& body) {
    for_each_vector(body, {chunk.mean, chunk.rho, chunk.decays, chunk.slopes, chunk.pulls},
                    {chunk.mean_gradient, chunk.deviation_gradient}, chunk.count);
  };
  const FloatVector precision = set(chunk.precision);
  one_draw ? run(PullBack<true>{precision}) : run(PullBack<false>{precision});
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(make_noise);
HWY_EXPORT(draw_chunk);
HWY_EXPORT(add_up_chunk);
HWY_EXPORT(pull_back_chunk);

namespace fused {
namespace {

constexpr std::int64_t block_weights = 4096;  // of a task: fixed, whatever the number of threads

/// The ε of one chunk.
class ChunkNoise {
 public:
  /// Of weights begin … begin + count: a few more on both sides, to the ends of their groups.
  /// @param next  where the numbers of the same chunk lie that are read or written next
  const float* make(const MeanFieldNoise& noise, std::int64_t begin, std::int64_t count,
                    std::initializer_list<const float*> next) {
    const std::uint64_t first = noise.first + static_cast<std::uint64_t>(begin);
    const std::uint64_t start = first / noise_group * noise_group;
    const std::uint64_t end = (first + static_cast<std::uint64_t>(count) + noise_group - 1) / noise_group * noise_group;
    HWY_DYNAMIC_DISPATCH(make_noise)(noise, start, {numbers_, end - start}, {next.begin(), next.size()});
    return numbers_ + (first - start);
  }

 private:
  alignas(64) float numbers_[most_noise];
};

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

void draw(const MeanField<float>& law, const MeanFieldNoise& noise, std::span<float> weights) {
  for_each_chunk(law.size(), [&](std::int64_t begin, std::int64_t count) {
    const float* const mean = law.mean.data() + begin;
    const float* const rho = law.log_deviation.data() + begin;
    const bool end_to_end = law.stride == law.columns;
    ChunkNoise epsilon;
    alignas(64) float packed[chunk_weights], decays[chunk_weights];
    float* const to = end_to_end ? weights.data() + begin : packed;
    HWY_DYNAMIC_DISPATCH(draw_chunk)
    (mean, rho, epsilon.make(noise, begin, count, {mean, rho, to}), decays, to, count);
    if (!end_to_end) spread(law, packed, begin, count, weights.data());
  });
}

void pull_back(const MeanField<float>& law, const MeanFieldNoise& noise, MatrixView<const float> weight_gradient,
               double precision, std::span<float> mean_gradient, std::span<float> deviation_gradient) {
  for_each_chunk(law.size(), [&](std::int64_t begin, std::int64_t count) {
    ChunkNoise epsilon;
    alignas(64) float packed[chunk_weights], decays[chunk_weights];
    MeanFieldChunk chunk{.mean = law.mean.data() + begin,
                         .rho = law.log_deviation.data() + begin,
                         .slopes = nullptr,
                         .pulls = nullptr,
                         .precision = static_cast<float>(precision),
                         .decays = decays,
                         .mean_gradient = mean_gradient.data() + begin,
                         .deviation_gradient = deviation_gradient.data() + begin,
                         .count = count};
    const auto slope_of = [&](std::int64_t s) -> const float* {
      const float* const all = weight_gradient.row(s).data();
      if (law.stride == law.columns) return all + begin;
      pack(law, all, begin, count, packed);
      return packed;
    };
    if (weight_gradient.rows == 1) {
      chunk.slopes = slope_of(0);
      chunk.pulls = epsilon.make(noise, begin, count,
                                 {chunk.mean, chunk.rho, chunk.slopes, chunk.mean_gradient, chunk.deviation_gradient});
      HWY_DYNAMIC_DISPATCH(pull_back_chunk)(chunk, true);
      return;
    }
    alignas(64) float slopes[chunk_weights] = {}, pulls[chunk_weights] = {};
    MeanFieldNoise own = noise;
    for (std::int64_t s = 0; s < weight_gradient.rows; ++s, ++own.row) {
      const float* const slope = slope_of(s);
      const float* const drawn = epsilon.make(own, begin, count, {slope});
      HWY_DYNAMIC_DISPATCH(add_up_chunk)(slope, drawn, slopes, pulls, count);
    }
    chunk.slopes = slopes, chunk.pulls = pulls;
    HWY_DYNAMIC_DISPATCH(pull_back_chunk)(chunk, false);
  });
}

}  // namespace fused
}  // namespace stein::inference
#endif
