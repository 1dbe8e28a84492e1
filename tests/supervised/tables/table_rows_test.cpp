// Rows of a table as a classifier's minibatches read them.
#include <stein/supervised/classification/table_rows.h>

#include <catch2/catch.hpp>

namespace stein::supervised {
namespace {

inference::Matrix<float> three_rows() {
  inference::Matrix<float> rows(3, 2);
  const float numbers[3][2] = {{10, 7}, {30, 7}, {200, 9}};
  for (std::int64_t i = 0; i < 3; ++i) std::ranges::copy(numbers[i], rows.row(i).begin());
  return rows;
}

TEST_CASE("a minibatch of a table can have the scale of its own columns, in training only", "[supervised][tables]") {
  TableRows rows(three_rows(), {1, 0, 1}, MinibatchScale::of_minibatch);
  const std::vector<std::int64_t> two{1, 0};
  const auto learned = rows.training_inputs(two, {});
  CHECK(learned.dense.rows == 2);
  CHECK(learned.dense(0, 0) == Approx(1));  // 30 among 30 and 10
  CHECK(learned.dense(1, 0) == Approx(-1));
  CHECK(learned.dense(0, 1) == 0);  // all alike there
  CHECK(learned.dense(1, 1) == 0);
  CHECK(rows.inputs(two).dense(0, 0) == 30);
  CHECK(TableRows(three_rows(), {1, 0, 1}).training_inputs(two, {}).dense(0, 0) == 30);
}

}  // namespace
}  // namespace stein::supervised
