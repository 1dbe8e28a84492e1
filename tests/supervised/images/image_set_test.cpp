// Sets of images: published ones, made-up ones, one's own, and how they are parted.
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>
#include <stein/supervised/images/image_rows.h>
#include <stein/supervised/images/image_set.h>
#include <stein/supervised/images/image_split.h>
#include <stein/supervised/images/synthetic_digits.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"

namespace stein::supervised {
namespace {

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

/// IDX files of 2 x 2 images, image i of four pixels i, with these labels.
std::string write_images(const test::TemporaryDirectory& folder, const std::string& part, const std::string& labels,
                         std::uint32_t width = 2) {
  const auto count = static_cast<std::uint32_t>(labels.size());
  std::string images = big_endian(0x0803) + big_endian(count) + big_endian(2) + big_endian(width);
  for (std::uint32_t i = 0; i < count; ++i) images += std::string(2 * width, static_cast<char>(i));
  test::write(folder / (part + "-labels-idx1-ubyte"), big_endian(0x0801) + big_endian(count) + labels);
  return test::write(folder / (part + "-images-idx3-ubyte"), images).string();
}

using namespace std::string_literals;

TEST_CASE("images of one's own come with the labels beside them", "[supervised][images]") {
  const test::TemporaryDirectory folder;
  ImageOptions options{.data = write_images(folder, "train", "\x00\x02\x01"s)};
  const ImageSet set = read_image_set(options);
  CHECK(set.shape == ImageShape{.channels = 1, .height = 2, .width = 2});
  CHECK(set.classes == std::vector<std::string>{"0", "1", "2"});
  CHECK(set.first_test == 3);
  CHECK(set.image(2)[3] == 2);
  CHECK(set.checksums.size() == 2);
  options.test_data = write_images(folder, "t10k", "\x02"s);
  const ImageSet with_test = read_image_set(options);
  CHECK(with_test.first_test == 3);
  CHECK(with_test.count() == 4);
  CHECK(with_test.labels[3] == 2);
}

TEST_CASE("images that cannot be learned from say why", "[supervised][images]") {
  const test::TemporaryDirectory folder;
  ImageOptions options{.data = write_images(folder, "train", "\x00\x01"s)};
  options.test_data = write_images(folder, "wide", "\x00"s, 3);
  CHECK_ERROR(read_image_set(options), data, "images of 2 x 2 pixels as for training, found 2 x 3");
  options.test_data = write_images(folder, "other", "\x00\x05"s);
  CHECK_ERROR(read_image_set(options), data, "image 1 has the class 5; those for training have 0 to 1");
  test::write(folder / "other-labels-idx1-ubyte", big_endian(0x0801) + big_endian(1) + "\x00"s);
  CHECK_ERROR(read_image_set(options), data, "expected a label for each of 2 images, found 1");
  CHECK_ERROR(read_image_set({.data = (folder / "pictures.idx").string()}), usage, "images-idx3-ubyte");
  CHECK_ERROR(read_image_set({.data = "mnsit"}), usage, "Did you mean 'mnist'");
}

TEST_CASE("CIFAR-10 is read from the batches that lie together", "[supervised][images]") {
  const test::TemporaryDirectory folder;
  const auto batch = [&](const std::string& name, const std::string& labels) {
    std::string bytes;
    for (const char label : labels) bytes += label + std::string(3072, static_cast<char>(10 * label));
    return test::write(folder / name, bytes).string();
  };
  const ImageOptions options{.data = batch("data_batch_1.bin", "\x03\x00"s)};
  CHECK_ERROR(read_image_set(options), data, "test_batch.bin");
  batch("data_batch_2.bin", "\x09"s), batch("test_batch.bin", "\x01\x02"s);
  CHECK_FALSE(options.draws_test());
  const ImageSet set = read_image_set(options);
  CHECK(set.name == "cifar-10");
  CHECK(set.shape == ImageShape{.channels = 3, .height = 32, .width = 32});
  CHECK(set.labels == std::vector<std::uint8_t>{3, 0, 9, 1, 2});
  CHECK(set.first_test == 3);
  CHECK(set.image(2)[3071] == 90);
  CHECK(set.classes[9] == "truck");
  CHECK(set.checksums.size() == 3);
}

TEST_CASE("MNIST has a test part, and 10,000 images for validation", "[supervised][images][data-set]") {
  if (!find_data_set("mnist")) test::skip("no data set mnist");
  const ImageOptions options{.data = "mnist"};
  const ImageSet set = read_image_set(options);
  const ImageSplit split = split_images(set, options, 0);
  CHECK(split.train.size() == 50'000);
  CHECK(split.validation.size() == 10'000);
  CHECK(split.test.size() == 10'000);
  CHECK(split.test.front() == 60'000);
  // The published mean and sd of all training images.
  std::vector<std::int64_t> all(60'000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  const PixelScale scale = PixelScale::of_channels(set, all);
  CHECK(scale.mean[0] == Approx(0.1307).margin(5e-5));
  CHECK(scale.deviation[0] == Approx(0.3081).margin(5e-5));
}

TEST_CASE("parts of images have none in common", "[supervised][images]") {
  const ImageSet set = make_synthetic_digits(120, 0);
  ImageOptions options{.data = "digits-synthetic", .validation_images = 30, .train_images = 40};
  const ImageSplit split = split_images(set, options, 1);
  CHECK(split.test.size() == 20);
  CHECK(split.validation.size() == 30);
  CHECK(split.train.size() == 40);
  std::set<std::int64_t> all(split.train.begin(), split.train.end());
  all.insert(split.validation.begin(), split.validation.end());
  all.insert(split.test.begin(), split.test.end());
  CHECK(all.size() == 90);
  CHECK(split_images(set, options, 1).train == split.train);
  CHECK(split_images(set, options, 2).train != split.train);
  options.validation_images = 1000;
  CHECK(split_images(set, options, 1).validation.size() == 50);  // half of those that are not for the test
}

TEST_CASE("made-up digits are images with ink, each digit as often, and drawn from the seed", "[supervised][images]") {
  const ImageSet set = make_synthetic_digits(200, 3);
  CHECK(set.synthetic);
  CHECK(make_synthetic_digits(200, 3).pixels == set.pixels);
  CHECK(make_synthetic_digits(200, 4).pixels != set.pixels);
  for (std::int64_t i = 0; i < set.count(); ++i) {
    double ink = 0;
    for (const std::uint8_t pixel : set.image(i)) ink += pixel / 255.0;
    CHECK(set.labels[static_cast<std::size_t>(i)] == i % 10);
    CHECK(ink > 20);
    CHECK(ink < 350);
  }
}

TEST_CASE("each colour of an image has a scale of its own", "[supervised][images]") {
  auto set = std::make_shared<ImageSet>();
  set->shape = {.channels = 3, .height = 1, .width = 2};
  set->pixels = {0, 255, 51, 51, 102, 0,  //
                 0, 255, 51, 51, 0,   102};
  set->labels = {1, 0};
  const std::vector<std::int64_t> both{0, 1};
  const PixelScale scale = PixelScale::of_channels(*set, both);
  REQUIRE(scale.mean.size() == 3);
  CHECK(scale.mean[0] == Approx(0.5));
  CHECK(scale.deviation[0] == Approx(0.5));
  CHECK(scale.mean[1] == Approx(0.2));
  CHECK(scale.deviation[1] == 1);  // all alike
  CHECK(scale.mean[2] == Approx(0.2));
  CHECK(scale.deviation[2] == Approx(0.2));
  ImageRows rows(set, both, scale, {});
  const inference::Inputs<float> inputs = rows.inputs(std::vector<std::int64_t>{0});
  const std::vector<float> expected{-1, 1, 0, 0, 1, -1};
  for (std::int64_t i = 0; i < 6; ++i)
    CHECK(inputs.dense.row(0)[static_cast<std::size_t>(i)] ==
          Approx(expected[static_cast<std::size_t>(i)]).margin(1e-6));
  CHECK_THROWS_AS(ImageRows(set, both, {.mean = {0, 0}, .deviation = {1, 1}}, {}), Error);
}

TEST_CASE("a minibatch can have the scale of its own places, in training only", "[supervised][images]") {
  auto set = std::make_shared<ImageSet>();
  set->shape = {.channels = 1, .height = 1, .width = 2};
  set->pixels = {10, 7, 30, 7, 200, 9};
  set->labels = {1, 0, 1};
  const std::vector<std::int64_t> all{0, 1, 2}, two{1, 0};
  const PixelScale scale = PixelScale::of_places(*set, all);
  ImageRows rows(set, all, scale, {}, MinibatchScale::of_minibatch);
  const auto learned = rows.training_inputs(two, {});
  CHECK(learned.dense.rows == 2);
  CHECK(learned.dense(0, 0) == Approx(1));  // 30 among 30 and 10
  CHECK(learned.dense(1, 0) == Approx(-1));
  CHECK(learned.dense(0, 1) == 0);  // all alike there
  CHECK(learned.dense(1, 1) == 0);
  ImageRows plain(set, all, scale, {});
  const float asked = plain.inputs(two).dense(0, 0);
  CHECK(rows.inputs(two).dense(0, 0) == asked);
}

TEST_CASE("rows of images are shares of 255 on the scale", "[supervised][images]") {
  auto set = std::make_shared<ImageSet>();
  set->shape = {.channels = 1, .height = 1, .width = 2};
  set->pixels = {0, 255, 51, 102};
  set->labels = {1, 0};
  ImageRows rows(set, {1, 0}, {.mean = {0.2}, .deviation = {0.5}}, {});
  CHECK(rows.label(0) == 0);
  const std::vector<std::int64_t> both{0, 1};
  const auto inputs = rows.inputs(both);
  CHECK(inputs.dense(0, 0) == Approx(0).margin(1e-6));
  CHECK(inputs.dense(0, 1) == Approx(0.4));
  CHECK(inputs.dense(1, 0) == Approx(-0.4));
  CHECK(inputs.dense(1, 1) == Approx(1.6));
}

TEST_CASE("each place has a scale of its own, by the images for training alone", "[supervised][images]") {
  auto set = std::make_shared<ImageSet>();
  set->shape = {.channels = 1, .height = 1, .width = 2};
  set->pixels = {0, 51, 255, 51, 9, 7};
  set->labels = {0, 1, 0};
  const std::vector<std::int64_t> train{0, 1}, all{0, 1, 2};
  const PixelScale scale = PixelScale::of_places(*set, train);
  CHECK(scale.mean[0] == Approx(0.5));
  CHECK(scale.deviation[0] == Approx(0.5));
  CHECK(scale.mean[1] == Approx(0.2));
  CHECK(scale.deviation[1] == 1);  // the same in both images
  ImageRows rows(set, all, scale, {});
  const auto inputs = rows.inputs(all);
  CHECK(inputs.dense(0, 0) == Approx(-1));
  CHECK(inputs.dense(1, 0) == Approx(1));
  CHECK(inputs.dense(0, 1) == Approx(0).margin(1e-6));
}

}  // namespace
}  // namespace stein::supervised
