#include <stein/core/error.h>
#include <stein/supervised/images/image_rows.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stein::supervised {
namespace {

constexpr double brightest = 255;

/// Mean and sd of shares of 255, from their sums.
class Moments {
 public:
  void add(double share) { sum_ += share, squares_ += share * share, ++count_; }
  double mean() const { return sum_ / count_; }
  double deviation() const {
    const double variance = squares_ / count_ - mean() * mean();
    constexpr double rounding = 1e-12;
    return variance > rounding ? std::sqrt(variance) : 1;
  }

 private:
  double sum_ = 0, squares_ = 0, count_ = 0;
};

}  // namespace

PixelScale PixelScale::of_all(const ImageSet& set, std::span<const std::int64_t> images) {
  Moments moments;
  for (const std::int64_t image : images)
    for (const std::uint8_t pixel : set.image(image)) moments.add(pixel / brightest);
  return {.mean = {moments.mean()}, .deviation = {moments.deviation()}};
}

PixelScale PixelScale::of_places(const ImageSet& set, std::span<const std::int64_t> images) {
  std::vector<Moments> moments(static_cast<std::size_t>(set.shape.pixels()));
  for (const std::int64_t image : images) {
    const std::span<const std::uint8_t> pixels = set.image(image);
    for (std::size_t i = 0; i < pixels.size(); ++i) moments[i].add(pixels[i] / brightest);
  }
  PixelScale scale{.mean = {}, .deviation = {}};
  for (const Moments& each : moments) scale.mean.push_back(each.mean()), scale.deviation.push_back(each.deviation());
  return scale;
}

ImageRows::ImageRows(std::shared_ptr<const ImageSet> set, std::vector<std::int64_t> images, const PixelScale& scale,
                     const Augmentation& augmentation)
    : set_(std::move(set)), images_(std::move(images)), augmentation_(augmentation) {
  const auto pixels = static_cast<std::size_t>(set_->shape.pixels());
  for (const std::vector<double>* numbers : {&scale.mean, &scale.deviation})
    STEIN_CHECK(numbers->size() == 1 || numbers->size() == pixels, "expected a scale for 1 or {} pixels, got {}",
                pixels, numbers->size());
  for (std::size_t i = 0; i < pixels; ++i) {
    const double mean = scale.mean[scale.mean.size() == 1 ? 0 : i],
                 deviation = scale.deviation[scale.deviation.size() == 1 ? 0 : i];
    factors_.push_back(static_cast<float>(1 / (brightest * deviation)));
    offsets_.push_back(static_cast<float>(-mean / deviation));
  }
  changed_.resize(pixels);
}

void ImageRows::write(std::span<const std::uint8_t> image, std::span<float> row) const {
  for (std::size_t i = 0; i < image.size(); ++i) row[i] = factors_[i] * static_cast<float>(image[i]) + offsets_[i];
}

inference::Inputs<float> ImageRows::first_rows(std::size_t count) {
  inference::Inputs<float> inputs;
  inputs.dense = std::as_const(asked_).view().block(0, static_cast<std::int64_t>(count));
  return inputs;
}

inference::Inputs<float> ImageRows::inputs(std::span<const std::int64_t> rows) {
  if (asked_.rows() < std::ssize(rows)) asked_ = inference::Matrix<float>(std::ssize(rows), set_->shape.pixels());
  for (std::size_t i = 0; i < rows.size(); ++i) write(image(rows[i]), asked_.row(static_cast<std::int64_t>(i)));
  return first_rows(rows.size());
}

inference::Inputs<float> ImageRows::training_inputs(std::span<const std::int64_t> rows, const NoiseKey& key) {
  if (!augmentation_.changes()) return inputs(rows);
  if (asked_.rows() < std::ssize(rows)) asked_ = inference::Matrix<float>(std::ssize(rows), set_->shape.pixels());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Draws draws(key, static_cast<std::uint32_t>(i));
    augment(augmentation_, set_->shape, image(rows[i]), draws, changed_);
    write(changed_, asked_.row(static_cast<std::int64_t>(i)));
  }
  return first_rows(rows.size());
}

}  // namespace stein::supervised
