#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/fused/categorical_pass.h>
#include <stein/lm/captioning/caption_prediction.h>
#include <stein/lm/captioning/caption_vocabulary.h>

#include <algorithm>

namespace stein::lm {

using inference::MatrixView;

CaptionPrediction::CaptionPrediction(inference::Model<float>& model, const inference::RecurrentSpec& spec,
                                     MatrixView<const float> weights, MatrixView<const float> features,
                                     std::int64_t most_rows)
    : model_(model),
      features_(features),
      most_rows_(most_rows),
      hidden_(spec.hidden),
      state_(spec.state_size()),
      before_(static_cast<std::size_t>(weights.rows * most_rows * state_)),
      after_(before_.size()),
      average_(static_cast<std::size_t>(most_rows * vocabulary())),
      own_(weights.rows > 1 ? average_.size() : 0) {
  STEIN_CHECK(weights.rows >= 1 && most_rows >= 1, "captions need a row of weights and a row of their own, got {}, {}",
              weights.rows, most_rows);
  STEIN_CHECK(features.columns == spec.features, "the network reads {} features of an image, got {}", spec.features,
              features.columns);
  for (std::int64_t k = 0; k < weights.rows; ++k) networks_.push_back(model.predictor({weights.block(k, 1), k}));
  tokens_.reserve(static_cast<std::size_t>(most_rows));
}

void CaptionPrediction::begin(std::span<const std::int64_t> image_rows) {
  rows_ = std::ssize(image_rows);
  STEIN_CHECK(rows_ >= 1 && rows_ <= most_rows_, "expected 1 to {} captions, got {}", most_rows_, rows_);
  tokens_.assign(image_rows.size(), start_token);
  for (std::int64_t k = 0; k < draws(); ++k)
    std::fill_n(before_.begin() + static_cast<std::ptrdiff_t>(place_of_state(k)), rows_ * state_, 0.0F);
  inference::Inputs<float> inputs;
  if (features_.columns > 0) {
    images_.resize(static_cast<std::size_t>(rows_ * features_.columns));
    for (std::int64_t i = 0; i < rows_; ++i)
      std::ranges::copy(features_.row(image_rows[static_cast<std::size_t>(i)]),
                        images_.begin() + i * features_.columns);
    inputs.dense = {images_.data(), rows_, features_.columns};
  }
  predict(inputs);
}

void CaptionPrediction::read(std::span<const std::int64_t> parents, std::span<const std::int32_t> tokens) {
  const std::int64_t before = rows_;
  rows_ = std::ssize(parents);
  STEIN_CHECK(rows_ >= 1 && rows_ <= most_rows_ && tokens.size() == parents.size(),
              "expected 1 to {} captions and a token of each, got {} and {}", most_rows_, rows_, tokens.size());
  tokens_.assign(tokens.begin(), tokens.end());
  parallel_for(draws(), [&](std::int64_t k) {
    const float* const from = after_.data() + place_of_state(k);
    float* const to = before_.data() + place_of_state(k);
    for (std::int64_t block = 0; block < state_ / hidden_; ++block)
      for (std::int64_t i = 0; i < rows_; ++i)
        std::copy_n(from + (block * before + parents[static_cast<std::size_t>(i)]) * hidden_, hidden_,
                    to + (block * rows_ + i) * hidden_);
  });
  predict({});
}

void CaptionPrediction::predict(inference::Inputs<float> inputs) {
  inputs.tokens = {tokens_.data(), rows_, 1};
  const MatrixView<float> average{average_.data(), rows_, vocabulary()};
  const auto share = static_cast<float>(1 / static_cast<double>(draws()));
  for (std::int64_t k = 0; k < draws(); ++k) {
    inference::Predictor<float>& network = *networks_[static_cast<std::size_t>(k)];
    inputs.carried.before = {before_.data() + place_of_state(k), 1, rows_ * state_};
    inputs.carried.after = {after_.data() + place_of_state(k), 1, rows_ * state_};
    if (k == 0) {
      network.predict(inputs, average);
      inference::fused::to_probabilities(average, share);
    } else {
      const MatrixView<float> own{own_.data(), rows_, vocabulary()};
      network.predict(inputs, own);
      inference::fused::add_probabilities(own, share, average);
    }
  }
}

}  // namespace stein::lm
