// What draws of the weights together say of the next word of many captions.
#pragma once

#include <stein/lm/captioning/next_words.h>
#include <stein/training/weight_draws.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::lm {

/// The next word under the average over all draws: Σ_s p(word | θ_s, image, words before)/S. Every draw has a state of
/// its own for every row.
///
/// Memory is reserved once: nothing is allocated from word to word. All rows of a draw go through the network in one
/// call.
class CaptionPrediction final : public NextWords {
 public:
  /// @param draws      all of their weights are copied, once; their dropout is not drawn
  /// @param features   [images, F], outlives the prediction; empty: a model of captions alone
  /// @param most_rows  that are ever asked for at once
  CaptionPrediction(inference::Model<float>& model, training::WeightDraws& draws,
                    inference::MatrixView<const float> features, std::int64_t most_rows);
  /// The same with draw k alone.
  CaptionPrediction(inference::Model<float>& model, training::WeightDraws& draws, std::int64_t k,
                    inference::MatrixView<const float> features, std::int64_t most_rows);

  std::int64_t draws() const { return weights_.rows(); }
  std::int64_t vocabulary() const override { return model_.output_count(); }
  void begin(std::span<const std::int64_t> image_rows) override;
  void read(std::span<const std::int64_t> parents, std::span<const std::int32_t> tokens) override;
  inference::MatrixView<const float> probabilities() const override {
    return {average_.data(), rows_, vocabulary()};
  }

 private:
  CaptionPrediction(inference::Model<float>& model, inference::Matrix<float> weights,
                    inference::MatrixView<const float> features, std::int64_t most_rows);
  /// Reads `tokens_` into all draws.
  void predict(const inference::Inputs<float>& inputs);
  /// Numbers of one row's state.
  std::int64_t row_state() const;

  inference::Model<float>& model_;
  inference::Matrix<float> weights_;  ///< [draws, P]
  inference::MatrixView<const float> features_;
  std::int64_t most_rows_, rows_ = 0;
  inference::Matrix<float> before_, after_;  ///< [draws, most_rows · C]: what a draw reads from, and writes
  std::int64_t vector_ = 0;                  ///< numbers of one row in one block of the state: H
  std::vector<std::int32_t> tokens_;         ///< [rows]
  std::vector<float> images_;                ///< [rows, F] of the captions that begin
  std::vector<float> average_, own_;         ///< [most_rows, V], the latter of one draw where there are several
};

}  // namespace stein::lm
