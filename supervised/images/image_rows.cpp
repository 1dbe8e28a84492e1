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

/// Which of `parts` equal runs of an image's pixels a pixel is in.
std::size_t part_of(std::size_t pixel, std::size_t pixels, std::size_t parts) {
  return pixel / (pixels / parts);
}

/// Of the pixels in each of `parts` equal runs.
PixelScale scale_of(const ImageSet& set, std::span<const std::int64_t> images, std::int64_t parts) {
  std::vector<Moments> moments(static_cast<std::size_t>(parts));
  for (const std::int64_t image : images) {
    const std::span<const std::uint8_t> pixels = set.image(image);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      moments[part_of(i, pixels.size(), moments.size())].add(pixels[i] / brightest);
  }
  PixelScale scale{.mean = {}, .deviation = {}};
  for (const Moments& each : moments) scale.mean.push_back(each.mean()), scale.deviation.push_back(each.deviation());
  return scale;
}

}  // namespace

PixelScale PixelScale::of_channels(const ImageSet& set, std::span<const std::int64_t> images) {
  return scale_of(set, images, set.shape.channels);
}

PixelScale PixelScale::of_places(const ImageSet& set, std::span<const std::int64_t> images) {
  return scale_of(set, images, set.shape.pixels());
}

ImageRows::ImageRows(std::shared_ptr<const ImageSet> set, std::vector<std::int64_t> images, const PixelScale& scale,
                     const Augmentation& augmentation, MinibatchScale minibatch_scale)
    : set_(std::move(set)), images_(std::move(images)), augmentation_(augmentation), minibatch_scale_(minibatch_scale) {
  const auto pixels = static_cast<std::size_t>(set_->shape.pixels()),
             channels = static_cast<std::size_t>(set_->shape.channels), parts = scale.mean.size();
  STEIN_CHECK((parts == 1 || parts == channels || parts == pixels) && scale.deviation.size() == parts,
              "expected a scale for 1, {} or {} parts of an image, got {} means and {} deviations", channels, pixels,
              parts, scale.deviation.size());
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::size_t part = part_of(i, pixels, parts);
    factors_.push_back(static_cast<float>(1 / (brightest * scale.deviation[part])));
    offsets_.push_back(static_cast<float>(-scale.mean[part] / scale.deviation[part]));
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

void ImageRows::change(std::span<float> row, std::span<const float> direction, double size) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const float range = factors_[i] * static_cast<float>(brightest), black = offsets_[i];
    const auto way = static_cast<float>((direction[i] > 0) - (direction[i] < 0));
    row[i] = std::clamp(row[i] + way * static_cast<float>(size) * range, black, black + range);
  }
}

inference::Inputs<float> ImageRows::training_inputs(std::span<const std::int64_t> rows, const NoiseKey& key) {
  inputs(rows);
  if (augmentation_.changes())
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Draws draws(key, static_cast<std::uint32_t>(i));
      augment(augmentation_, set_->shape, image(rows[i]), draws, changed_);
      write(changed_, asked_.row(static_cast<std::int64_t>(i)));
    }
  if (minibatch_scale_ == MinibatchScale::of_minibatch) standardise_columns(asked_.view().block(0, std::ssize(rows)));
  return first_rows(rows.size());
}

}  // namespace stein::supervised
