// Copies to and from a GPU that the host does not wait for: what it does next must not disturb them.
#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/inference/storage/late_numbers.h>
#include <stein/inference/storage/matrix.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

#include "inference/gpu.h"

using namespace stein;
using namespace stein::inference;

TEST_CASE("copies to a GPU that follow one another do not take each other's numbers", "[inference][cuda][gpu]") {
  const Device device = test::gpu();
  constexpr std::int64_t rows = 20, columns = 37;
  Matrix<float> values(rows, columns, device);
  device_memory(device.kind)
      .fill(device.index, values.view().data, 1, static_cast<std::size_t>(rows * values.view().stride));
  const Driver<float>& driver = inference::driver<float>(Ensemble{.device = device});
  std::vector<std::uint8_t> free(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::size_t q = 0; q < free.size(); ++q) free[q] = q % static_cast<std::size_t>(i + 2) == 0;
    driver.hold(values.row(i), free);
  }
  std::ranges::fill(free, std::uint8_t{0});
  const Matrix<float> found = values.to({});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t q = 0; q < columns; ++q) REQUIRE(found.view()(i, q) == (q % (i + 2) == 0 ? 1.0F : 0.0F));
}

TEST_CASE("numbers on their way home from a GPU that nobody waits for disturb no others", "[inference][cuda][gpu]") {
  const Device device = test::gpu();
  const DeviceMemory& memory = device_memory(device.kind);
  std::vector<double> numbers(5000);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  const std::size_t bytes = numbers.size() * sizeof(double);
  void* const there = memory.allocate(device.index, bytes);
  memory.copy_in(device.index, there, numbers.data(), bytes);
  const auto* const from = static_cast<const double*>(there);
  memory.send_home(device.index, from, 3);  // given up while it is under way
  const auto first = memory.send_home(device.index, from, numbers.size()),
             second = memory.send_home(device.index, from + 7, 2);
  CHECK(std::ranges::equal(second->wait(), std::vector{8.0, 9.0}));
  CHECK(std::ranges::equal(first->wait(), numbers));
  memory.release(device.index, there, bytes);
}

TEST_CASE("rows on the last GPU of a machine are drawn and moved there, whichever was used before",
          "[inference][cuda][gpu]") {
  const Device first = test::gpu();
  const Device last{.kind = first.kind, .index = device_memory(first.kind).count() - 1};
  constexpr std::int64_t rows = 3, columns = 131;
  const NoiseKey key{.seed = 5, .step = 2, .stream = Stream::initial_values};
  const auto drawn = [&](Device device) {
    Matrix<float> values(rows, columns, device);
    const Driver<float>& driver = inference::driver<float>(Ensemble{.device = device});
    driver.draw(values.view(), key, 0, 2);
    CHECK(driver.all_finite(values.view()));
    return values;
  };
  const Matrix<float> here = drawn({}), there = drawn(last), before = drawn(first);
  const Matrix<float> home = there.to({});
  CHECK(device_memory(last.kind).holds(last.index, there.view().data));
  for (std::int64_t i = 0; i < rows; ++i) CHECK(std::ranges::equal(home.row(i), here.row(i)));
}
