#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/supervised/images/synthetic_digits.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace stein::supervised {
namespace {

struct Point {
  double x, y;  ///< in a box of width 1 and height 1, y downwards
};
using Stroke = std::vector<Point>;

/// Points on an ellipse from one angle to another [turns], 0 to the right, clockwise.
Stroke arc(Point centre, double width, double height, double from, double to) {
  constexpr int pieces = 16;
  Stroke stroke;
  for (int i = 0; i <= pieces; ++i) {
    const double angle = 2 * std::numbers::pi * (from + (to - from) * i / pieces);
    stroke.push_back({centre.x + width / 2 * std::cos(angle), centre.y + height / 2 * std::sin(angle)});
  }
  return stroke;
}

/// The strokes of a digit.
std::vector<Stroke> glyph(std::int64_t digit) {
  switch (digit) {
    case 0: return {arc({0.5, 0.5}, 0.7, 1, 0, 1)};
    case 1: return {{{0.3, 0.2}, {0.55, 0}, {0.55, 1}}};
    case 2: return {arc({0.5, 0.28}, 0.7, 0.56, 0.5, 1.08), {{0.8, 0.42}, {0.15, 1}, {0.87, 1}}};
    case 3: return {arc({0.47, 0.26}, 0.64, 0.5, 0.55, 1.25), arc({0.47, 0.75}, 0.72, 0.5, 0.75, 1.45)};
    case 4: return {{{0.65, 1}, {0.65, 0}, {0.1, 0.68}, {0.9, 0.68}}};
    case 5: return {{{0.82, 0}, {0.25, 0}, {0.2, 0.45}}, arc({0.47, 0.68}, 0.72, 0.62, 0.62, 1.42)};
    case 6: return {arc({0.5, 0.7}, 0.66, 0.6, 0, 1), {{0.7, 0}, {0.35, 0.3}, {0.18, 0.66}}};
    case 7: return {{{0.12, 0}, {0.88, 0}, {0.42, 1}}};
    case 8: return {arc({0.5, 0.25}, 0.58, 0.5, 0, 1), arc({0.5, 0.75}, 0.7, 0.5, 0, 1)};
    default: return {arc({0.5, 0.3}, 0.66, 0.6, 0, 1), {{0.82, 0.34}, {0.7, 0.75}, {0.55, 1}}};
  }
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double along = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

/// How the strokes of one image lie on its pixels.
class Hand {
 public:
  Hand(std::int64_t size, Draws& draws)
      : middle_{static_cast<double>(size) / 2 + draws.uniform(-2, 2),
                static_cast<double>(size) / 2 + draws.uniform(-2, 2)},
        width_(draws.uniform(10, 15)),
        height_(draws.uniform(15, 21)),
        slant_(draws.uniform(-0.35, 0.35)),
        turn_(draws.uniform(-0.2, 0.2)),
        bend_(draws.uniform(-0.12, 0.12)),
        thickness_(draws.uniform(0.8, 1.8)) {}

  double thickness() const { return thickness_; }
  Point place(Point p) const {
    const double bent = p.x + bend_ * std::sin(2 * std::numbers::pi * p.y);
    const double x = width_ * (bent - 0.5) - slant_ * height_ * (p.y - 0.5), y = height_ * (p.y - 0.5);
    return {middle_.x + x * std::cos(turn_) - y * std::sin(turn_),
            middle_.y + x * std::sin(turn_) + y * std::cos(turn_)};
  }

 private:
  Point middle_;
  double width_, height_, slant_, turn_, bend_, thickness_;  ///< [pixels], [radians]
};

void draw(std::int64_t digit, Draws& draws, std::span<std::uint8_t> pixels, std::int64_t size) {
  const Hand hand(size, draws);
  std::vector<Stroke> strokes = glyph(digit);
  for (Stroke& stroke : strokes)
    for (Point& point : stroke) point = hand.place(point);
  constexpr double noise = 12;  // of 255
  for (std::int64_t row = 0; row < size; ++row)
    for (std::int64_t column = 0; column < size; ++column) {
      const Point here{static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5};
      double nearest = static_cast<double>(size);
      for (const Stroke& stroke : strokes)
        for (std::size_t i = 0; i + 1 < stroke.size(); ++i)
          nearest = std::min(nearest, distance(here, stroke[i], stroke[i + 1]));
      const double ink = std::clamp(hand.thickness() + 0.5 - nearest, 0.0, 1.0);
      const double value = 255 * ink + noise * draws.normal();
      pixels[static_cast<std::size_t>(row * size + column)] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
    }
}

}  // namespace

ImageSet make_synthetic_digits(std::int64_t images, std::uint64_t seed) {
  STEIN_CHECK(images >= 60, "digits-synthetic needs at least 60 images, got {}", images);
  ImageSet set{.name = "digits-synthetic", .first_test = images - images / 6, .synthetic = true};
  for (int digit = 0; digit < 10; ++digit) set.classes.push_back(std::to_string(digit));
  set.pixels.resize(static_cast<std::size_t>(images * set.shape.pixels()));
  for (std::int64_t i = 0; i < images; ++i) {
    Draws draws({.seed = seed, .stream = Stream::data}, static_cast<std::uint32_t>(i));
    set.labels.push_back(static_cast<std::uint8_t>(i % 10));
    draw(i % 10, draws,
         std::span(set.pixels)
             .subspan(static_cast<std::size_t>(i * set.shape.pixels()), static_cast<std::size_t>(set.shape.pixels())),
         set.shape.width);
  }
  return set;
}

}  // namespace stein::supervised
