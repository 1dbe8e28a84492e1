// Images changed against a network: the fast gradient sign method.
#pragma once

#include <stein/inference/input_gradient.h>
#include <stein/supervised/images/image_rows.h>
#include <stein/training/sampled_classes.h>
#include <stein/training/weight_draws.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::supervised {

/// How often a network mistakes images that were changed against it (Goodfellow, Shlens & Szegedy 2015, as Deng et al.
/// 2019 use it): x′ = clip(x + ζ sign ∇x(−log P(ŷ | x)), 0, 1) with pixels in [0, 1], the size ζ of the change, and ŷ
/// the class that the network itself finds likeliest, so that no label is looked at.
class FastGradientSign {
 public:
  /// @param rows   images, outlives it
  /// @param model  outlives it
  /// @param sizes  ζ, each in [0, 1]
  /// @throws Error(usage) for a model that cannot be differentiated by its inputs
  FastGradientSign(ImageRows& rows, inference::Model<float>& model, std::vector<double> sizes);

  /// What averages over the draws say of images that were changed against these averages: one for each size.
  std::vector<training::SampledClasses> against_average(training::WeightDraws& draws);
  /// The error of one draw on images that were changed against that draw, averaged over draws: one for each size.
  std::vector<double> errors_against_each(training::WeightDraws& draws);

 private:
  using Weights = inference::ParticleRows<const float>;

  /// Calls take(first, inputs) for images a few at a time.
  template <class Take>
  void for_pieces(const Take& take);
  /// Writes probabilities [n, K] of all images.
  void classify(const Weights& weights, inference::Matrix<float>& probabilities);
  /// sums [n, D] ← sums + share_i ∇x log p(class_i | x_i), where a share is what `shares` [n] says.
  void add_gradients(const Weights& weights, std::span<const std::int64_t> classes, std::span<const float> shares);
  /// Adds what the weights say of the images that are changed along −`sums_` by each size.
  void add_changed(const Weights& weights, std::vector<training::SampledClasses>& to);
  std::vector<training::SampledClasses> no_samples() const;

  ImageRows& rows_;
  inference::Model<float>& model_;
  inference::InputGradient& gradient_;
  std::vector<double> sizes_;
  inference::Matrix<float> sums_;  ///< [n, D]
};

}  // namespace stein::supervised
