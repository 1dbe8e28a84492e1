#include <stein/inference/fused/categorical_pass.h>
#include <stein/inference/fused/recurrent_cell.h>
#include <stein/inference/fused/recurrent_layer.h>

#include <algorithm>

namespace stein::inference::fused {
namespace {

void make_room(AlignedBuffer<float>& buffer, std::int64_t size) {
  if (static_cast<std::int64_t>(buffer.size()) < size) buffer = AlignedBuffer<float>(static_cast<std::size_t>(size));
}

void multiply_each(const float* a, const float* b, float* to, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) to[i] = a[i] * b[i];
}

}  // namespace

void RecurrentLayer::begin(std::int64_t steps, std::int64_t rows) {
  steps_ = steps, rows_ = rows;
  const std::int64_t state = rows * hidden_;
  make_room(gates_, steps * rows * gates());
  make_room(h_, (steps + 1) * state);
  std::fill_n(h_.data(), state, 0.0F);
  if (cell_ == Cell::lstm) {
    make_room(c_, (steps + 1) * state);
    std::fill_n(c_.data(), state, 0.0F);
  }
  if (cell_ == Cell::gru) make_room(reset_, steps * state);
}

void RecurrentLayer::pack(const RecurrentWeights<const float>& weights) {
  const std::int64_t width = gates();
  input_.pack(inputs_, width, {weights.input, 1, inputs_});
  if (cell_ == Cell::gru) {
    recurrent_.pack(hidden_, 2 * hidden_, {weights.recurrent, 1, hidden_});
    recurrent_state_.pack(hidden_, hidden_, {weights.recurrent + 2 * hidden_ * hidden_, 1, hidden_});
  } else {
    recurrent_.pack(hidden_, width, {weights.recurrent, 1, hidden_});
  }
}

void RecurrentLayer::forward(const RecurrentWeights<const float>& weights, const float* x, const float* kept) {
  const std::int64_t width = gates(), state = rows_ * hidden_;
  for (std::int64_t i = 0; i < steps_ * rows_; ++i) {
    float* const row = gates_.data() + i * width;
    std::copy_n(weights.input_bias, width, row);
    if (weights.recurrent_bias != nullptr)
      for (std::int64_t k = 0; k < width; ++k) row[k] += weights.recurrent_bias[k];
  }
  multiply(steps_ * rows_, {x, inputs_, 1}, input_, gates_.data(), width, ProductStart::add);
  masked_ = kept != nullptr;
  if (masked_) make_room(seen_, steps_ * state);
  for (std::int64_t t = 0; t < steps_; ++t) {
    if (masked_) multiply_each(h_.data() + t * state, kept, seen_.data() + t * state, state);
    step_forward(t);
  }
}

void RecurrentLayer::step_forward(std::int64_t t) {
  const CellStep step{rows_, hidden_};
  const std::int64_t state = rows_ * hidden_, width = gates();
  const float* const seen = seen_state(t);
  float* const gates = gates_.data() + t * rows_ * width;
  float* const h = h_.data() + (t + 1) * state;
  multiply(rows_, {seen, hidden_, 1}, recurrent_, gates, width, ProductStart::add);
  if (cell_ == Cell::lstm) return lstm_forward(step, gates, c_.data() + t * state, c_.data() + (t + 1) * state, h);
  if (cell_ == Cell::tanh) return tanh_forward(step, gates, h);
  float* const reset = reset_.data() + t * state;
  gru_gates_forward(step, gates, seen, reset);
  multiply(rows_, {reset, hidden_, 1}, recurrent_state_, gates + 2 * hidden_, width, ProductStart::add);
  gru_state_forward(step, gates, h_.data() + t * state, h);
}

void RecurrentLayer::backward(const RecurrentWeights<const float>& weights, const float* x, const float* kept,
                              float* slope_states, const RecurrentWeights<float>& slopes, float* slope_x) {
  const std::int64_t width = gates(), state = rows_ * hidden_;
  if (cell_ == Cell::gru) {
    recurrent_.pack(2 * hidden_, hidden_, {weights.recurrent, hidden_, 1});
    recurrent_state_.pack(hidden_, hidden_, {weights.recurrent + 2 * hidden_ * hidden_, hidden_, 1});
  } else {
    recurrent_.pack(width, hidden_, {weights.recurrent, hidden_, 1});
  }
  for (AlignedBuffer<float>* buffer : {&slope_c_, &slope_seen_, &slope_straight_}) make_room(*buffer, state);
  std::fill_n(slope_c_.data(), state, 0.0F);
  for (std::int64_t t = steps_ - 1; t >= 0; --t) step_backward(t, slope_states, kept);
  weight_slopes(x, slopes);
  if (slope_x == nullptr) return;
  input_.pack(width, inputs_, {weights.input, inputs_, 1});
  multiply(steps_ * rows_, {gates_.data(), width, 1}, input_, slope_x, inputs_, ProductStart::zero);
}

void RecurrentLayer::step_backward(std::int64_t t, float* slope_states, const float* kept) {
  const CellStep step{rows_, hidden_};
  const std::int64_t state = rows_ * hidden_, width = gates();
  float* const gates = gates_.data() + t * rows_ * width;
  float* const slope = slope_states + t * state;
  float* const before = t > 0 ? slope - state : nullptr;  // gradients end where the minibatch begins
  const bool is_gru = cell_ == Cell::gru;
  if (cell_ == Cell::lstm)
    lstm_backward(step, gates, c_.data() + t * state, c_.data() + (t + 1) * state, slope, slope_c_.data());
  if (cell_ == Cell::tanh) tanh_backward(step, gates, slope);
  if (is_gru) {
    // Slopes of r ∘ h lie in `slope_c_`, which a GRU has no other use for.
    gru_state_backward(step, gates, h_.data() + t * state, slope, slope_straight_.data());
    multiply(rows_, {gates + 2 * hidden_, width, 1}, recurrent_state_, slope_c_.data(), hidden_, ProductStart::zero);
    std::fill_n(slope_seen_.data(), state, 0.0F);
    gru_gates_backward(step, gates, seen_state(t), slope_c_.data(), slope_seen_.data());
  }
  if (before == nullptr) return;
  if (!masked_ && !is_gru) return multiply(rows_, {gates, width, 1}, recurrent_, before, hidden_, ProductStart::add);
  multiply(rows_, {gates, width, 1}, recurrent_, slope_seen_.data(), hidden_,
           is_gru ? ProductStart::add : ProductStart::zero);
  if (masked_) multiply_each(slope_seen_.data(), kept, slope_seen_.data(), state);
  for (std::int64_t i = 0; i < state; ++i) before[i] += slope_seen_.data()[i];
  if (is_gru)
    for (std::int64_t i = 0; i < state; ++i) before[i] += slope_straight_.data()[i];
}

void RecurrentLayer::weight_slopes(const float* x, const RecurrentWeights<float>& slopes) {
  const std::int64_t width = gates(), count = steps_ * rows_;
  input_.pack(count, inputs_, {x, inputs_, 1});
  multiply(width, {gates_.data(), 1, width}, input_, slopes.input, inputs_, ProductStart::zero);
  const std::int64_t plain = cell_ == Cell::gru ? 2 * hidden_ : width;  // gates that see the state as it is
  recurrent_.pack(count, hidden_, {seen_state(0), hidden_, 1});
  multiply(plain, {gates_.data(), 1, width}, recurrent_, slopes.recurrent, hidden_, ProductStart::zero);
  if (cell_ == Cell::gru) {
    recurrent_.pack(count, hidden_, {reset_.data(), hidden_, 1});
    multiply(hidden_, {gates_.data() + plain, 1, width}, recurrent_, slopes.recurrent + plain * hidden_, hidden_,
             ProductStart::zero);
  }
  sum_columns({gates_.data(), count, width}, {slopes.input_bias, static_cast<std::size_t>(width)});
  if (slopes.recurrent_bias != nullptr) std::copy_n(slopes.input_bias, width, slopes.recurrent_bias);
}

}  // namespace stein::inference::fused
