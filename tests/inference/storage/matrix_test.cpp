// Rows that a matrix owns: alignment, and what checkpoints hold of them.
#include <stein/inference/particles.h>
#include <stein/inference/storage/matrix.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

TEST_CASE("rows begin on cache lines, zeroed, and a copy has numbers of its own", "[inference][storage]") {
  Matrix<float> matrix(3, 21);
  CHECK(matrix.device() == Device{});
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(reinterpret_cast<std::uintptr_t>(matrix.row(i).data()) % 64 == 0);
    for (const float x : matrix.row(i)) CHECK(x == 0);
  }
  Matrix<float> copy = matrix;
  copy.row(1)[20] = 5;
  CHECK(matrix.row(1)[20] == 0);
  CHECK(Matrix<float>().empty());
}

TEST_CASE("a matrix is stored without the room between its rows, and older checkpoints with it are read",
          "[inference][storage]") {
  Matrix<double> matrix(2, 5), packed(2, 5), roomy(2, 5), narrow(2, 4);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 5; ++j) matrix.view()(i, j) = static_cast<double>(10 * i + j);
  Snapshot now, older;
  matrix.save(now, "m");
  CHECK(now.arrays().at("m").shape == std::vector<std::int64_t>{2, 5});
  const MatrixView<double> view = matrix.view();
  older.put("m", std::span<const double>(view.data, static_cast<std::size_t>(2 * view.stride)), {2, view.stride});
  packed.restore(now, "m"), roomy.restore(older, "m");
  for (std::int64_t i = 0; i < 2; ++i) {
    CHECK(std::ranges::equal(packed.row(i), matrix.row(i)));
    CHECK(std::ranges::equal(roomy.row(i), matrix.row(i)));
  }
  CHECK_ERROR(narrow.restore(now, "m"), data, "'m'", "10 elements");
}

TEST_CASE("particles say which of the ensemble they are, and are not restored as others", "[inference][storage]") {
  Layout layout;
  layout.add("x", {3}, Role::bias);
  Particles<float> shard(layout, 2, 4, 8), same(layout, 2, 4, 8), other(layout, 2, 6, 8);
  shard.values()(1, 2) = 7;
  const Ensemble ensemble = shard.ensemble(3);
  CHECK(ensemble.rows.first == 4);
  CHECK(ensemble.rows.count == 2);
  CHECK(ensemble.total_rows == 8);
  CHECK(ensemble.size() == 3);
  Snapshot saved;
  shard.save(saved);
  same.restore(saved);
  CHECK(same.values()(1, 2) == 7);
  CHECK_ERROR(other.restore(saved), data, "particles 4 to 5 of 8, expected 6 to 7 of 8");
}

TEST_CASE("a snapshot's parts and copies share its arrays", "[inference][storage]") {
  Snapshot part, whole;
  part.put("numbers", std::vector<double>(100));
  whole.put_part("a", part);
  const Snapshot again = whole.part("a");
  CHECK(again.arrays().at("numbers").bytes.data() == part.arrays().at("numbers").bytes.data());
}
