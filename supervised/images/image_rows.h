// Images of a part as rows of numbers.
#pragma once

#include <stein/inference/storage/matrix.h>
#include <stein/supervised/images/augmentation.h>
#include <stein/supervised/images/image_set.h>
#include <stein/supervised/network/minibatch_scale.h>
#include <stein/training/labelled_rows.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stein::supervised {

/// What pixels become: (value/255 − mean)/deviation, with one mean and deviation for all of them, one for each channel,
/// or one for each place.
struct PixelScale {
  std::vector<double> mean{0}, deviation{1};  ///< [1], [channels] or [channels · height · width]

  /// Of all pixels in each channel of some images, as shares of 255. A deviation of 0 becomes 1.
  static PixelScale of_channels(const ImageSet& set, std::span<const std::int64_t> images);
  /// Of the pixels in each place. A deviation of 0 becomes 1.
  static PixelScale of_places(const ImageSet& set, std::span<const std::int64_t> images);
};

/// Pixels of each image [channels · height · width] on a scale, and its class; images for training may be changed anew
/// each time.
class ImageRows final : public training::LabelledRows {
 public:
  ImageRows(std::shared_ptr<const ImageSet> set, std::vector<std::int64_t> images, const PixelScale& scale,
            const Augmentation& augmentation, MinibatchScale minibatch_scale = MinibatchScale::of_set);

  std::int64_t count() const override { return std::ssize(images_); }
  std::int64_t label(std::int64_t row) const override {
    return set_->labels[static_cast<std::size_t>(images_[static_cast<std::size_t>(row)])];
  }
  inference::Inputs<float> inputs(std::span<const std::int64_t> rows) override;
  /// D: numbers of a row.
  std::int64_t width() const { return set_->shape.pixels(); }
  /// Moves every pixel of a row of inputs by `size`, a share of the way from black to white, up where its direction is
  /// positive and down where it is negative, no further than white and black.
  void change(std::span<float> row, std::span<const float> direction, double size) const;
  inference::Inputs<float> training_inputs(std::span<const std::int64_t> rows, const NoiseKey& key) override;

 private:
  std::span<const std::uint8_t> image(std::int64_t row) const {
    return set_->image(images_[static_cast<std::size_t>(row)]);
  }
  void write(std::span<const std::uint8_t> image, std::span<float> row) const;
  inference::Inputs<float> first_rows(std::size_t count);

  std::shared_ptr<const ImageSet> set_;
  std::vector<std::int64_t> images_;
  std::vector<float> factors_, offsets_;  ///< [pixels] a pixel of value v becomes factor · v + offset
  Augmentation augmentation_;
  MinibatchScale minibatch_scale_;
  inference::Matrix<float> asked_;
  std::vector<std::uint8_t> changed_;
};

}  // namespace stein::supervised
