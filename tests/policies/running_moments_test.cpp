// Moments that are merged batch by batch against those of all rows at once.
#include <stein/core/rng.h>
#include <stein/policies/running_moments.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::policies;

namespace {

constexpr std::int64_t columns = 3, rows = 1000;

/// Columns of unlike size: about 0, about 10,000 ± 0.5, and constant.
std::vector<float> unlike_columns() {
  std::vector<float> all(rows * columns);
  fill_normal(std::span<float>(all), {.seed = 3}, 0);
  for (std::size_t i = 0; i < all.size(); i += columns) all[i + 1] = 10'000 + 0.5F * all[i + 1], all[i + 2] = -4;
  return all;
}

void add(RunningMoments& moments, const std::vector<float>& all, std::int64_t begin, std::int64_t end) {
  moments.add({all.data() + begin * columns, end - begin, columns});
}

}  // namespace

TEST_CASE("moments merged from batches of any size are those of two passes over all rows", "[policies][moments]") {
  const std::vector<float> all = unlike_columns();
  for (const std::int64_t batch : {1, 7, 64, 999, 1000}) {
    RunningMoments moments(columns);
    for (std::int64_t begin = 0; begin < rows; begin += batch) add(moments, all, begin, std::min(begin + batch, rows));
    add(moments, all, 0, 0);  // no rows change nothing
    CAPTURE(batch);
    CHECK(moments.count() == rows);
    for (std::int64_t k = 0; k < columns; ++k) {
      double mean = 0, variance = 0;
      for (std::int64_t i = 0; i < rows; ++i) mean += double{all[static_cast<std::size_t>(i * columns + k)]} / rows;
      for (std::int64_t i = 0; i < rows; ++i)
        variance += std::pow(double{all[static_cast<std::size_t>(i * columns + k)]} - mean, 2) / rows;
      CHECK(moments.mean(k) == Approx(mean).epsilon(1e-12).margin(1e-13));
      CHECK(moments.variance(k) == Approx(variance).epsilon(1e-9).margin(1e-20));
    }
  }
}

TEST_CASE("rows are shifted to mean 0, divided to sd 1 and limited", "[policies][moments]") {
  const std::vector<float> all = unlike_columns();
  RunningMoments moments(columns);
  const std::vector<float> start{3, -30, 0.25F};
  std::vector<float> to(columns);
  moments.normalise({start.data(), 1, columns}, {to.data(), 1, columns});
  CHECK(to == std::vector<float>{3, -10, 0.25F});  // nothing seen: as it is, but limited
  CHECK(moments.variance(0) == 1);
  add(moments, all, 0, 1);
  CHECK(moments.variance(1) == 1);  // one row says nothing of the spread

  add(moments, all, 1, rows);
  std::vector<float> normal(all.size());
  moments.normalise({all.data(), rows, columns}, {normal.data(), rows, columns});
  for (std::size_t k = 0; k < 2; ++k) {
    double sum = 0, square = 0;
    for (std::size_t i = k; i < normal.size(); i += columns)
      sum += double{normal[i]}, square += double{normal[i]} * double{normal[i]};
    CHECK(std::abs(sum / rows) < 2e-3);  // floats about 10,000 are 1e-3 apart
    CHECK(square / rows == Approx(1).epsilon(2e-3));
  }
  CHECK(normal[2] == 0);  // a constant
  const std::vector<float> far{1e6F, 0, -3.9F};
  moments.normalise({far.data(), 1, columns}, {to.data(), 1, columns});
  CHECK(to == std::vector<float>{10, -10, 10});
}

TEST_CASE("moments go on from a snapshot as if nothing had happened", "[policies][moments]") {
  const std::vector<float> all = unlike_columns();
  RunningMoments whole(columns), first(columns), second(columns);
  add(whole, all, 0, 400), add(whole, all, 400, rows);
  add(first, all, 0, 400);
  Snapshot snapshot;
  first.save(snapshot);
  second.restore(snapshot);
  add(second, all, 400, rows);
  for (std::int64_t k = 0; k < columns; ++k) {
    CHECK(second.mean(k) == whole.mean(k));
    CHECK(second.variance(k) == whole.variance(k));
  }
  CHECK(second.count() == whole.count());
  RunningMoments narrow(2);
  CHECK_ERROR(narrow.restore(snapshot), data, "mean");
}

TEST_CASE("moments need a column", "[policies][moments]") {
  CHECK_ERROR(RunningMoments(0), usage, "at least one column", "got 0");
}

TEST_CASE("moments of two streams put together are those of all rows", "[policies][moments]") {
  const std::vector<float> all = unlike_columns();
  const auto part = [&](std::int64_t first, std::int64_t count) {
    RunningMoments moments(columns);
    moments.add({all.data() + first * columns, count, columns});
    return moments;
  };
  RunningMoments together = part(0, 0), whole = part(0, rows);
  together.merge(RunningMoments(columns));  // neither has seen anything
  together.merge(part(0, 300));
  together.merge(RunningMoments(columns));
  together.merge(part(300, rows - 300));
  CHECK(together.count() == whole.count());
  for (std::int64_t k = 0; k < columns; ++k) {
    CHECK(together.mean(k) == Approx(whole.mean(k)).epsilon(1e-12).margin(1e-12));
    CHECK(together.variance(k) == Approx(whole.variance(k)).epsilon(1e-10).margin(1e-12));
  }
  CHECK_ERROR(together.merge(RunningMoments(2)), usage, "expected 3 columns, got 2");
}
