#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/core/shuffle.h>
#include <stein/supervised/images/image_split.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace stein::supervised {

ImageSplit split_images(const ImageSet& set, const ImageOptions& options, std::uint64_t seed) {
  const auto permuted = [&](std::int64_t count, std::uint32_t draw) {
    std::vector<std::int64_t> images(static_cast<std::size_t>(count));
    std::iota(images.begin(), images.end(), std::int64_t{0});
    Draws draws({.seed = static_cast<std::uint64_t>(options.split_seed), .step = seed, .stream = Stream::data}, draw);
    shuffle(std::span(images), draws);
    return images;
  };
  ImageSplit split;
  std::vector<std::int64_t> others = permuted(set.first_test, 0);
  if (set.first_test < set.count()) {
    split.test.resize(static_cast<std::size_t>(set.count() - set.first_test));
    std::iota(split.test.begin(), split.test.end(), set.first_test);
  } else {
    const auto held =
        static_cast<std::ptrdiff_t>(std::llround(options.test_share * static_cast<double>(others.size())));
    split.test.assign(others.begin(), others.begin() + held);
    others.erase(others.begin(), others.begin() + held);
  }
  const auto validation = std::min<std::ptrdiff_t>(options.validation_images, std::ssize(others) / 2);
  const std::ptrdiff_t left = std::ssize(others) - validation;
  const std::ptrdiff_t train = options.train_images > 0 ? std::min<std::ptrdiff_t>(options.train_images, left) : left;
  split.validation.assign(others.begin(), others.begin() + validation);
  split.train.assign(others.begin() + validation, others.begin() + validation + train);
  for (std::vector<std::int64_t>* part : {&split.train, &split.validation, &split.test}) std::ranges::sort(*part);
  if (split.test.empty()) fail(ErrorKind::data, "of {} images none is left for the test", set.count());
  if (split.train.empty()) fail(ErrorKind::data, "of {} images none is left for training", set.count());
  return split;
}

}  // namespace stein::supervised
