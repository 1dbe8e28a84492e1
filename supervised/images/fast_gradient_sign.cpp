#include <stein/core/error.h>
#include <stein/inference/fused/categorical_pass.h>
#include <stein/supervised/images/fast_gradient_sign.h>
#include <stein/training/row_classifier.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace stein::supervised {
namespace {

using inference::Matrix;

constexpr std::int64_t images_of_piece = 256;

std::vector<std::int64_t> likeliest(const Matrix<float>& probabilities) {
  std::vector<std::int64_t> classes;
  for (std::int64_t i = 0; i < probabilities.rows(); ++i) {
    const std::span<const float> row = probabilities.row(i);
    classes.push_back(std::ranges::max_element(row) - row.begin());
  }
  return classes;
}

inference::InputGradient& gradient_of(inference::Model<float>& model) {
  auto* const gradient = dynamic_cast<inference::InputGradient*>(&model);
  STEIN_CHECK(gradient != nullptr, "the network cannot be differentiated by its inputs");
  return *gradient;
}

}  // namespace

FastGradientSign::FastGradientSign(ImageRows& rows, inference::Model<float>& model, std::vector<double> sizes)
    : rows_(rows), model_(model), gradient_(gradient_of(model)), sizes_(std::move(sizes)) {
  for (const double size : sizes_)
    STEIN_CHECK(size >= 0 && size <= 1, "expected sizes of a change of pixels in [0, 1], got {}", size);
}

template <class Take>
void FastGradientSign::for_pieces(const Take& take) {
  std::vector<std::int64_t> piece;
  for (std::int64_t first = 0; first < rows_.count(); first += images_of_piece) {
    piece.resize(static_cast<std::size_t>(std::min(images_of_piece, rows_.count() - first)));
    std::iota(piece.begin(), piece.end(), first);
    take(first, rows_.inputs(piece).dense);
  }
}

void FastGradientSign::classify(const Weights& weights, Matrix<float>& probabilities) {
  for_pieces([&](std::int64_t first, inference::MatrixView<const float> images) {
    inference::Inputs<float> inputs;
    inputs.dense = images;
    model_.predict(weights, inputs, probabilities.view().block(first, images.rows));
  });
  inference::fused::to_probabilities(probabilities.view());
}

void FastGradientSign::add_gradients(const Weights& weights, std::span<const std::int64_t> classes,
                                     std::span<const float> shares) {
  Matrix<float> gradient(images_of_piece, sums_.columns());
  for_pieces([&](std::int64_t first, inference::MatrixView<const float> images) {
    const auto begin = static_cast<std::size_t>(first), count = static_cast<std::size_t>(images.rows);
    gradient_.input_gradient(weights, images, classes.subspan(begin, count), gradient.view().block(0, images.rows));
    for (std::int64_t i = 0; i < images.rows; ++i) {
      const std::span<float> sum = sums_.row(first + i);
      for (std::size_t j = 0; j < sum.size(); ++j)
        sum[j] += shares[begin + static_cast<std::size_t>(i)] * gradient.row(i)[j];
    }
  });
}

void FastGradientSign::add_changed(const Weights& weights, std::vector<training::SampledClasses>& to) {
  const std::int64_t classes = model_.output_count();
  Matrix<float> changed(images_of_piece, sums_.columns()), logits(rows_.count(), classes);
  for (std::size_t s = 0; s < sizes_.size(); ++s) {
    for_pieces([&](std::int64_t first, inference::MatrixView<const float> images) {
      for (std::int64_t i = 0; i < images.rows; ++i) {
        std::ranges::copy(images.row(i), changed.row(i).begin());
        rows_.change(changed.row(i), sums_.row(first + i), -sizes_[s]);
      }
      inference::Inputs<float> inputs;
      inputs.dense = std::as_const(changed).view().block(0, images.rows);
      model_.predict(weights, inputs, logits.view().block(first, images.rows));
    });
    to[s].add(std::as_const(logits).view());
  }
}

std::vector<training::SampledClasses> FastGradientSign::no_samples() const {
  return std::vector<training::SampledClasses>(sizes_.size(),
                                               {training::RowClassifier(rows_).labels(), model_.output_count()});
}

std::vector<training::SampledClasses> FastGradientSign::against_average(training::WeightDraws& draws) {
  Matrix<float> mean(rows_.count(), model_.output_count()), alone = mean;
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    classify(draws.get(k).weights, alone);
    for (std::int64_t i = 0; i < mean.rows(); ++i)
      for (std::size_t c = 0; c < mean.row(i).size(); ++c)
        mean.row(i)[c] += alone.row(i)[c] / static_cast<float>(draws.count());
  }
  const std::vector<std::int64_t> classes = likeliest(mean);
  // ∇ log P̄ = Σ_k p_k ∇ log p_k / Σ_k p_k of the class that is attacked; the sum has no part in the sign.
  sums_ = Matrix<float>(rows_.count(), rows_.width());
  std::vector<float> shares(classes.size());
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    const Weights weights = draws.get(k).weights;
    classify(weights, alone);
    for (std::size_t i = 0; i < shares.size(); ++i)
      shares[i] = alone.view()(static_cast<std::int64_t>(i), classes[i]) /
                  mean.view()(static_cast<std::int64_t>(i), classes[i]);
    add_gradients(weights, classes, shares);
  }
  std::vector<training::SampledClasses> found = no_samples();
  for (std::int64_t k = 0; k < draws.count(); ++k) add_changed(draws.get(k).weights, found);
  return found;
}

std::vector<double> FastGradientSign::errors_against_each(training::WeightDraws& draws) {
  std::vector<double> errors(sizes_.size());
  Matrix<float> alone(rows_.count(), model_.output_count());
  const std::vector<float> shares(static_cast<std::size_t>(rows_.count()), 1);
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    const Weights weights = draws.get(k).weights;
    classify(weights, alone);
    sums_ = Matrix<float>(rows_.count(), rows_.width());
    add_gradients(weights, likeliest(alone), shares);
    std::vector<training::SampledClasses> found = no_samples();
    add_changed(weights, found);
    for (std::size_t s = 0; s < errors.size(); ++s)
      errors[s] += found[s].averaged().error / static_cast<double>(draws.count());
  }
  return errors;
}

}  // namespace stein::supervised
