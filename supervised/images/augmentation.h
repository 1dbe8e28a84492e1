// Images that are moved, turned, mirrored and partly hidden before a network sees them in training.
#pragma once

#include <stein/core/options.h>
#include <stein/core/rng.h>
#include <stein/supervised/images/image_set.h>

#include <cstdint>
#include <span>

namespace stein::supervised {

/// How much images are changed; by default not at all.
struct Augmentation {
  std::int64_t crop_padding = 0;
  double flip = 0, rotation = 0, erasing = 0;

  template <class V>
  void describe(V& v) {
    v("crop_padding", crop_padding, "images for training are cut out of themselves with so many dark pixels around",
      between(0, 1000), "pixels");
    v("flip", flip, "probability that an image for training is mirrored from left to right", probability);
    v("rotation", rotation, "images for training are turned by an angle uniform on (−rotation, rotation)",
      between(0, 180), "degrees");
    v("erasing", erasing,
      "probability that a rectangle of an image for training is set to noise (Zhong et al. 2020: 2 to 40 % of it, of a "
      "ratio from 0.3 to 3.3)",
      probability);
  }
  bool changes() const { return crop_padding > 0 || flip > 0 || rotation > 0 || erasing > 0; }
};

/// Writes `image` as a training step sees it: turned (bilinear, dark outside), cut out, mirrored, then partly erased.
/// @param image    [channels, height, width]
/// @param draws    what is drawn
/// @param changed  of the same size
void augment(const Augmentation& options, const ImageShape& shape, std::span<const std::uint8_t> image, Draws& draws,
             std::span<std::uint8_t> changed);

}  // namespace stein::supervised
