#include <stein/supervised/images/augmentation.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace stein::supervised {
namespace {

/// One channel of an image.
struct Plane {
  std::span<const std::uint8_t> pixels;
  std::int64_t height, width;

  double at(std::int64_t row, std::int64_t column) const {
    if (row < 0 || row >= height || column < 0 || column >= width) return 0;
    return pixels[static_cast<std::size_t>(row * width + column)];
  }
  /// Between the four pixels around.
  double between(double row, double column) const {
    const double top = std::floor(row), left = std::floor(column), down = row - top, right = column - left;
    const auto r = static_cast<std::int64_t>(top), c = static_cast<std::int64_t>(left);
    return (1 - down) * ((1 - right) * at(r, c) + right * at(r, c + 1)) +
           down * ((1 - right) * at(r + 1, c) + right * at(r + 1, c + 1));
  }
};

/// Where a pixel of the changed image comes from.
struct Motion {
  double cosine = 1, sine = 0;
  std::int64_t down = 0, right = 0;
  bool mirrored = false;
};

Motion draw_motion(const Augmentation& options, Draws& draws) {
  Motion motion;
  if (options.rotation > 0) {
    const double angle = draws.uniform(-options.rotation, options.rotation) * std::numbers::pi / 180;
    motion.cosine = std::cos(angle), motion.sine = std::sin(angle);
  }
  if (options.crop_padding > 0) {
    const auto places = static_cast<std::uint32_t>(2 * options.crop_padding + 1);
    motion.down = draws.integer(places) - options.crop_padding;
    motion.right = draws.integer(places) - options.crop_padding;
  }
  motion.mirrored = options.flip > 0 && draws.uniform() < options.flip;
  return motion;
}

void erase(const ImageShape& shape, Draws& draws, std::span<std::uint8_t> image) {
  const double area = static_cast<double>(shape.height * shape.width) * draws.uniform(0.02, 0.4);
  const double ratio = std::exp(draws.uniform(std::log(0.3), std::log(3.3)));
  const auto height = std::clamp<std::int64_t>(std::llround(std::sqrt(area * ratio)), 1, shape.height),
             width = std::clamp<std::int64_t>(std::llround(std::sqrt(area / ratio)), 1, shape.width);
  const std::int64_t top = draws.integer(static_cast<std::uint32_t>(shape.height - height + 1)),
                     left = draws.integer(static_cast<std::uint32_t>(shape.width - width + 1));
  for (std::int64_t channel = 0; channel < shape.channels; ++channel)
    for (std::int64_t row = top; row < top + height; ++row)
      for (std::int64_t column = left; column < left + width; ++column)
        image[static_cast<std::size_t>((channel * shape.height + row) * shape.width + column)] =
            static_cast<std::uint8_t>(draws.integer(256));
}

}  // namespace

void augment(const Augmentation& options, const ImageShape& shape, std::span<const std::uint8_t> image, Draws& draws,
             std::span<std::uint8_t> changed) {
  const Motion motion = draw_motion(options, draws);
  const double middle_row = static_cast<double>(shape.height - 1) / 2,
               middle_column = static_cast<double>(shape.width - 1) / 2;
  const auto plane_size = static_cast<std::size_t>(shape.height * shape.width);
  std::size_t place = 0;
  for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
    const Plane plane{image.subspan(static_cast<std::size_t>(channel) * plane_size, plane_size), shape.height,
                      shape.width};
    for (std::int64_t row = 0; row < shape.height; ++row)
      for (std::int64_t column = 0; column < shape.width; ++column) {
        const double r = static_cast<double>(row + motion.down) - middle_row,
                     c = static_cast<double>((motion.mirrored ? shape.width - 1 - column : column) + motion.right) -
                         middle_column;
        const double from_row = middle_row + motion.cosine * r - motion.sine * c,
                     from_column = middle_column + motion.sine * r + motion.cosine * c;
        changed[place++] = static_cast<std::uint8_t>(std::lround(plane.between(from_row, from_column)));
      }
  }
  if (options.erasing > 0 && draws.uniform() < options.erasing) erase(shape, draws, changed);
}

}  // namespace stein::supervised
