#include <stein/core/atomic_file.h>
#include <stein/runs/run_cost.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "core/temporary_directory.h"

using namespace stein;
using runs::RunCost;
using Json = nlohmann::ordered_json;

TEST_CASE("the cost of a run reads back with what its kind counts", "[runs][cost]") {
  const test::TemporaryDirectory folder;
  const RunCost cost{.wall_seconds = 1.25,
                     .peak_memory_mb = 17,
                     .counts = {{"updates", 3}, {"seconds", {0.5, nullptr}}},
                     .counts_beside = {{{"updates", 4}}, {{"updates", 5}}},
                     .sharing = {{.work_seconds = 2, .exchange_seconds = 0.5, .exchanges = 7, .bytes = 80}}};
  runs::write_run_cost(folder / "cost.json", cost);
  const RunCost read = runs::read_run_cost(folder / "cost.json");
  CHECK(read.wall_seconds == 1.25);
  CHECK(read.peak_memory_mb == 17);
  CHECK(read.counts == cost.counts);
  CHECK(read.counts_beside == cost.counts_beside);
  REQUIRE(read.sharing);
  CHECK(read.sharing->work_seconds == 2);
  CHECK(read.sharing->exchange_seconds == 0.5);
  CHECK(read.sharing->exchanges == 7);
  CHECK(read.sharing->bytes == 80);
}

TEST_CASE("no cost, or a damaged one, is no cost", "[runs][cost]") {
  const test::TemporaryDirectory folder;
  CHECK(runs::read_run_cost(folder / "none.json").wall_seconds == 0);
  write_file_atomically(folder / "cost.json", GENERATE("{", "[1]", R"({"wall_seconds": "long"})"));
  const RunCost cost = runs::read_run_cost(folder / "cost.json");
  CHECK(cost.wall_seconds == 0);
  CHECK(cost.peak_memory_mb == 0);
  CHECK_FALSE(cost.has_counts());
}

TEST_CASE("a run has done something where any of its counts is not zero", "[runs][cost]") {
  const auto has_counts = [](Json counts) { return RunCost{.counts = std::move(counts)}.has_counts(); };
  CHECK_FALSE(has_counts(Json::object()));
  CHECK_FALSE(has_counts({{"updates", 0}, {"seconds", {0.0, 0.0}}, {"to_threshold", {nullptr}}}));
  CHECK(has_counts({{"updates", 0}, {"seconds", {0.0, 0.1}}}));
}

TEST_CASE("the peak of memory is that of this process in megabytes", "[runs][cost]") {
  // So much that what the kernel has not counted yet, some pages of every thread, is none of the hundredth below.
  const std::vector<char> touched(std::size_t{256} << 20, 'x');
  REQUIRE(touched.back() == 'x');
  // The kernel's own words: "VmHWM:    12345 kB", with a kB of 1,024 bytes.
  std::ifstream status("/proc/self/status");
  double kilobytes = 0;
  for (std::string word; kilobytes == 0 && status >> word;)
    if (word == "VmHWM:") status >> kilobytes;
  CHECK(runs::peak_memory_megabytes() == Approx(kilobytes * 1024 / 1e6).epsilon(0.01));
}
