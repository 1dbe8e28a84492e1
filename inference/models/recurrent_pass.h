// A recurrent network in SIMD: one pass forward, and one back.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/fused/recurrent_layer.h>
#include <stein/inference/layout.h>
#include <stein/inference/models/recurrent_dropout.h>
#include <stein/inference/models/recurrent_spec.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace stein::inference {

/// Where a network's weights begin in a row; −1: it has none.
struct RecurrentPlaces {
  /// Of one layer in one direction.
  struct Layer {
    std::int64_t input, recurrent, input_bias, recurrent_bias;

    template <class Number>
    fused::RecurrentWeights<Number> in(Number* row) const {
      return {row + input, row + recurrent, row + input_bias, recurrent_bias < 0 ? nullptr : row + recurrent_bias};
    }
  };

  RecurrentPlaces(const RecurrentSpec& spec, const Layout& layout);

  std::int64_t embedding, feature, feature_bias, output, output_bias;
  std::vector<Layer> layers;  ///< as `RecurrentLayer`s follow one another
};

/// One row of weights of a network at a time, and all that a pass forward and back keeps. Sequences are time-major:
/// [T, n, ·]. Products run on all threads; one call at a time.
class RecurrentPass {
 public:
  /// @param spec  outlives it
  RecurrentPass(const RecurrentSpec& spec, const Layout& layout);

  /// Takes a row of weights [P], which stays where it is, for all passes forward until the next pass back.
  void take_weights(const float* weights);

  /// From tokens to the states that outputs are computed of; writes the state that follows where that is asked for.
  /// @throws Error(usage) for a token beyond the vocabulary
  void forward(const Inputs<float>& inputs, const std::optional<DropoutDraw>& dropout);
  /// Logits [r, K] in the order of outputs: sequence by sequence. @param row  of the weights, for dropout
  void predict(const Inputs<float>& inputs, std::int64_t row, MatrixView<float> to);
  /// Σ w_i log p of the targets, behind `forward` of the same batch. Throws Error(usage) for targets that do not fit.
  double value(const Batch<float>& batch);
  /// The same, and ∇θ of `scale` times it.
  double value_and_gradient(const Batch<float>& batch, double scale, std::span<float> gradient);

 private:
  const float* output_weight() const { return weights_ + places_.output; }
  std::span<const float> output_bias() const;
  std::int64_t states() const { return spec_.directions() * spec_.hidden; }
  std::int64_t answers() const { return spec_.readout == Readout::every_token ? rows_ * tokens_ : rows_; }
  MatrixView<float> logit_view() { return {logits_.data(), answers(), spec_.outputs()}; }
  std::size_t number_of(std::int64_t l, std::int64_t d) const;
  fused::RecurrentLayer& layer(std::int64_t l, std::int64_t d) { return layers_[number_of(l, d)]; }
  template <class Number>
  fused::RecurrentWeights<Number> weights_of(Number* row, std::int64_t l, std::int64_t d) const {
    return places_.layers[number_of(l, d)].in(row);
  }

  void read_tokens(const Inputs<float>& inputs);
  void embed(const Inputs<float>& inputs);
  void run_layer(std::int64_t l, const Inputs<float>& inputs);

  /// The step of row b that is t from its end; steps behind the end stay where they are.
  std::int64_t mirrored(std::int64_t t, std::int64_t b) const;
  void reverse(const float* x, std::int64_t width, std::vector<float>& to) const;

  void read_state(std::int64_t l, std::span<const float> before);
  void write_state(std::span<float> after);

  /// Where the state that output i is computed of lies among all states; of the second half of a bidirectional one too.
  std::pair<std::int64_t, std::int64_t> state_places(std::int64_t i) const;
  void gather_outputs();

  void arrange_targets(const Batch<float>& batch);
  void make_logits();

  /// From the slopes of the logits, which take their place, to those of all weights.
  void backward(float* gradient);

  /// `slope_`, of the layer's states, becomes that of its inputs.
  void back_through_layer(std::int64_t l, float* gradient);

  void back_through_embedding(float* gradient);

  const RecurrentSpec& spec_;
  RecurrentPlaces places_;
  const float* weights_ = nullptr;
  std::int64_t rows_ = 0, tokens_ = 0;  ///< n, tokens of a row
  std::int64_t steps_ = 0, extra_ = 0;  ///< tokens and the step of an image that is the initial state; 1 of those
  bool has_image_ = false;
  std::vector<fused::RecurrentLayer> layers_;
  std::vector<std::int32_t> token_;                    ///< [T, n]
  std::vector<std::int64_t> lengths_;                  ///< [n]
  std::vector<float> features_;                        ///< [n, F]
  std::vector<std::vector<float>> inputs_, reversed_;  ///< of each layer, after dropout; and the last one's states
  RecurrentDropout dropout_;
  std::vector<float> outputs_, logits_, classes_, row_weights_, log_probability_;
  std::vector<float> slope_, slope_inputs_, slope_outputs_, slope_forward_, slope_backward_, slope_reversed_;
  fused::PackedMatrix feature_, output_;  ///< the latter of a pass back for its other products as well
};

}  // namespace stein::inference
