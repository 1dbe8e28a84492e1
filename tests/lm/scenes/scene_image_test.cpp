#include <stein/lm/scenes/scene_image.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

namespace stein::lm {
namespace {

SceneObject object_at(Shape shape, double x, double y, double radius, Colour colour = Colour::red) {
  return {shape, colour, radius < 5 ? ObjectSize::small : ObjectSize::big, x, y, radius};
}

/// Pixels that the shape covers.
double area(const SceneObject& object) {
  double sum = 0;
  for (int row = 0; row < picture_pixels; ++row)
    for (int column = 0; column < picture_pixels; ++column) sum += coverage(object, column, row);
  return sum;
}

std::uint8_t pixel(const std::vector<std::uint8_t>& picture, int channel, int column, int row) {
  const int place = (channel * picture_pixels + row) * picture_pixels + column;
  return picture[static_cast<std::size_t>(place)];
}

TEST_CASE("a square covers whole pixels inside, and shares of those on its edge", "[lm][scenes]") {
  // Radius 5: half a side is 3.5. Around (10, 12.5) it reaches from 6.5 to 13.5 and from 9 to 16.
  const SceneObject square = object_at(Shape::square, 10, 12.5, 5);
  for (int row = 0; row < picture_pixels; ++row)
    for (int column = 0; column < picture_pixels; ++column) {
      const double across = column < 6 || column > 13 ? 0 : column == 6 || column == 13 ? 0.5 : 1;
      const double down = row < 9 || row > 15 ? 0 : 1;
      CHECK(coverage(square, column, row) == across * down);
    }
  CHECK(area(square) == 49);
}

TEST_CASE("circles, triangles and crosses have their areas, and points where they should be", "[lm][scenes]") {
  // Each pixel's share is a multiple of 1/16, and some 40 pixels lie on an edge: the area is right to about a pixel.
  CHECK(std::abs(area(object_at(Shape::circle, 16, 16, 6)) - std::numbers::pi * 36) < 1);
  CHECK(std::abs(area(object_at(Shape::triangle, 16, 16, 6)) - 0.75 * std::sqrt(3) * 36) < 1);  // ¾ √3 r²
  // A cross: two bars of 1.8 r by 0.6 r and once their common square: (2 · 1.8 · 0.6 − 0.6²) r² = 1.8 r². With r = 5
  // bars of 9 by 3 pixels around (16.5, 16.5) have edges between pixels.
  CHECK(area(object_at(Shape::cross, 16.5, 16.5, 5)) == 45);
  const SceneObject cross = object_at(Shape::cross, 16.5, 16.5, 5);
  CHECK(coverage(cross, 12, 16) == 1);
  CHECK(coverage(cross, 16, 20) == 1);
  CHECK(coverage(cross, 11, 16) == 0);
  CHECK(coverage(cross, 14, 14) == 0);
  // A triangle points up: narrow above, wide below.
  const SceneObject triangle = object_at(Shape::triangle, 16, 16, 6);
  CHECK(coverage(triangle, 12, 18) == 1);
  CHECK(coverage(triangle, 12, 12) == 0);
  CHECK(coverage(triangle, 16, 18) == 1);
  CHECK(coverage(triangle, 16, 19) == 0);  // the base is 3 below the centre
  // It is (dy + r) / √3 wide to either side: at dy = −4.875, −4.625, −4.375 and −4.125 that is 0.65, 0.79, 0.94
  // and 1.08, and 3, 3, 4 and 4 of the points 0.125, 0.375, 0.625 and 0.875 beside the middle lie in it.
  CHECK(coverage(triangle, 15, 11) == 14.0 / 16);
}

TEST_CASE("no shape reaches out of its disc", "[lm][scenes]") {
  for (int shape = 0; shape < shape_count; ++shape)
    for (int row = 0; row < picture_pixels; ++row)
      for (int column = 0; column < picture_pixels; ++column) {
        const SceneObject object = object_at(static_cast<Shape>(shape), 15.25, 16.75, 5.5);
        const double dx = std::abs(column + 0.5 - object.x) - 0.5, dy = std::abs(row + 0.5 - object.y) - 0.5;
        const double nearest = std::hypot(std::max(dx, 0.0), std::max(dy, 0.0));
        if (nearest > object.radius) CHECK(coverage(object, column, row) == 0);
      }
}

TEST_CASE("in plain light pixels have the colours of the objects and the grey of the ground", "[lm][scenes]") {
  Scene scene{
      {object_at(Shape::square, 10, 12.5, 5, Colour::red), object_at(Shape::square, 24, 12.5, 5, Colour::blue)}};
  Draws draws({}, 0);
  const std::vector<std::uint8_t> picture = render(scene, {}, draws);
  REQUIRE(picture.size() == 3 * 32 * 32);
  // 0.25 · 255 = 63.75; red is (0.85, 0.15, 0.12), blue (0.15, 0.25, 0.85).
  for (int channel = 0; channel < 3; ++channel) CHECK(pixel(picture, channel, 0, 31) == 64);
  CHECK(pixel(picture, 0, 10, 12) == 217);  // 216.75
  CHECK(pixel(picture, 1, 10, 12) == 38);   // 38.25
  CHECK(pixel(picture, 2, 10, 12) == 31);   // 30.6
  CHECK(pixel(picture, 0, 24, 12) == 38);
  CHECK(pixel(picture, 2, 24, 12) == 217);
  // Half a pixel of red: 0.25 + 0.5 (0.85 − 0.25) = 0.55, 140.25.
  CHECK(pixel(picture, 0, 6, 12) == 140);
  CHECK(pixel(picture, 0, 13, 12) == 140);
  CHECK(pixel(picture, 0, 5, 12) == 64);
}

TEST_CASE("light multiplies, paint adds, and what is brighter than white is white", "[lm][scenes]") {
  const Scene scene{{object_at(Shape::square, 16, 16, 5, Colour::green)}};
  SceneLight light{.brightness = 1.2, .tint = {1, 0.5, 2}, .slope_x = 0.5, .slope_y = -0.25, .ground = 0.4};
  light.paint[0] = {0.05, 0, 0.3};
  Draws draws({}, 0);
  const std::vector<std::uint8_t> picture = render(scene, light, draws);
  // Column 8 is (8.5 / 16 − 1) = −0.46875 from the middle, row 24 is 0.53125: the light is 1.2 (1 − 0.234375 −
  // 0.1328125) = 0.759375. The ground: 0.4 · 0.759375 · tint.
  CHECK(pixel(picture, 0, 8, 24) == 77);   // 77.456
  CHECK(pixel(picture, 1, 8, 24) == 39);   // 38.728
  CHECK(pixel(picture, 2, 8, 24) == 155);  // 154.91
  // Row and column 16 are 0.03125 from the middle: 1.2 (1 + 0.015625 − 0.0078125) = 1.209375. Green is (0.15, 0.65,
  // 0.2).
  CHECK(pixel(picture, 0, 16, 16) == 62);   // (0.15 + 0.05) · 1.209375 · 255 = 61.678
  CHECK(pixel(picture, 1, 16, 16) == 100);  // 0.65 · 1.209375 · 0.5 · 255 = 100.227
  CHECK(pixel(picture, 2, 16, 16) == 255);  // 0.5 · 1.209375 · 2 > 1
}

TEST_CASE("noise has its standard deviation", "[lm][scenes]") {
  const SceneLight light{.ground = 0.5, .noise = 0.04};
  Draws draws({.seed = 1}, 0);
  const std::vector<std::uint8_t> picture = render({}, light, draws);
  double sum = 0, square = 0;
  for (const std::uint8_t byte : picture) {
    const double difference = byte - 127.5;
    sum += difference, square += difference * difference;
  }
  const double n = 3 * 32 * 32, sd = 0.04 * 255, variance = sd * sd + 1.0 / 12;  // and that of rounding
  CHECK(std::abs(sum / n) < 6.1 * std::sqrt(variance / n));
  // The fourth moment of the sum of four uniform numbers is 2.7 of its variance squared.
  CHECK(std::abs(square / n - variance) < 6.1 * variance * std::sqrt(1.7 / n));
}

TEST_CASE("a picture is the same each time, and light and noise differ from picture to picture", "[lm][scenes]") {
  const Scene scene = draw_scene(0, 0);
  CHECK(draw_picture(scene, 0, 0) == draw_picture(scene, 0, 0));
  CHECK(draw_picture(scene, 0, 0) != draw_picture(scene, 0, 1));
  CHECK(draw_picture(scene, 0, 0) != draw_picture(scene, 1, 0));
  Draws draws({}, 0);
  for (int i = 0; i < 500; ++i) {
    const SceneLight light = draw_light(draws);
    const auto between = [](double value, double low, double high) { return value > low && value < high; };
    CHECK(between(light.brightness, 0.75, 1.15));
    CHECK(between(light.ground, 0.1, 0.4));
    CHECK(between(light.noise, 0.02, 0.05));
    for (const double slope : {light.slope_x, light.slope_y}) CHECK(between(slope, -0.2, 0.2));
    for (const double part : light.tint) CHECK(between(part, 0.92, 1.08));
    for (const Rgb& paint : light.paint)
      for (const double part : paint) CHECK(between(part, -0.08, 0.08));
  }
}

}  // namespace
}  // namespace stein::lm
