#include <stein/core/box_muller.h>
#include <stein/core/error.h>
#include <stein/core/rng.h>

#include <numbers>

namespace stein {
namespace {

void check_index(std::uint64_t index) {
  STEIN_CHECK(index < numbers_in_a_row, "the index of a random number must be < 2^34, got {}", index);
}

}  // namespace

template <>
float normal_at<float>(const NoiseKey& key, std::uint32_t row, std::uint64_t index) {
  check_index(index);
  const PhiloxBlock words = random_block(key, row, static_cast<std::uint32_t>(index / 4));
  const std::size_t pair = index % 4 / 2;
  const NormalPair<float> normals = box_muller(words[2 * pair], words[2 * pair + 1]);
  return index % 2 == 0 ? normals.first : normals.second;
}

template <>
double normal_at<double>(const NoiseKey& key, std::uint32_t row, std::uint64_t index) {
  check_index(index);
  const PhiloxBlock words = random_block(key, row, static_cast<std::uint32_t>(index / 4));
  const std::size_t pair = index % 4 / 2;
  const double uniform = ((words[2 * pair] >> 1) + 0.5) * 0x1p-31;
  const double angle = std::numbers::pi * static_cast<std::int32_t>(words[2 * pair + 1]) * 0x1p-31;
  const double radius = std::sqrt(-2 * std::log(uniform));
  return radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

void fill_normal(std::span<double> values, const NoiseKey& key, std::uint32_t row, std::uint64_t first) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = normal_at<double>(key, row, first + i);
}

std::uint32_t Draws::integer(std::uint32_t count) {
  STEIN_CHECK(count > 0, "a random integer needs a positive count, got 0");
  std::uint64_t product = std::uint64_t{word()} * count;
  const std::uint32_t threshold = (0u - count) % count;
  while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{word()} * count;
  return static_cast<std::uint32_t>(product >> 32);
}

double Draws::gamma(double shape) {
  STEIN_CHECK(shape > 0, "the shape of a gamma variable must be > 0, got {}", shape);
  if (shape < 1) {
    const double larger = gamma(shape + 1);  // drawn first: the operands of a product have no order
    return larger * std::pow(uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(), v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

std::size_t Draws::categorical(std::span<const double> weights) {
  double total = 0;
  for (const double weight : weights) {
    STEIN_CHECK(weight >= 0 && std::isfinite(weight), "weights of a categorical draw must be finite and ≥ 0, got {}",
                weight);
    total += weight;
  }
  STEIN_CHECK(total > 0, "weights of a categorical draw must not all be zero");
  double left = uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    last = i;
    left -= weights[i];
    if (left < 0) return i;
  }
  return last;
}

}  // namespace stein
