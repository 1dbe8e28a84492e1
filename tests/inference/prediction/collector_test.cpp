// Which samples are kept, where they are kept, and that a run that was interrupted keeps the same.
#include <stein/inference/prediction/collected_samples.h>
#include <stein/inference/prediction/collector.h>
#include <stein/inference/prediction/sample_reservoir.h>
#include <stein/inference/samplers/sgld.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <numeric>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "inference/ensemble_of.h"
#include "inference/quadratic_chain.h"

using namespace stein;
using namespace stein::inference;

namespace {

using Steps = std::vector<std::int64_t>;

Steps plan_of(Selection selection, std::int64_t samples) {
  return Collector({.burn_in = 10, .thinning = 5, .samples = samples, .selection = selection}, 62).plan();
}

/// Two particles of three coordinates and a buffer, all numbers of their own.
Particles<float> numbered(float start) {
  Layout layout;
  layout.add("weight", {3}, Role::weight);
  layout.add_buffer("count", {1});
  Particles<float> particles(layout, 2, 4, 8);
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto row = particles.values().row(i);
    std::iota(row.begin(), row.end(), start + 10.0F * static_cast<float>(i));
    particles.buffers()(i, 0) = -start - static_cast<float>(i);
  }
  return particles;
}

bool same(const ParticleRows<const float>& a, const ParticleRows<const float>& b) {
  bool equal = a.values.rows == b.values.rows && a.first_row == b.first_row;
  for (std::int64_t i = 0; equal && i < a.values.rows; ++i)
    equal =
        std::ranges::equal(a.values.row(i), b.values.row(i)) && std::ranges::equal(a.buffers.row(i), b.buffers.row(i));
  return equal;
}

}  // namespace

TEST_CASE("samples are chosen among candidates from the front, from the back, or evenly with the last one",
          "[inference][collector]") {
  CHECK(selected(Selection::forward, 3, 8) == Steps{0, 1, 2});
  CHECK(selected(Selection::backward, 3, 8) == Steps{5, 6, 7});
  CHECK(selected(Selection::thinned, 3, 8) == Steps{1, 4, 7});
  for (const Selection all : {Selection::forward, Selection::backward, Selection::thinned})
    CHECK(selected(all, 3, 3) == Steps{0, 1, 2});
  CHECK_ERROR(selected(Selection::forward, 9, 8), usage, "cannot keep 9 of 8 candidates");
}

TEST_CASE("forward, backward and thinned collection keep the first, the last and equally distant samples",
          "[inference][collector]") {
  // Candidates after 10 steps, every fifth of the 52 that are left: steps 14, 19, …, 59, ten of them.
  CHECK(plan_of(Selection::forward, 4) == Steps{14, 19, 24, 29});
  CHECK(plan_of(Selection::backward, 4) == Steps{44, 49, 54, 59});
  CHECK(plan_of(Selection::thinned, 5) == Steps{19, 29, 39, 49, 59});
  CHECK(plan_of(Selection::thinned, 3) == Steps{24, 39, 59});
  for (const Selection selection : {Selection::forward, Selection::backward, Selection::thinned})
    CHECK(plan_of(selection, 10).size() == 10);

  Collector collector({.burn_in = 10, .thinning = 5, .samples = 3}, 62);
  Steps taken;
  for (std::int64_t t = 0; t < 62; ++t)
    if (collector.take({.accepted = t % 2 == 0}).keep)
      taken.push_back(t);  // where a proposal was refused, the chain stayed
  CHECK(taken == collector.plan());
  CHECK(collector.done());
  CHECK(collector.taken() == 3);
  CHECK_ERROR(collector.take({}), usage, "a run of 62 steps", "one more");
}

TEST_CASE("steps that explore give no samples", "[inference][collector]") {
  // Cycles of 10 steps, the first 8 without noise: 8, 9, 18, 19, 28, 29, …
  const auto exploring = [](std::int64_t t) { return t % 10 < 8; };
  Collector planned({.burn_in = 10, .thinning = 2, .samples = 2}, 40, exploring);
  CHECK(planned.plan() == Steps{19, 39});
  CHECK_ERROR(Collector({.burn_in = 10, .thinning = 2, .samples = 4}, 40, exploring), usage, "has 3 candidates");

  Collector surprised({.burn_in = 0, .samples = 10}, 10);  // nobody told it
  Steps taken;
  for (std::int64_t t = 0; t < 10; ++t)
    if (surprised.take({.exploring = exploring(t)}).keep) taken.push_back(t);
  CHECK(taken == Steps{8, 9});
  CHECK(surprised.taken() == 2);
  CHECK(surprised.skipped() == 8);
  Snapshot saved;
  surprised.save(saved);
  Collector resumed({.burn_in = 0, .samples = 10}, 10);
  resumed.restore(saved);
  CHECK(resumed.taken() == 2);
  CHECK(resumed.skipped() == 8);
  CHECK(resumed.take({.lost_steps = 10}).dropped == 2);  // what was passed over is no sample that is lost
}

TEST_CASE("a collection that cannot be is refused before the run", "[inference][collector]") {
  CHECK_ERROR(Collector({.burn_in = 0, .thinning = 0}, 100), usage, "thinning", "0", "≥ 1");
  CHECK_ERROR(Collector({.burn_in = 0, .samples = 0}, 100), usage, "samples", "0", "≥ 1");
  CHECK_ERROR(Collector({.burn_in = -1}, 100), usage, "burn_in", "-1");
  CHECK_ERROR(Collector({.burn_in = 100}, 100), usage, "a burn-in of 100 steps leaves nothing of a run of 100");
  CHECK_ERROR(Collector({.burn_in = 90, .thinning = 4, .samples = 3}, 100), usage, "a burn-in of 90", "thinning of 4",
              "has 2 candidates", "the 3 samples asked for");
}

TEST_CASE("a run that is interrupted collects what the whole run does, bit for bit", "[inference][collector]") {
  Quadratic<float> target(5, 1, 0);
  const CollectorOptions options{.burn_in = 50, .thinning = 3, .samples = 20};
  struct Run {
    Sgld<float> sampler;
    Particles<float> particles;
    Collector collector;
    CollectedSamples<float> samples;
    explicit Run(const Layout& layout, const CollectorOptions& chosen)
        : sampler({.step = {.step_size = 0.1}}, ensemble_of(2, 5, 1)),
          particles(layout, 2),
          collector(chosen, 200),
          samples(layout, 2) {}
    void go(Target<float>& on, int steps) {
      for (int t = 0; t < steps; ++t)
        if (collector.take(sampler.step(particles, on, {.data_size = 1})).keep) samples.add(particles);
    }
  };
  Run whole(target.layout(), options), first(target.layout(), options), second(target.layout(), options);
  whole.go(target, 200);
  first.go(target, 100);
  Snapshot states[4];
  first.sampler.save(states[0]), first.particles.save(states[1]);
  first.collector.save(states[2]), first.samples.save(states[3]);
  second.sampler.restore(states[0]), second.particles.restore(states[1]);
  second.collector.restore(states[2]), second.samples.restore(states[3]);
  second.go(target, 100);
  CHECK(whole.samples.size() == 20);
  CHECK(second.samples.size() == 20);
  CHECK(same(whole.samples.all(), second.samples.all()));

  Collector other({.burn_in = 51, .thinning = 3, .samples = 20}, 200);
  CHECK_ERROR(other.restore(states[2]), data, "keeps other steps");
  CollectedSamples<float> wider(target.layout(), 3);
  CHECK_ERROR(wider.restore(states[3]), data, "of 2 particles, expected 3");
  Snapshot broken;
  broken.put_text("layout", target.layout().description());
  broken.put("counts", std::vector<std::int64_t>{2, 0});
  CHECK_ERROR(wider.restore(broken), data, "no counts");
}

TEST_CASE("samples are kept with their buffers, sample by sample and chain by chain", "[inference][collector]") {
  const Particles<float> first = numbered(1), second = numbered(100);
  CollectedSamples<float> samples(first.layout(), 2);
  samples.add(first), samples.add(second);
  CHECK(same(samples.sample(0), first.coordinates()));
  CHECK(same(samples.sample(1), second.coordinates()));
  CHECK(samples.all().values.rows == 4);
  CHECK(samples.draws(1) == std::vector<double>{2, 101, 12, 111});
  Snapshot saved;
  samples.save(saved);
  CollectedSamples<float> restored(first.layout(), 2);
  restored.restore(saved);
  CHECK(same(restored.all(), samples.all()));
  CHECK(same(restored.sample(1), second.coordinates()));
  CHECK_ERROR(samples.sample(2), usage, "0 to 1, got 2");
  CHECK_ERROR(samples.draws(3), usage, "0 to 2, got 3");
  const Particles<float> alone(first.layout(), 1);
  CHECK_ERROR(samples.add(alone), usage, "expected 2 particles of 3", "got 1 of 3");
  const Particles<float> other_shard(first.layout(), 2, 2, 4);
  CHECK_ERROR(samples.add(other_shard), usage, "from row 4 on, got those from row 2 on");
}

TEST_CASE("samples on disk come back as they were", "[inference][collector]") {
  const test::TemporaryDirectory temporary;
  const std::filesystem::path directory = temporary / "samples";
  const Particles<float> first = numbered(1), second = numbered(100);
  Particles<float> read(first.layout(), 2, 4, 8);
  Snapshot after_one;
  {
    auto reservoir = SampleReservoir<float>::create(directory);
    reservoir.add(first);
    reservoir.save(after_one);
    reservoir.add(second);
  }
  CHECK_ERROR(SampleReservoir<float>::create(directory), usage, "a directory without samples", directory.string());
  auto reservoir = SampleReservoir<float>::open(directory);
  REQUIRE(reservoir.size() == 2);
  reservoir.read(1, read);
  CHECK(same(read.coordinates(), second.coordinates()));
  reservoir.read(0, read);
  CHECK(same(read.coordinates(), first.coordinates()));
  CHECK_ERROR(reservoir.read(2, read), usage, "0 to 1, got 2");

  const auto begun = directory / ".sample-000002.safetensors.12345-0.tmp";  // by a process that was killed
  std::ofstream(begun) << "half a file";
  reservoir.restore(after_one);  // what came after the checkpoint is made again
  CHECK_FALSE(std::filesystem::exists(begun));
  CHECK(reservoir.size() == 1);
  CHECK(SampleReservoir<float>::open(directory).size() == 1);
  reservoir.add(second);
  reservoir.read(1, read);
  CHECK(same(read.coordinates(), second.coordinates()));

  Layout layout;
  layout.add("other", {3}, Role::weight);
  Particles<float> different(layout, 2);
  CHECK_ERROR(reservoir.read(0, different), data, "weight");
  std::filesystem::remove(directory / "sample-000000.safetensors");
  CHECK_ERROR(SampleReservoir<float>::open(directory), data, "sample-000000.safetensors", "missing");
  CHECK_ERROR(SampleReservoir<float>::create(directory), usage, "a directory without samples");
  CHECK_ERROR(reservoir.restore(after_one), data, "sample-000000.safetensors", "missing");
  CHECK_ERROR(SampleReservoir<float>::open(directory / "nowhere"), data, "nowhere");
}

TEST_CASE("a sample on disk that is truncated or has a wrong bit is refused", "[inference][collector]") {
  const test::TemporaryDirectory temporary;
  const std::filesystem::path& directory = temporary.path();
  auto reservoir = SampleReservoir<float>::create(directory);
  reservoir.add(numbered(1)), reservoir.add(numbered(2));
  Particles<float> read = numbered(7);
  const auto short_file = directory / "sample-000000.safetensors", wrong_file = directory / "sample-000001.safetensors";
  std::filesystem::resize_file(short_file, std::filesystem::file_size(short_file) - 1);
  CHECK_ERROR(reservoir.read(0, read), data, short_file.string(), "truncated");
  {
    std::fstream file(wrong_file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x55');
  }
  CHECK_ERROR(reservoir.read(1, read), data, wrong_file.string(), "checksum does not match");
  CHECK(same(read.coordinates(), numbered(7).coordinates()));
}
