// Changed images against what geometry says.
#include <stein/supervised/images/augmentation.h>
#include <stein/supervised/images/image_rows.h>
#include <stein/supervised/images/synthetic_digits.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

namespace stein::supervised {
namespace {

constexpr ImageShape square{.channels = 1, .height = 9, .width = 9};
using Image = std::vector<std::uint8_t>;

/// One bright pixel.
Image dot(std::int64_t row, std::int64_t column) {
  Image image(81);
  image[static_cast<std::size_t>(9 * row + column)] = 200;
  return image;
}

Image changed(const Augmentation& options, const Image& image, std::uint64_t step, const ImageShape& shape = square) {
  Draws draws({.seed = 1, .step = step, .stream = Stream::test}, 0);
  Image result(image.size());
  augment(options, shape, image, draws, result);
  return result;
}

TEST_CASE("without changes an image stays as it is", "[supervised][augmentation]") {
  const Image image = dot(2, 7);
  CHECK(changed({}, image, 0) == image);
  CHECK_FALSE(Augmentation{}.changes());
}

TEST_CASE("an image is mirrored as often as it is asked for", "[supervised][augmentation]") {
  const Image image = dot(2, 7), mirrored = dot(2, 1);
  CHECK(changed({.flip = 1}, image, 0) == mirrored);
  int count = 0;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    const Image result = changed({.flip = 0.25}, image, step);
    CHECK((result == image || result == mirrored));
    count += result == mirrored;
  }
  CHECK(count == Approx(250).margin(6.1 * std::sqrt(1000 * 0.25 * 0.75)));
}

TEST_CASE("cut-outs reach every place within the padding, and nothing beyond", "[supervised][augmentation]") {
  std::set<std::size_t> places;
  for (std::uint64_t step = 0; step < 500; ++step) {
    const Image result = changed({.crop_padding = 1}, dot(4, 4), step);
    places.insert(static_cast<std::size_t>(std::ranges::max_element(result) - result.begin()));
    CHECK(std::accumulate(result.begin(), result.end(), 0) == 200);
  }
  CHECK(places == std::set<std::size_t>{30, 31, 32, 39, 40, 41, 48, 49, 50});  // rows and columns 3 to 5
}

TEST_CASE("a turn keeps the middle and the distance from it", "[supervised][augmentation]") {
  for (std::uint64_t step = 0; step < 100; ++step) {
    CHECK(changed({.rotation = 90}, dot(4, 4), step)[40] == 200);
    const Image result = changed({.rotation = 15}, dot(4, 7), step);
    // The centre of brightness is 3 pixels from the middle, at most 15 degrees from where it was, up to the rounding of
    // bilinear weights.
    double sum = 0, row = 0, column = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      sum += result[i];
      row += result[i] * (static_cast<double>(i / 9) - 4);
      column += result[i] * (static_cast<double>(i % 9) - 4);
    }
    CHECK(std::hypot(row / sum, column / sum) == Approx(3).margin(0.15));
    CHECK(std::abs(std::atan2(row, column)) < 15.0 / 180 * M_PI + 0.05);
  }
}

TEST_CASE("an image is turned as often one way as the other", "[supervised][augmentation]") {
  constexpr int turns = 400;
  int down = 0;
  for (std::uint64_t step = 0; step < turns; ++step) {
    const Image result = changed({.rotation = 30}, dot(4, 7), step);
    double row = 0;
    for (std::size_t i = 0; i < result.size(); ++i) row += result[i] * static_cast<double>(static_cast<int>(i / 9) - 4);
    down += row > 0;
  }
  CHECK(down == Approx(turns / 2).margin(6.1 * std::sqrt(turns) / 2));
}

TEST_CASE("every colour is changed in the same way from its own pixels", "[supervised][augmentation]") {
  constexpr ImageShape colours{.channels = 3, .height = 9, .width = 9};
  Image image;
  for (const std::int64_t row : {2, 4, 6}) {
    const Image colour = dot(row, 7);
    image.insert(image.end(), colour.begin(), colour.end());
  }
  const Image mirrored = changed({.flip = 1}, image, 0, colours);
  for (std::size_t channel = 0; channel < 3; ++channel)
    CHECK(Image(mirrored.begin() + static_cast<std::ptrdiff_t>(81 * channel),
                mirrored.begin() + static_cast<std::ptrdiff_t>(81 * (channel + 1))) ==
          dot(static_cast<std::int64_t>(2 + 2 * channel), 1));
}

TEST_CASE("erasing covers 2 to 40 per cent of an image", "[supervised][augmentation]") {
  const ImageShape large{.channels = 1, .height = 40, .width = 40};
  const Image grey(1600, 100);
  for (std::uint64_t step = 0; step < 200; ++step) {
    const Image result = changed({.erasing = 1}, grey, step, large);
    const auto other = static_cast<double>(1600 - std::ranges::count(result, std::uint8_t{100}));
    CHECK(other / 1600 > 0.01);  // a pixel of noise may be 100 as well, and sides are rounded
    CHECK(other / 1600 < 0.44);
  }
}

TEST_CASE("images for training change with the key and with nothing else", "[supervised][augmentation]") {
  const auto set = std::make_shared<const ImageSet>(make_synthetic_digits(60, 0));
  const std::vector<std::int64_t> asked{0, 1};
  const auto pixels = [&](const Augmentation& options, std::uint64_t step) {
    ImageRows rows(set, {0, 1, 2}, {}, options);
    const auto inputs = rows.training_inputs(asked, {.seed = 1, .step = step, .stream = Stream::data});
    const auto row = inputs.dense.row(1);
    return std::vector<float>(row.begin(), row.end());
  };
  const Augmentation turned{.rotation = 15};
  // The same image twice is changed in two ways.
  ImageRows twice(set, {0, 0}, {}, turned);
  const auto both = twice.training_inputs(asked, {.seed = 1, .step = 1, .stream = Stream::data}).dense;
  CHECK_FALSE(std::ranges::equal(both.row(0), both.row(1)));
  CHECK(pixels(turned, 1) == pixels(turned, 1));
  CHECK(pixels(turned, 1) != pixels(turned, 2));
  CHECK(pixels({}, 1) == pixels({}, 2));
  ImageRows rows(set, {0, 1, 2}, {}, turned);
  const auto plain = rows.inputs(asked).dense.row(1);
  CHECK(std::vector<float>(plain.begin(), plain.end()) == pixels({}, 1));
}

}  // namespace
}  // namespace stein::supervised
