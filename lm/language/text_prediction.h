// What draws of the weights together say of the next token, one token after the other.
#pragma once

#include <stein/inference/storage/carried_state.h>
#include <stein/training/weight_draws.h>

#include <memory>
#include <span>
#include <vector>

namespace stein::lm {

/// Reads a text token by token and gives, after each, the probability of every token that may come next: under each
/// draw, and averaged over all. Every draw has a state of its own.
class TextPrediction {
 public:
  /// @param draws  outlive the prediction. All weights are copied, once, and once more in the order of the network's
  ///               products (Model::predictor).
  TextPrediction(inference::Model<float>& model, training::WeightDraws& draws);

  std::int64_t draws() const { return std::ssize(dropout_); }
  /// Forgets the text that was read.
  void reset();
  /// Reads a token.
  void read(std::int32_t token);
  /// [V] after the last token that was read.
  std::span<const double> average() const { return average_; }
  /// [V] under draw k.
  std::span<const double> probabilities(std::int64_t k) const;

 private:
  inference::Matrix<float> weights_;                                    ///< [draws, P]
  std::vector<std::unique_ptr<inference::Predictor<float>>> networks_;  ///< [draws]
  std::vector<std::optional<NoiseKey>> dropout_;
  std::vector<inference::CarriedState<float>> states_;
  std::vector<float> logits_;
  std::vector<double> average_, each_;  ///< [V], [draws, V]
  std::int64_t read_ = 0;               ///< tokens
};

}  // namespace stein::lm
