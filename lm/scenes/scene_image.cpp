#include <stein/lm/scenes/scene_image.h>

#include <algorithm>
#include <cmath>

namespace stein::lm {
namespace {

/// Whether a point lies in the shape of radius `r`; dx to the right of its centre, dy below it.
bool covers(Shape shape, double r, double dx, double dy) {
  const double across = std::abs(dx), along = std::abs(dy);
  switch (shape) {
    case Shape::circle: return dx * dx + dy * dy <= r * r;
    case Shape::square: return std::max(across, along) <= 0.7 * r;
    // Equilateral: a height of 1.5 r over half a base of √3/2 r.
    case Shape::triangle: return dy <= 0.5 * r && across * std::sqrt(3.0) <= dy + r;
    case Shape::cross: return std::max(across, along) <= 0.9 * r && std::min(across, along) <= 0.3 * r;
  }
  return false;
}

/// Sum of four uniform numbers, centred: mean 0, sd 1, the same bits on every machine.
double draw_noise(Draws& draws) {
  double sum = -2;
  for (int i = 0; i < 4; ++i) sum += draws.uniform();
  return sum * std::sqrt(3.0);  // a uniform number has variance 1/12, four have 1/3
}

std::uint8_t byte_of(double value) {
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

/// Colour of a pixel before light falls on it.
Rgb paint_of(const Scene& scene, const SceneLight& light, int column, int row) {
  Rgb pixel{light.ground, light.ground, light.ground};
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    const double share = coverage(scene.objects[i], column, row);
    const Rgb colour = rgb_of(scene.objects[i].colour);
    for (std::size_t c = 0; c < 3; ++c) pixel[c] += share * (colour[c] + light.paint[i][c] - pixel[c]);
  }
  return pixel;
}

}  // namespace

Rgb rgb_of(Colour colour) {
  switch (colour) {
    case Colour::red: return {0.85, 0.15, 0.12};
    case Colour::green: return {0.15, 0.65, 0.2};
    case Colour::blue: return {0.15, 0.25, 0.85};
    case Colour::yellow: return {0.9, 0.8, 0.15};
    case Colour::purple: return {0.55, 0.15, 0.65};
    case Colour::white: return {0.9, 0.9, 0.9};
  }
  return {};
}

SceneLight draw_light(Draws& draws) {
  SceneLight light;
  light.brightness = draws.uniform(0.75, 1.15);
  for (double& part : light.tint) part = draws.uniform(0.92, 1.08);
  light.slope_x = draws.uniform(-0.2, 0.2);
  light.slope_y = draws.uniform(-0.2, 0.2);
  light.ground = draws.uniform(0.1, 0.4);
  light.noise = draws.uniform(0.02, 0.05);
  for (Rgb& paint : light.paint)
    for (double& part : paint) part = draws.uniform(-0.08, 0.08);
  return light;
}

double coverage(const SceneObject& object, int column, int row) {
  constexpr int points = 4;
  int covered = 0;
  for (int i = 0; i < points; ++i)
    for (int j = 0; j < points; ++j) {
      const double x = column + (i + 0.5) / points, y = row + (j + 0.5) / points;
      covered += covers(object.shape, object.radius, x - object.x, y - object.y) ? 1 : 0;
    }
  return covered / static_cast<double>(points * points);
}

std::vector<std::uint8_t> render(const Scene& scene, const SceneLight& light, Draws& draws) {
  constexpr std::size_t pixels = picture_pixels * picture_pixels;
  std::vector<std::uint8_t> picture(3 * pixels);
  for (int row = 0; row < picture_pixels; ++row)
    for (int column = 0; column < picture_pixels; ++column) {
      const Rgb paint = paint_of(scene, light, column, row);
      const auto from_middle = [](int place) { return (place + 0.5) / (picture_width / 2) - 1; };
      const double brightness =
          light.brightness * (1 + light.slope_x * from_middle(column) + light.slope_y * from_middle(row));
      for (std::size_t c = 0; c < 3; ++c)
        picture[c * pixels + static_cast<std::size_t>(row * picture_pixels + column)] =
            byte_of(paint[c] * brightness * light.tint[c] + light.noise * draw_noise(draws));
    }
  return picture;
}

std::vector<std::uint8_t> draw_picture(const Scene& scene, std::uint64_t seed, std::uint32_t index) {
  Draws draws({.seed = seed, .step = 1, .stream = Stream::data}, index);
  const SceneLight light = draw_light(draws);
  return render(scene, light, draws);
}

}  // namespace stein::lm
