// Pictures of scenes: RGB bytes with soft edges, under a light that differs from picture to picture, with noise.
#pragma once

#include <stein/core/rng.h>
#include <stein/lm/scenes/scene.h>

#include <array>
#include <cstdint>
#include <vector>

namespace stein::lm {

/// Width and height of a picture [pixels].
inline constexpr int picture_pixels = 32;
static_assert(picture_pixels == picture_width);

/// Red, green and blue, each from 0 to 1.
using Rgb = std::array<double, 3>;

/// What a shape of this colour looks like in plain light.
Rgb rgb_of(Colour colour);

/// What makes two pictures of one scene differ. As it stands: plain light, grey ground, no noise.
struct SceneLight {
  double brightness = 1;       ///< multiplies everything
  Rgb tint{1, 1, 1};           ///< multiplies each colour
  double slope_x = 0;          ///< how much brighter the right edge is than the middle, as a share
  double slope_y = 0;          ///< how much brighter the lower edge is than the middle, as a share
  double ground = 0.25;        ///< grey of the ground
  double noise = 0;            ///< sd of what is added to every number
  std::array<Rgb, 3> paint{};  ///< added to the colour of each object
};

/// Light as it differs between pictures: brightness 0.75 to 1.15, tints 0.92 to 1.08, slopes up to 0.2, ground 0.1 to
/// 0.4, noise 0.02 to 0.05, paint up to 0.08.
SceneLight draw_light(Draws& draws);

/// Which share of the pixel in column `column` and row `row` the shape covers: how many of 16 points in it, a grid of
/// 4 × 4, lie in the shape, divided by 16. With r the radius: a circle fills its disc; a square has sides of 1.4 r; a
/// triangle points up, with its corners on the disc's edge and its base r / 2 below the centre; a cross has two bars of
/// 1.8 r by 0.6 r.
double coverage(const SceneObject& object, int column, int row);

/// The picture of a scene, [3, 32, 32] bytes, red before green before blue, 255 the brightest. Noise is drawn from
/// `draws`.
std::vector<std::uint8_t> render(const Scene& scene, const SceneLight& light, Draws& draws);

/// The picture of scene `index` of a seed, with light and noise of its own.
std::vector<std::uint8_t> draw_picture(const Scene& scene, std::uint64_t seed, std::uint32_t index);

}  // namespace stein::lm
