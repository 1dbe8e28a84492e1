// Made-up images of handwritten digits.
#pragma once

#include <stein/supervised/images/image_set.h>

#include <cstdint>

namespace stein::supervised {

/// Strokes of the digits 0 to 9 on 28 x 28 pixels, each image with a slant, a size, a place and a thickness of its own,
/// strokes that are bent a little, and noise on every pixel. Image i is of digit i mod 10, and a sixth of them are for
/// the test. The same seed, the same images. Throws Error(usage) unless there are at least 60.
ImageSet make_synthetic_digits(std::int64_t images, std::uint64_t seed);

}  // namespace stein::supervised
