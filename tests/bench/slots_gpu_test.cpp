// What `stein bench envs-gpu`, `rollouts-gpu` and `agents-gpu` measure, on the fenced device.
#include <stein/bench/agents_gpu.h>
#include <stein/bench/slots_gpu.h>

#include <catch2/catch.hpp>
#include <set>

#include "agents/cuda/fenced_rollouts.h"
#include "bench/short_rounds.h"
#include "core/error_matcher.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::bench;

namespace {

using test::short_rounds;

void check_rows(const std::vector<Row>& rows, const std::string& model) {
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(row.unit == "steps/s");
    CHECK(row.better == Better::higher);
    CHECK(row.ours > 0);
    CHECK(row.reference > 0);
    CHECK(std::ranges::count(row.extra, std::pair<std::string, std::variant<double, std::string>>{"device", model}) ==
          1);
  }
}

void check_benchmarks(inference::Device device, const std::string& model) {
  const std::vector<Row> tasks = measure_slots_on(device, {100, 50}, 3, "", short_rounds);
  std::set<std::string> names;
  for (const Row& row : tasks) names.insert(row.name);
  CHECK(names == std::set<std::string>{"Acrobot-v1", "CartPole-v1", "Pendulum-v1", "cartpole", "cartpole-swingup",
                                       "cartpole-swingup-sparse", "deep-sea", "double-pendulum"});
  check_rows(tasks, model);
  const std::vector<Row> rollouts = measure_rollouts_on(device, {70, 64}, 2, "CartPole", short_rounds);
  REQUIRE(rollouts.size() == 1);
  CHECK(rollouts.front().name == "CartPole-v1");
  check_rows(rollouts, model);
  const std::vector<Row> agents =
      measure_agents_on(device, {.slots = 6, .slots_of_reference = 4, .particles = 2, .paths = 1}, short_rounds);
  REQUIRE(agents.size() == 2);
  CHECK(agents.front().name == "a2c");
  CHECK(agents.back().name == "svpg");
  check_rows(agents, model);
}

}  // namespace

TEST_CASE("every control task that is data has a row of its rate on a device", "[bench]") {
  const std::size_t blocks = test::Fence::instance().blocks();
  check_benchmarks(test::fenced_rollouts(), "fenced memory of the host");
  CHECK(test::Fence::instance().blocks() == blocks);  // all memory was given back
}

TEST_CASE("every control task that is data has a row of its rate on a GPU", "[bench][gpu]") {
  const inference::Device device = test::gpu();
  check_benchmarks(device, inference::device_memory(device.kind).model(device.index));
}

TEST_CASE("slots and rollouts on a GPU are left out with a reason where there is none", "[bench]") {
  for (const std::string name : {"envs-gpu", "rollouts-gpu", "agents-gpu"}) {
    const std::string lacking = benchmarks().at(name).lacking();
    if (!lacking.empty()) CHECK_THAT(lacking, Catch::Contains("no GPU here") || Catch::Contains("without its library"));
  }
}

TEST_CASE("rates on a device are of tasks that are data", "[bench]") {
  CHECK_ERROR(measure_slots_on(test::fenced_rollouts(), {10, 10}, 2, "InvertedPendulum", short_rounds), usage,
              "no control task that is data begins with 'InvertedPendulum'");
}
