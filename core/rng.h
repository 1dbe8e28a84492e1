// Counter-based random numbers: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
//
// A number is a pure function of (seed, stream, step, row, index): it does not depend on threads, on the order of
// draws, on ranks, or on how parameters are padded or batched. Key = seed (64 bits); counter = (index / 4, row, low
// half of step, stream in the top 8 bits | high 24 bits of step).
#pragma once

#include <stein/core/host_device.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace stein {

/// What a number is drawn for; two streams of one seed never share a number.
enum class Stream : std::uint8_t {
  initial_values,    ///< start of particles and weights
  minibatch,         ///< which rows a minibatch takes
  sampler,           ///< noise that a sampler injects
  model,             ///< noise inside a model: dropout
  parameterization,  ///< ε of a stochastic parameterization
  context,           ///< what an environment shows
  reward,            ///< what an environment answers
  decision,          ///< how a policy breaks ties and explores
  environment,       ///< fixed parameters of a random environment
  prior_function,    ///< fixed random functions added to particles
  data,              ///< synthetic data sets
  test,              ///< used by tests only
  perturbation,      ///< noise of targets and weights of rows that particles do not share
};

/// Names a sheet of random numbers, whose rows are the global rows of particles, chains, or slots.
struct NoiseKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  ///< < 2^56
  Stream stream = Stream::test;
};

/// Indices of one row: a counter of 32 bits, four numbers each.
inline constexpr std::uint64_t numbers_in_a_row = std::uint64_t{1} << 34;

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// The ten rounds on one counter; known answers in tests/core/rng_test.cpp.
STEIN_HOST_DEVICE inline PhiloxBlock philox4x32_10(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

/// The four words at `block` (= index / 4) of `row` under `key`.
STEIN_HOST_DEVICE inline PhiloxBlock random_block(const NoiseKey& key, std::uint32_t row, std::uint32_t block) {
  const PhiloxBlock counter{
      block, row, static_cast<std::uint32_t>(key.step),
      (static_cast<std::uint32_t>(key.stream) << 24) | (static_cast<std::uint32_t>(key.step >> 32) & 0xFFFFFFu)};
  return philox4x32_10(counter, static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32));
}

/// The standard normal at `index` of `row` under `key` (Box–Muller: words 0, 1 give normals 0, 1; words 2, 3 give 2,
/// 3). The float form has the same bits as the vector form of fill_normal on every SIMD target; the double form uses
/// the same words, so both walk the same path to float precision. |value| < 6.67.
/// Throws Error(usage) unless index < numbers_in_a_row.
template <class Scalar>
Scalar normal_at(const NoiseKey& key, std::uint32_t row, std::uint64_t index);
template <>
float normal_at<float>(const NoiseKey& key, std::uint32_t row, std::uint64_t index);
template <>
double normal_at<double>(const NoiseKey& key, std::uint32_t row, std::uint64_t index);

/// Fills `values` with the normals at indices first, first + 1, … of `row`; the float form is vectorised.
/// Throws Error(usage) unless all of them are < numbers_in_a_row.
void fill_normal(std::span<float> values, const NoiseKey& key, std::uint32_t row, std::uint64_t first = 0);
void fill_normal(std::span<double> values, const NoiseKey& key, std::uint32_t row, std::uint64_t first = 0);

/// The first two blocks of a row.
using OpeningWords = std::array<PhiloxBlock, 2>;

/// Those of every row of `rows`, to `words` of the same length; vectorised.
void opening_words(const NoiseKey& key, std::span<const std::uint32_t> rows, std::span<OpeningWords> words);

/// Uniform on (0, 1) from two words: 53 bits, never 0 nor 1.
STEIN_HOST_DEVICE inline double uniform_of(std::uint32_t first, std::uint32_t second) {
  const std::uint64_t high = first >> 5, low = second >> 6;  // 27 + 26 = 53 bits
  const double value = (static_cast<double>(high << 26 | low) + 0.5) * 0x1p-53;
  return value < 1 ? value : 1 - 0x1p-53;
}

/// The number at `index` of the uniform numbers that Draws(key, row) gives where it gives nothing else.
STEIN_HOST_DEVICE inline double uniform_at(const NoiseKey& key, std::uint32_t row, std::uint64_t index) {
  const PhiloxBlock words = random_block(key, row, static_cast<std::uint32_t>(index / 2));
  return index % 2 == 0 ? uniform_of(words[0], words[1]) : uniform_of(words[2], words[3]);
}

/// A sequence of draws that starts at the first word of (key, row): for code that needs a few numbers of different
/// kinds. It repeats itself after 2^34 words.
class Draws {
 public:
  STEIN_HOST_DEVICE Draws(const NoiseKey& key, std::uint32_t row) : key_(key), row_(row) {}
  /// The same sequence, whose opening is there already and stays there.
  STEIN_HOST_DEVICE Draws(const NoiseKey& key, std::uint32_t row, const OpeningWords& opening)
      : key_(key), row_(row), opening_(opening) {}

  STEIN_HOST_DEVICE std::uint32_t word() {
    if (used_ == 4) {
      words_ = block_ < opening_.size() ? opening_[block_] : random_block(key_, row_, block_);
      ++block_;
      used_ = 0;
    }
    return words_[static_cast<std::size_t>(used_++)];
  }
  /// Uniform on (0, 1), 53 bits, never 0 nor 1.
  STEIN_HOST_DEVICE double uniform() {
    const std::uint32_t first = word(), second = word();
    return uniform_of(first, second);
  }
  STEIN_HOST_DEVICE double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform integer in [0, count) without bias (Lemire 2019). Throws Error(usage) if count is 0.
  std::uint32_t integer(std::uint32_t count);
  /// Standard normal in double precision.
  STEIN_HOST_DEVICE double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// Gamma(shape, rate 1) for shape > 0 (Marsaglia & Tsang 2000). Throws Error(usage) otherwise.
  double gamma(double shape);
  /// Index drawn in proportion to `weights` (non-negative, positive sum). Throws Error(usage) otherwise.
  std::size_t categorical(std::span<const double> weights);

 private:
  NoiseKey key_;
  std::uint32_t row_;
  std::span<const PhiloxBlock> opening_;
  std::uint32_t block_ = 0;
  int used_ = 4;
  PhiloxBlock words_{};
};

}  // namespace stein
