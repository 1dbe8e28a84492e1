// Named arrays in memory.
#include <stein/core/snapshot.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;

TEST_CASE("what was put is got, of every type, through parts", "[core][snapshot]") {
  Snapshot inner, outer;
  inner.put("floats", std::vector<float>{1, 2.5f});
  inner.put("step", std::int64_t{1} << 40);
  inner.put_text("policy", "svgd");
  const std::vector<double> matrix{1, 2, 3, 4, 5, 6};
  inner.put("matrix", std::span<const double>(matrix), {2, 3});
  outer.put_part("agent", inner);
  CHECK(outer.contains("agent/floats"));
  const Snapshot again = outer.part("agent");
  CHECK(again.get_vector<float>("floats") == std::vector<float>{1, 2.5f});
  CHECK(again.get_scalar<std::int64_t>("step") == std::int64_t{1} << 40);
  CHECK(again.get_text("policy") == "svgd");
  CHECK(again.get_vector<double>("matrix") == matrix);
  CHECK(again.arrays().at("matrix").shape == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("what does not fit is refused by name", "[core][snapshot]") {
  Snapshot snapshot;
  snapshot.put("x", std::vector<float>{1, 2});
  std::vector<float> three(3);
  std::vector<double> two(2);
  CHECK_ERROR(snapshot.get("y", std::span<float>(three)), data, "'y'");
  CHECK_ERROR(snapshot.get("x", std::span<float>(three)), data, "'x'", "2 elements", "3");
  CHECK_ERROR(snapshot.get("x", std::span<double>(two)), data, "element type");
  CHECK_ERROR(snapshot.put("x", 1.0f), usage, "twice");
  CHECK_ERROR(snapshot.put("z", std::span<const float>(three), {2, 2}), usage, "'z'");
  CHECK_ERROR(snapshot.get_text("none"), data, "'none'");
}
