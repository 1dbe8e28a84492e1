// Standard normals a second: fill_normal against the standard library's distribution and generator.
#include <stein/bench/benchmark.h>
#include <stein/core/rng.h>

#include <random>
#include <vector>

namespace stein::bench {
namespace {

constexpr std::size_t numbers_a_round = 1 << 16;

std::vector<Row> measure_rng(const NoOptions&) {
  std::vector<float> ours(numbers_a_round), reference(numbers_a_round);
  NoiseKey key{.seed = 1};
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  const Pair seconds = measure_pair(
      [&] {
        ++key.step;
        fill_normal(std::span<float>(ours), key, 0);
        keep(ours.front());
      },
      [&] {
        for (float& value : reference) value = normal(generator);
        keep(reference.front());
      });
  const double millions = numbers_a_round / 1e6;
  return {{.name = "normal-float",
           .ours = millions / seconds.ours,
           .reference = millions / seconds.reference,
           .unit = "million/s",
           .better = Better::higher,
           .extra = {{"reference_is", "std::normal_distribution<float> with std::mt19937"}}}};
}

[[maybe_unused]] const bool registered =
    register_benchmark("rng", "standard normals a second, one thread, against the standard library's", measure_rng);

}  // namespace
}  // namespace stein::bench
