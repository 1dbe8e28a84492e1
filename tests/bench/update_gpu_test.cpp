// What `stein bench update-gpu` measures, on the fenced device.
#include <stein/bench/update_gpu.h>

#include <catch2/catch.hpp>

#include "bench/short_rounds.h"
#include "core/error_matcher.h"
#include "inference/cuda/networks_on_host.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::bench;

namespace {

using test::short_rounds;

void check_rows_on(inference::Device device) {
  const std::vector<Row> rows =
      measure_updates_on(device, "svgd", {.particles = 3, .rows = 10, .hidden = {6}}, short_rounds);
  std::vector<std::string> names;
  for (const Row& row : rows) {
    names.push_back(row.name);
    CHECK(row.unit == "µs");
    CHECK(row.better == Better::lower);
    CHECK(row.ours > 0);
    CHECK(row.reference > 0);
    const std::pair<std::string, std::variant<double, std::string>> network{"network", "117-6-2"};
    CHECK(std::ranges::count(row.extra, network) == 1);
  }
  CHECK(names == std::vector<std::string>{"svgd-onehot", "decision-svgd-onehot", "decision-of-many-svgd-onehot",
                                          "svgd-dense", "decision-svgd-dense", "decision-of-many-svgd-dense"});
}

}  // namespace

TEST_CASE("updates and decisions of a policy have rows of their time on a device", "[bench]") {
  const inference::Device device = test::fenced_networks();
  const std::size_t blocks = test::Fence::instance().blocks();
  check_rows_on(device);
  CHECK(test::Fence::instance().blocks() == blocks);  // all memory was given back
}

TEST_CASE("updates and decisions of a policy have rows of their time on a GPU", "[bench][gpu]") {
  check_rows_on(test::gpu());
}

TEST_CASE("a policy without networks on a device has no rows there", "[bench]") {
  CHECK_ERROR(measure_updates_on(test::fenced_networks(), "lints", {}, short_rounds), usage,
              "policy 'lints' is on the processor only");
}

TEST_CASE("updates on a GPU are left out with a reason where there is none", "[bench]") {
  const std::string lacking = benchmarks().at("update-gpu").lacking();
  if (!lacking.empty()) CHECK_THAT(lacking, Catch::Contains("no GPU here") || Catch::Contains("without its library"));
}
