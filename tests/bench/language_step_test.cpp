// What `stein bench lm-gpu` measures, on the fenced device.
#include <stein/bench/torch/language_step.h>

#include <catch2/catch.hpp>

#include "bench/short_rounds.h"
#include "core/error_matcher.h"
#include "inference/fenced_device.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::bench;

namespace {

using test::short_rounds;
constexpr LanguageCase small{.rows = 3, .unroll = 4, .words = 11, .hidden = 5};

void check_rows(inference::Device device) {
  const std::vector<Row> rows = measure_language_steps_on(device, {"sgd", "bbb", "sharpening"}, small, short_rounds);
  std::vector<std::string> names;
  for (const Row& row : rows) {
    names.push_back(row.name);
    CHECK(row.unit == "tokens/s");
    CHECK(row.better == Better::higher);
    CHECK(row.ours > 0);
    CHECK(row.reference > 0);
  }
  CHECK(names == std::vector<std::string>{"sgd-2x5", "bbb-2x5", "sharpening-2x5"});
}

}  // namespace

TEST_CASE("training steps of language models have rows of their rate on a device", "[bench]") {
  check_rows(test::fenced_device());
}

TEST_CASE("training steps of language models have rows of their rate on a GPU", "[bench][gpu]") {
  check_rows(test::gpu());
}

TEST_CASE("a method that cannot train on a device has no row there", "[bench]") {
  CHECK_ERROR(measure_language_steps_on(test::fenced_device(), {"hmc"}, small, short_rounds), usage, "hmc");
}
