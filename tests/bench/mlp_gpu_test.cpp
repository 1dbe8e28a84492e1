// What `stein bench mlp-gpu` measures, on the fenced device.
#include <stein/bench/mlp_gpu.h>

#include <catch2/catch.hpp>

#include "bench/short_rounds.h"
#include "inference/cuda/networks_on_host.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::bench;

namespace {

using test::short_rounds;

void check_row(inference::Device device, const inference::ProductDriver& products, const MlpGpuCase& which,
               const std::string& network) {
  const std::vector<Row> rows = measure_gradients_on(device, products, which, short_rounds);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].name == "gradient");
  CHECK(rows[0].unit == "GFLOP/s");
  CHECK(rows[0].better == Better::higher);
  CHECK(rows[0].ours > 0);
  CHECK(rows[0].reference > 0);
  const std::pair<std::string, std::variant<double, std::string>> named{"network", network};
  CHECK(std::ranges::count(rows[0].extra, named) == 1);
}

}  // namespace

TEST_CASE("operations of a gradient are those of its products", "[bench]") {
  // Of 2 networks and 3 rows: forward 5·4 + 4·7 multiply-adds a row, as many for the weights, 4·7 for the hidden units.
  CHECK(MlpGpuCase{.particles = 2, .rows = 3, .inputs = 5, .hidden = {4}, .outputs = 7}.operations() ==
        2 * 6 * (48 + 48 + 28));
}

TEST_CASE("gradients of large perceptrons have a row of their rate on a device", "[bench]") {
  const inference::Device device = test::fenced_networks();
  const std::size_t blocks = test::Fence::instance().blocks();
  const test::SharedBytes shared(4000);
  check_row(device, test::fenced_products(),
            {.particles = 3, .rows = 10, .inputs = 53, .hidden = {31, 9}, .outputs = 4}, "53-31-9-4");
  CHECK(test::Fence::instance().blocks() == blocks);  // all memory was given back
}

TEST_CASE("gradients of large perceptrons have a row of their rate on a GPU", "[bench][gpu]") {
  const inference::Device device = test::gpu();
  check_row(device, test::products_of(device), {}, "784-400-400-10");
}

TEST_CASE("large perceptrons on a GPU are left out with a reason where there is none", "[bench]") {
  const std::string lacking = benchmarks().at("mlp-gpu").lacking();
  if (!lacking.empty())
    CHECK_THAT(lacking, Catch::Contains("no GPU here") || Catch::Contains("without its library") ||
                            Catch::Contains("cuBLASLt is not installed"));
}
