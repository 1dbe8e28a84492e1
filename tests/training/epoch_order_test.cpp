#include <stein/training/epoch_order.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "core/error_matcher.h"

namespace stein::training {

TEST_CASE("an epoch has every row once, in an order of its own that seed and epoch alone decide", "[training][order]") {
  const auto order = [](std::uint64_t seed, std::int64_t epoch) {
    EpochOrder rows(23, 5, seed);
    std::vector<std::int64_t> all;
    for (std::int64_t c = 0; c < rows.minibatches(); ++c)
      for (const std::int64_t i : rows.minibatch(epoch, c)) all.push_back(i);
    return all;
  };
  const std::vector<std::int64_t> first = order(0, 0);
  CHECK(first.size() == 23);
  CHECK(std::set<std::int64_t>(first.begin(), first.end()).size() == 23);
  CHECK(*std::ranges::max_element(first) == 22);
  CHECK(order(0, 0) == first);
  CHECK(order(0, 1) != first);
  CHECK(order(1, 0) != first);
}

TEST_CASE("the last minibatch of an epoch takes what is left", "[training][order]") {
  EpochOrder rows(23, 5, 0);
  CHECK(rows.minibatches() == 5);
  CHECK(rows.minibatch(0, 3).size() == 5);
  CHECK(rows.minibatch(0, 4).size() == 3);
  CHECK(EpochOrder(20, 5, 0).minibatches() == 4);
  CHECK_ERROR(rows.minibatch(0, 5), usage, "from 0 to 4", "got 5 of epoch 0");
  CHECK_ERROR(rows.minibatch(-1, 0), usage, "epoch -1");
  CHECK_ERROR(EpochOrder(0, 5, 0), usage, "got 0 and 5");
  CHECK_ERROR(EpochOrder(5, 0, 0), usage, "got 5 and 0");
}

TEST_CASE("few rows are five minibatches, and a minibatch of more than all rows is refused", "[training][order]") {
  CHECK(fitting_batch_size(100, 1000) == 100);
  CHECK(fitting_batch_size(100, 100) == 100);
  CHECK(fitting_batch_size(100, 81) == 17);
  CHECK(fitting_batch_size(100, 1) == 1);
  CHECK(fitting_batch_size(1000, 1000) == 1000);
  CHECK_ERROR(fitting_batch_size(101, 81), usage, "batch_size=101 is more than the 81 rows for training");
  CHECK_ERROR(fitting_batch_size(1000, 999), usage, "batch_size=1000 is more than the 999 rows");
}

}  // namespace stein::training
