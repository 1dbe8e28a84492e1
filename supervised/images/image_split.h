// Which images of a set are for what.
#pragma once

#include <stein/supervised/images/image_set.h>

#include <cstdint>
#include <vector>

namespace stein::supervised {

/// Images of each part; none is in two of them.
struct ImageSplit {
  std::vector<std::int64_t> train, validation, test;
};

/// Parts a set for a seed of a run. The test part is the one that the set has; where it has none,
/// `options.test_share` of the images is drawn. Of the others `options.validation_images`, half of them at most, are
/// drawn for validation, and `options.train_images` of the rest, or all, for training. All draws are from
/// (`options.split_seed`, seed); none looks at labels.
/// @throws Error(data) where no image is left for the test or for training
ImageSplit split_images(const ImageSet& set, const ImageOptions& options, std::uint64_t seed);

}  // namespace stein::supervised
