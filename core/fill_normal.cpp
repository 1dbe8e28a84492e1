// Vectorised standard normals: Philox on one counter a lane, Box–Muller on the words, stored in the order of their
// indices.
#include <stein/core/box_muller.h>
#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/core/simd.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/core/fill_normal.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/core/normal-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::HWY_NAMESPACE {

/// Normals of `blocks` whole blocks of four from `first_block` on.
void fill_blocks(float* values, std::size_t blocks, const NoiseKey& key, std::uint32_t row, std::uint32_t first_block) {
  std::size_t b = 0;
#if HWY_TARGET != HWY_SCALAR
  using Normals = NormalBlocks;
  const Normals::O::WordTag word;
  constexpr std::size_t lanes = Normals::lanes, chunk = 16 * Normals::lanes;
  const Normals normals(key, row);
  auto counter = hn::Iota(word, first_block);
  HWY_ALIGN std::uint32_t words[4 * chunk];
  for (; b + lanes <= blocks; b += chunk) {
    const std::size_t count = std::min(chunk, (blocks - b) / lanes * lanes);
    for (std::size_t i = 0; i < count; i += lanes) {
      normals.store_words(counter, words + 4 * i);
      counter = hn::Add(counter, hn::Set(word, static_cast<std::uint32_t>(lanes)));
    }
    for (std::size_t i = 0; i < count; i += lanes) Normals::store_normals(words + 4 * i, values + 4 * (b + i));
  }
  b = std::min(b, blocks / lanes * lanes);
#endif
  for (; b < blocks; ++b) {
    const PhiloxBlock words = random_block(key, row, first_block + static_cast<std::uint32_t>(b));
    const auto pair0 = box_muller(words[0], words[1]), pair1 = box_muller(words[2], words[3]);
    values[4 * b] = pair0.first;
    values[4 * b + 1] = pair0.second;
    values[4 * b + 2] = pair1.first;
    values[4 * b + 3] = pair1.second;
  }
}

}  // namespace stein::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein {

HWY_EXPORT(fill_blocks);

void fill_normal(std::span<float> values, const NoiseKey& key, std::uint32_t row, std::uint64_t first) {
  STEIN_CHECK(first <= numbers_in_a_row && values.size() <= numbers_in_a_row - first,
              "indices of random numbers must be < 2^34, got {} from {} on", values.size(), first);
  std::size_t i = 0;
  for (; i < values.size() && (first + i) % 4 != 0; ++i) values[i] = normal_at<float>(key, row, first + i);
  const std::size_t blocks = (values.size() - i) / 4;
  if (blocks > 0)
    HWY_DYNAMIC_DISPATCH(fill_blocks)(values.data() + i, blocks, key, row, static_cast<std::uint32_t>((first + i) / 4));
  for (i += 4 * blocks; i < values.size(); ++i) values[i] = normal_at<float>(key, row, first + i);
}

}  // namespace stein
#endif
