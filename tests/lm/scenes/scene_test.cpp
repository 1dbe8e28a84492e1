#include <stein/lm/scenes/scene.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

namespace stein::lm {
namespace {

SceneObject circle_at(double x, double y, double radius = 3) {
  return {Shape::circle, Colour::red, radius < 5 ? ObjectSize::small : ObjectSize::big, x, y, radius};
}

TEST_CASE("one object is left of another from five pixels on, and right, above and below likewise", "[lm][scenes]") {
  const SceneObject a = circle_at(10, 10), b = circle_at(15, 20), c = circle_at(14.75, 14.75);
  CHECK(holds(Relation::left_of, a, b));
  CHECK(holds(Relation::right_of, b, a));
  CHECK(holds(Relation::above, a, b));
  CHECK(holds(Relation::below, b, a));
  for (const Relation relation : {Relation::right_of, Relation::below}) CHECK_FALSE(holds(relation, a, b));
  for (const Relation relation : {Relation::left_of, Relation::above}) CHECK_FALSE(holds(relation, b, a));
  for (int i = 0; i < relation_count; ++i) {
    CHECK_FALSE(holds(static_cast<Relation>(i), a, c));
    CHECK_FALSE(holds(static_cast<Relation>(i), c, a));
  }
}

TEST_CASE("an object is on a side from five pixels beside the middle on", "[lm][scenes]") {
  // The middle of 32 pixels is at 16.
  CHECK(lies_on(circle_at(11, 16), Side::left));
  CHECK_FALSE(lies_on(circle_at(11.25, 16), Side::left));
  CHECK(lies_on(circle_at(21, 16), Side::right));
  CHECK_FALSE(lies_on(circle_at(20.75, 16), Side::right));
  CHECK(lies_on(circle_at(16, 11), Side::top));
  CHECK_FALSE(lies_on(circle_at(16, 11.25), Side::top));
  CHECK(lies_on(circle_at(16, 21), Side::bottom));
  CHECK_FALSE(lies_on(circle_at(16, 20.75), Side::bottom));
  for (int i = 0; i < side_count; ++i) CHECK_FALSE(lies_on(circle_at(16, 16), static_cast<Side>(i)));
}

TEST_CASE("objects are too near where their discs have less than a pixel between them", "[lm][scenes]") {
  // Radii 3 and 5, a pixel between them: 9 apart. 9² = 81 = 5.4² + 7.2²; 9.25 is a quarter more.
  CHECK_FALSE(too_near(circle_at(10, 10, 3), circle_at(19, 10, 5)));
  CHECK(too_near(circle_at(10, 10, 3), circle_at(18.75, 10, 5)));
  CHECK(too_near(circle_at(10, 10, 3), circle_at(10, 18.75, 5)));
  CHECK_FALSE(too_near(circle_at(10, 10, 3), circle_at(16, 16.75, 5)));  // 6² + 6.75² = 81.56
  CHECK(too_near(circle_at(10, 10, 3), circle_at(16, 16.5, 5)));         // 6² + 6.5² = 78.25
}

TEST_CASE("drawn scenes have room for all of their objects, on quarters of pixels", "[lm][scenes]") {
  std::array<int, 4> numbers{};
  for (std::uint32_t index = 0; index < 3000; ++index) {
    const Scene scene = draw_scene(5, index);
    REQUIRE(scene.objects.size() >= 1);
    REQUIRE(scene.objects.size() <= 3);
    ++numbers[scene.objects.size()];
    for (std::size_t i = 0; i < scene.objects.size(); ++i) {
      const SceneObject& object = scene.objects[i];
      const bool is_big = object.size == ObjectSize::big;
      CHECK(object.radius >= (is_big ? 5 : 3));
      CHECK(object.radius <= (is_big ? 6 : 3.75));
      for (const double place : {object.x, object.y}) {
        CHECK(place - object.radius >= 1);
        CHECK(place + object.radius <= picture_width - 1);
        CHECK(place * 4 == std::floor(place * 4));
      }
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(too_near(object, scene.objects[j]));
    }
  }
  // Each number of objects in a third of the scenes: sd √(3000 · 1/3 · 2/3) = 25.8, refused at 6.1 of them.
  for (int count = 1; count <= 3; ++count) CHECK(std::abs(numbers[static_cast<std::size_t>(count)] - 1000) < 158);
}

TEST_CASE("single objects have every property and every place equally often", "[lm][scenes]") {
  std::array<int, shape_count> shapes{};
  std::array<int, colour_count> colours{};
  std::array<int, size_count> sizes{};
  double x = 0, y = 0;
  int count = 0;
  for (std::uint32_t index = 0; index < 9000; ++index) {
    const Scene scene = draw_scene(6, index);
    if (scene.objects.size() != 1) continue;
    const SceneObject& object = scene.objects.front();
    ++count, ++shapes[static_cast<std::size_t>(object.shape)], ++colours[static_cast<std::size_t>(object.colour)],
        ++sizes[static_cast<std::size_t>(object.size)];
    x += object.x - 16, y += object.y - 16;
  }
  const auto check_even = [&](const auto& counts) {
    const double share = 1.0 / static_cast<double>(counts.size());
    for (const int found : counts)
      CHECK(std::abs(found - count * share) < 6.1 * std::sqrt(count * share * (1 - share)));
  };
  check_even(shapes), check_even(colours), check_even(sizes);
  // Places of small objects reach 12 pixels from the middle: sd at most 24 / √12 < 7.
  CHECK(std::abs(x) < 6.1 * 7 * std::sqrt(count));
  CHECK(std::abs(y) < 6.1 * 7 * std::sqrt(count));
}

TEST_CASE("a scene is the same each time, and another one for another number or seed", "[lm][scenes]") {
  CHECK(draw_scene(1, 2) == draw_scene(1, 2));
  CHECK_FALSE(draw_scene(1, 2) == draw_scene(1, 3));
  CHECK_FALSE(draw_scene(1, 2) == draw_scene(2, 2));
  const Scene scene{{{Shape::cross, Colour::purple, ObjectSize::big, 12.25, 9.5, 5.5}, circle_at(25, 20)}};
  CHECK(describe(scene) == "big purple cross at (12.25, 9.5), radius 5.5\nsmall red circle at (25, 20), radius 3\n");
}

}  // namespace
}  // namespace stein::lm
