// What draws of the weights together say of the next word of many captions.
#pragma once

#include <stein/inference/model.h>
#include <stein/inference/models/recurrent_spec.h>
#include <stein/lm/captioning/next_words.h>
#include <stein/training/weight_draws.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stein::lm {

/// The next word under the average over rows of weights: Σ_s p(word | θ_s, image, words before)/S. Each has a state of
/// its own for every caption.
///
/// Memory is reserved once: nothing is allocated from word to word. All captions go through a network in one call. Of
/// the weights each network has a copy in the order of its products (Model::predictor).
class CaptionPrediction final : public NextWords {
 public:
  /// @param spec       of the model
  /// @param weights    [S, P], outlives the prediction
  /// @param features   [images, F], outlives the prediction; empty: a model of captions alone
  /// @param most_rows  captions that are ever asked for at once
  CaptionPrediction(inference::Model<float>& model, const inference::RecurrentSpec& spec,
                    inference::MatrixView<const float> weights, inference::MatrixView<const float> features,
                    std::int64_t most_rows);

  std::int64_t vocabulary() const override { return model_.output_count(); }
  std::int64_t most_rows() const override { return most_rows_; }
  void begin(std::span<const std::int64_t> image_rows) override;
  void read(std::span<const std::int64_t> parents, std::span<const std::int32_t> tokens) override;
  inference::MatrixView<const float> probabilities() const override { return {average_.data(), rows_, vocabulary()}; }

 private:
  /// Feeds `tokens_` to all networks.
  void predict(inference::Inputs<float> inputs);
  std::int64_t draws() const { return std::ssize(networks_); }
  std::size_t place_of_state(std::int64_t draw) const { return static_cast<std::size_t>(draw * most_rows_ * state_); }

  inference::Model<float>& model_;
  std::vector<std::unique_ptr<inference::Predictor<float>>> networks_;  ///< [S]
  inference::MatrixView<const float> features_;
  std::int64_t most_rows_, rows_ = 0;
  std::int64_t hidden_, state_;        ///< H, and numbers of one caption's state: a multiple of H
  std::vector<float> before_, after_;  ///< [S, most_rows · state]: of each network blocks [rows, H]
  std::vector<std::int32_t> tokens_;   ///< [rows]
  std::vector<float> images_;          ///< [rows, F] of captions that begin
  std::vector<float> average_, own_;   ///< [most_rows, V]; the latter of one network where there are several
};

}  // namespace stein::lm
