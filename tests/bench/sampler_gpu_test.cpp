// What `stein bench sampler-gpu` measures, on the fenced device.
#include <stein/bench/sampler_case.h>
#include <stein/bench/sampler_gpu.h>

#include <catch2/catch.hpp>

#include "bench/short_rounds.h"
#include "core/error_matcher.h"
#include "inference/fenced_device.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::bench;

namespace {

using test::short_rounds;

template <class T>
T extra_of(const Row& row, const std::string& key) {
  for (const auto& [name, value] : row.extra)
    if (name == key) return std::get<T>(value);
  FAIL("the row has no " << key);
  return {};
}

}  // namespace

TEST_CASE("every sampler that runs on a device has a row of its rate beside that of a copy", "[bench]") {
  const std::size_t blocks = test::Fence::instance().blocks();
  const std::vector<Row> rows = measure_samplers_on(test::fenced_device(), 5000, "", short_rounds);
  CHECK(test::Fence::instance().blocks() == blocks);  // all memory was given back
  REQUIRE(rows.size() == sampler_cases().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    CAPTURE(row.name);
    CHECK(row.name == sampler_cases()[i].name);
    CHECK(row.unit == "GB/s");
    CHECK(row.better == Better::higher);
    CHECK(row.reference > 0);
    CHECK(extra_of<double>(row, "parameters") == 5000);
    CHECK(extra_of<std::string>(row, "device") == "fenced memory of the host");
    const double bytes = extra_of<double>(row, "bytes_per_parameter");
    CHECK(bytes == sampler_cases()[i].bytes);
    CHECK(row.ours == Approx(bytes / extra_of<double>(row, "ns_per_parameter")));  // bytes a ns are GB a second
  }
}

TEST_CASE("the samplers measured on a device are those whose name begins as asked", "[bench]") {
  const std::vector<Row> rows = measure_samplers_on(test::fenced_device(), 1000, "sg", short_rounds);
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.name);
  CHECK(names == std::vector<std::string>{"sgd-momentum", "sgld", "sghmc", "sgnht"});
  CHECK_ERROR(measure_samplers_on(test::fenced_device(), 1000, "svgd", short_rounds), usage, "begins with 'svgd'");
}

TEST_CASE("a case counts values, gradient and state: gradients are read, the rest is read and written", "[bench]") {
  const auto bytes = [](double states) { return 4 * (3 + 2 * states); };
  for (const auto& [name, states] : {std::pair{"sgd-momentum", 1},
                                     {"rmsprop", 1},
                                     {"adam", 2},
                                     {"sgld", 0},
                                     {"psgld", 1},
                                     {"sghmc", 1},
                                     {"sgnht", 2},
                                     {"santa", 3}})
    CHECK(sampler_case(name).bytes == bytes(states));
  CHECK_ERROR(sampler_case("svgd"), usage, "no sampler's case 'svgd'");
}

TEST_CASE("two updates that move apart by more than rounding are no comparison", "[bench]") {
  const std::vector<float> start{0, 0, 0}, moved{3, 0, 4};
  check_same_move("speed", "walk", start, {{3, 0, 4.0004f}}, moved);  // .0004 of 5 is 8e-5
  CHECK_ERROR(check_same_move("speed", "walk", start, {{3, 0, 4.0006f}}, moved), numeric, "speed: walk moves by 5,",
              "differs from that by 0.0006");
  CHECK_ERROR(check_same_move("speed", "walk", start, start, start), numeric, "moves by 0,");
}

TEST_CASE("samplers on a GPU are left out with a reason where there is none", "[bench]") {
  CHECK(benchmarks().at("rng").lacking().empty());
  const std::string lacking = benchmarks().at("sampler-gpu").lacking();
  if (!lacking.empty()) CHECK_THAT(lacking, Catch::Contains("no GPU here") || Catch::Contains("without its library"));
}

TEST_CASE("every sampler has a row on a GPU, which is named", "[bench][gpu]") {
  const inference::Device device = test::gpu();
  CHECK(benchmarks().at("sampler-gpu").lacking().empty());
  const std::vector<Row> rows = measure_samplers_on(device, 100'000, "", short_rounds);
  REQUIRE(rows.size() == sampler_cases().size());
  for (const Row& row : rows) {
    CHECK(row.ours > 0);
    CHECK(row.reference > 0);
    CHECK_FALSE(extra_of<std::string>(row, "device").empty());
  }
}
