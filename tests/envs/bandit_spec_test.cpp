#include <stein/envs/bandit_spec.h>

#include <catch2/catch.hpp>
#include <vector>

#include "core/error_matcher.h"

namespace stein::envs {
namespace {

const std::vector<float> two{1, 2}, three{1, 2, 3}, six{1, 2, 3, 4, 5, 6};
const std::vector<std::int32_t> columns{0, 4};

TEST_CASE("a context is dense or one-hot as its bandit is, and never both", "[envs][bandit_spec]") {
  const BanditSpec dense{.name = "dense", .arms = 3, .context_size = 2},
      one_hot{.name = "one-hot", .arms = 3, .context_size = 5, .active_columns = 2};
  CHECK(dense.dense_columns() == 2);
  CHECK(one_hot.dense_columns() == 0);
  CHECK_NOTHROW(Context{.dense = two}.check(dense));
  CHECK_NOTHROW(Context{.active = columns}.check(one_hot));
  CHECK_ERROR(Context{.dense = three}.check(dense), usage, "dense", "2 numbers, got 3");
  CHECK_ERROR((Context{.dense = two, .active = columns}.check(dense)), usage, "0 active columns, got 2");
  CHECK_ERROR((Context{.dense = two, .active = columns}.check(one_hot)), usage, "one-hot", "0 numbers, got 2");
  CHECK_ERROR(Context{}.check(one_hot), usage, "2 active columns, got 0");
  const std::vector<std::int32_t> beyond{0, 5}, below{-1, 4};
  CHECK_ERROR(Context{.active = beyond}.check(one_hot), usage, "[0, 5), got 5");
  CHECK_ERROR(Context{.active = below}.check(one_hot), usage, "[0, 5), got -1");
}

TEST_CASE("arms that are there have a place and features each; the others have none", "[envs][bandit_spec]") {
  const BanditSpec spec{.name = "news", .arms = 5, .arm_features = 2};
  const std::vector<std::int32_t> present{4, 0, 2}, foreign{4, 5, 2};
  const Context context{.present = present, .arm_features = six};
  CHECK_NOTHROW(context.check(spec));
  CHECK(context.choices(spec) == 3);
  CHECK(context.arm(0) == 4);
  CHECK(context.place_of(2, spec) == 2);
  CHECK_ERROR(context.place_of(3, spec), usage, "arm 3 of 'news' is not among the 3");
  CHECK_ERROR(context.place_of(5, spec), usage, "[0, 5), got 5");
  CHECK_ERROR((Context{.present = present, .arm_features = two}.check(spec)), usage, "2 numbers for each of 3 arms",
              "got 2");
  CHECK_ERROR((Context{.present = foreign, .arm_features = six}.check(spec)), usage, "[0, 5), got 5");
  CHECK_ERROR(Context{}.check({.name = "empty"}), usage, "at least one arm");

  const BanditSpec all{.name = "all", .arms = 3};
  CHECK(Context{}.choices(all) == 3);
  CHECK(Context{}.arm(1) == 1);
  CHECK(Context{}.place_of(1, all) == 1);
}

}  // namespace
}  // namespace stein::envs
