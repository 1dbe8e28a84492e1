// Names and places in a flat vector.
#include <stein/core/error.h>
#include <stein/inference/layout.h>
#include <stein/inference/parameterizations/direct.h>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

TEST_CASE("entries follow one another, padded or not", "[inference][layout]") {
  Layout layout;
  layout.add("a", {3, 5}, Role::weight, 0, 8);
  layout.add("b", {5}, Role::bias);
  layout.add("c", {2, 3, 4}, Role::weight, 1);
  CHECK(layout.size() == 24 + 5 + 24);
  CHECK(layout.coordinate_count() == 15 + 5 + 24);
  CHECK(layout.padded());
  CHECK(layout.at("b").offset == 24);
  CHECK(layout.at("c").rows() == 6);
  CHECK(layout.at("c").columns() == 4);
  const Layout unpadded = without_padding(layout);
  CHECK_FALSE(unpadded.padded());
  CHECK(unpadded.at("b").offset == 15);
}

TEST_CASE("a position is named as a person would", "[inference][layout]") {
  Layout layout;
  layout.add("layer0.weight", {3, 5}, Role::weight);
  layout.add("layer0.bias", {5}, Role::bias);
  CHECK(layout.describe_position(7) == "layer0.weight[1, 2]");
  CHECK(layout.describe_position(17) == "layer0.bias[2]");
}

TEST_CASE("names are unique and unknown ones suggest the nearest", "[inference][layout]") {
  Layout layout;
  layout.add("layer0.weight", {3, 5}, Role::weight);
  CHECK_THROWS_AS(layout.add("layer0.weight", {1}, Role::bias), Error);
  CHECK_THROWS_AS(layout.add("empty", {0}, Role::bias), Error);
  CHECK_THROWS_AS(layout.add("short", {2, 5}, Role::weight, 0, 4), Error);
  CHECK_THROWS_WITH(layout.at("layer0.weigth"), Catch::Contains("Did you mean 'layer0.weight'?"));
}

TEST_CASE("a checkpoint of another layout is refused by the first parameter that differs", "[inference][layout]") {
  Layout saved, shorter, other;
  saved.add("layer0.weight", {2, 3}, Role::weight), saved.add("layer0.bias", {3}, Role::bias);
  shorter.add("layer0.weight", {2, 3}, Role::weight);
  other.add("layer0.weight", {3, 2}, Role::weight), other.add("layer0.bias", {3}, Role::bias);
  CHECK_NOTHROW(saved.check_description(saved.description()));
  CHECK_ERROR(other.check_description(saved.description()), data, "has layer0.weight [2, 3]",
              "layer0.weight [3, 2] is");
  CHECK_ERROR(shorter.check_description(saved.description()), data, "has layer0.bias [3]", "no further parameter");
  CHECK_ERROR(saved.check_description(shorter.description()), data, "no further parameter", "layer0.bias [3]");
}
