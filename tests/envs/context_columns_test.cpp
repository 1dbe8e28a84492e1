#include <stein/envs/context_columns.h>

#include <catch2/catch.hpp>

namespace stein::envs {

TEST_CASE("numbers of a context are put together to the columns of its table", "[envs][context-table]") {
  const BanditSpec spec{.context_size = 6,
                        .numbers = {{.column = "age"},
                                    {.column = "city", .category = "Bergen"},
                                    {.column = "city", .category = "Oslo"},
                                    {.column = "plan", .category = "pro"},
                                    {.column = "income"},
                                    {.column = "code", .category = "7"}}};
  const std::vector<ContextColumn> columns = context_columns(spec);
  REQUIRE(columns.size() == 5);
  const std::vector<std::string> names{"age", "city", "plan", "income", "code"};
  const std::vector<std::size_t> first{0, 1, 3, 4, 5};
  const std::vector<std::vector<std::string>> categories{{}, {"Bergen", "Oslo"}, {"pro"}, {}, {"7"}};
  for (std::size_t k = 0; k < columns.size(); ++k) {
    CHECK(columns[k].name == names[k]);
    CHECK(columns[k].first == first[k]);
    CHECK(columns[k].categories == categories[k]);
  }
  CHECK(context_columns({.context_size = 2}).empty());
}

}  // namespace stein::envs
