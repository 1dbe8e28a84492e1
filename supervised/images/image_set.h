// Images with classes, to learn to classify them.
#pragma once

#include <stein/core/options.h>
#include <stein/core/registry.h>
#include <stein/inference/batch.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stein::supervised {

/// Sizes of every image of a set.
struct ImageShape {
  std::int64_t channels = 1, height = 28, width = 28;

  std::int64_t pixels() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

/// All images of a data set: those for training, and behind them those for the test.
struct ImageSet {
  std::string name;
  std::vector<std::string> classes{};
  ImageShape shape{};
  std::vector<std::uint8_t> pixels{};  ///< [n, channels, height, width]
  std::vector<std::uint8_t> labels{};  ///< [n]
  std::int64_t first_test = 0;
  std::map<std::string, std::string> checksums{};  ///< file name → SHA-256 of what was read
  bool synthetic = false;                          ///< made up

  std::int64_t count() const { return std::ssize(labels); }
  std::span<const std::uint8_t> image(std::int64_t i) const {
    return std::span(pixels).subspan(static_cast<std::size_t>(i * shape.pixels()),
                                     static_cast<std::size_t>(shape.pixels()));
  }
};

/// Which images, and how they are parted.
struct ImageOptions {
  std::string data = "mnist";  ///< a registered name, or a file of images
  std::filesystem::path data_folder{}, test_data{};
  std::int64_t validation_images = 10'000, train_images = 0;
  std::int64_t split_seed = 0;
  double test_share = 0.1;
  std::int64_t synthetic_images = 6000;

  bool is_file() const;
  bool is_cifar10() const;
  bool is_synthetic() const { return data == "digits-synthetic"; }
  /// Whether the test part is drawn, since the data have none.
  bool draws_test() const;

  /// The options that mean something for `data` and `test_data`, which are to be set before.
  template <class V>
  void describe(V& v) {
    v("data", data,
      "images with classes: mnist, fashion-mnist-900, digits-synthetic (made up), an IDX file of your own, "
      "…images-idx3-ubyte beside …labels-idx1-ubyte, or data_batch_1.bin of CIFAR-10's binary version beside its "
      "others");
    if (is_synthetic())
      v("synthetic_images", synthetic_images, "images that are made up, a sixth of them for the test", between(60, 1e6),
        "images");
    else if (!is_file())
      v("data_folder", data_folder, "folder with data sets; empty: $STEIN_DATA, then the user's cache");
    else if (!is_cifar10())
      v("test_data", test_data,
        "an IDX file of images for the test; empty: some of the same file, drawn for each seed");
    if (draws_test())
      v("test_share", test_share, "share of the images which is for the test",
        Range{.low = 0, .high = 1, .low_open = true, .high_open = true});
    v("validation_images", validation_images,
      "images that are not for the test and are for validation; half of these images at most", between(0, 1e8),
      "images");
    v("train_images", train_images, "images for training; 0: all that are left", between(0, 1e8), "images");
    v("split_seed", split_seed, "seed of the images that are drawn for a part, with that of the run", at_least(0));
  }
};

/// A registered set: its line in `stein list`, and how it is read.
struct ImageSetEntry {
  std::string description;
  bool given_test = true;  ///< it has a test part
  std::function<ImageSet(const ImageOptions&)> read;
};

/// All sets of images that are linked in.
Registry<ImageSetEntry>& image_sets();

/// Reads what the options say.
/// @throws Error(usage) for a name that is neither registered nor a file, suggesting the nearest; Error(data) for a set
///         or a file that is missing or damaged, as read_idx and read_cifar10_batch; Error(data) for files whose images
///         have other sizes than [n, height, width] or than those for training, whose labels are not as many as the
///         images, or whose test part has a class that the training part does not have
ImageSet read_image_set(const ImageOptions& options);

/// Images whose classes nobody has told: of an IDX file [n, height, width], or of a batch of CIFAR-10's binary version
/// (….bin), whose labels are not looked at. All labels are 0, `classes` is empty.
/// @throws Error(data) for a file that is missing, damaged or without an image, as read_idx and read_cifar10_batch
ImageSet read_unlabelled_images(const std::filesystem::path& file);

}  // namespace stein::supervised
