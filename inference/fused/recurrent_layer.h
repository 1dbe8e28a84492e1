// One layer of a recurrent network in one direction, on all threads: the fused form.
#pragma once

#include <stein/inference/fused/matrix_product.h>
#include <stein/inference/models/recurrent_spec.h>
#include <stein/inference/storage/aligned_buffer.h>

#include <cstdint>

namespace stein::inference::fused {

/// Numbers of a layer's weights, or where their slopes go, as `recurrent_layout` has them.
template <class Number>
struct RecurrentWeights {
  Number* input = nullptr;           ///< [G H, I]
  Number* recurrent = nullptr;       ///< [G H, H]
  Number* input_bias = nullptr;      ///< [G H]
  Number* recurrent_bias = nullptr;  ///< [G H], null in a GRU
};

/// Runs a layer over all steps of a minibatch and back. The inputs of all steps go through one product, the states
/// through one a step; weights are packed once for all steps. Sequences are time-major: [T, n, ·].
///
/// Working memory belongs to the layer, grows to the largest minibatch and is used again.
class RecurrentLayer {
 public:
  /// @param precision  of products
  RecurrentLayer(Cell cell, std::int64_t inputs, std::int64_t hidden, Precision precision = Precision::single)
      : cell_(cell),
        inputs_(inputs),
        hidden_(hidden),
        input_(precision),
        recurrent_(precision),
        recurrent_state_(precision) {}

  /// Starts a minibatch of `steps` steps of `rows` rows, from zero states.
  void begin(std::int64_t steps, std::int64_t rows);
  /// [n, H] h and c before the first step, to be filled where they are not zero; c is null unless the cell has one.
  float* first_h() { return h_.data(); }
  float* first_c() { return cell_ == Cell::lstm ? c_.data() : nullptr; }

  /// Takes weights for all passes forward until the next pass back.
  void pack(const RecurrentWeights<const float>& weights);
  /// @param weights  those that were packed
  /// @param x     [T, n, I]
  /// @param kept  [n, H] multiplies the state before every step, or null
  void forward(const RecurrentWeights<const float>& weights, const float* x, const float* kept);
  /// [T, n, H] h behind every step; the last [n, H] of it, and c, are what the next minibatch starts from.
  const float* states() const { return h_.data() + rows_ * hidden_; }
  const float* last_h() const { return h_.data() + steps_ * rows_ * hidden_; }
  const float* last_c() const { return c_.data() + steps_ * rows_ * hidden_; }

  /// Back through the minibatch that `forward` went through.
  /// @param slope_states  [T, n, H] of the states, from what is behind them; overwritten
  /// @param slopes        of the weights, overwritten
  /// @param slope_x       [T, n, I] overwritten, or null
  void backward(const RecurrentWeights<const float>& weights, const float* x, const float* kept, float* slope_states,
                const RecurrentWeights<float>& slopes, float* slope_x);

 private:
  std::int64_t gates() const { return gate_count(cell_) * hidden_; }
  /// What the products of step t see of the state before it: the state itself, or under dropout a part of it.
  const float* seen_state(std::int64_t t) const { return (masked_ ? seen_.data() : h_.data()) + t * rows_ * hidden_; }
  void step_forward(std::int64_t t);
  void step_backward(std::int64_t t, float* slope_states, const float* kept);
  void weight_slopes(const float* x, const RecurrentWeights<float>& slopes);

  Cell cell_;
  std::int64_t inputs_, hidden_, steps_ = 0, rows_ = 0;
  bool masked_ = false;
  AlignedBuffer<float> gates_;                                  ///< [T, n, G H]
  AlignedBuffer<float> h_, c_;                                  ///< [T + 1, n, H]
  AlignedBuffer<float> seen_;                                   ///< [T, n, H] h before each step under dropout
  AlignedBuffer<float> reset_;                                  ///< [T, n, H] r ∘ h of a GRU
  AlignedBuffer<float> slope_c_, slope_seen_, slope_straight_;  ///< [n, H]
  PackedMatrix input_, recurrent_, recurrent_state_;            ///< the last of a GRU's third gate
};

}  // namespace stein::inference::fused
