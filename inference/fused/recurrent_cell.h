// One step of recurrent cells, forward and back, number by number: what stands between the products of matrices.
#pragma once

#include <cstdint>

namespace stein::inference::fused {

/// Rows of one step. Gates of a row lie one after the other, H numbers each, in the order of `Cell`.
struct CellStep {
  std::int64_t rows, hidden;
};

/// LSTM: gates [n, 4H] before their functions become i, f, c̃, o; c = f ∘ c_before + i ∘ c̃; h = o ∘ tanh c. All in place
/// or [n, H].
void lstm_forward(const CellStep& step, float* gates, const float* c_before, float* c, float* h);
/// Back through the same step.
/// @param gates  what `lstm_forward` left; becomes the slope of what went into the gates
/// @param slope_h  of h
/// @param slope_c  of c from the steps behind; becomes that of c_before
void lstm_backward(const CellStep& step, float* gates, const float* c_before, const float* c, const float* slope_h,
                   float* slope_c);

/// GRU, first half (Gan et al. 2017, eq. 9 and 10): gates [n, 3H], of which reset and update become σ; kept = r ∘
/// before.
void gru_gates_forward(const CellStep& step, float* gates, const float* before, float* kept);
/// Second half (eq. 11 and 12): the third gate becomes h̃ = tanh; h = (1 − z) ∘ h_before + z ∘ h̃.
void gru_state_forward(const CellStep& step, float* gates, const float* h_before, float* h);
/// Back through the second half: gates z and h̃ become the slopes of what went into them; `slope_before` is what goes
/// straight to h_before.
void gru_state_backward(const CellStep& step, float* gates, const float* h_before, const float* slope_h,
                        float* slope_before);
/// Back through the first half: the gate r becomes the slope of what went into it; r ∘ slope_kept is added to
/// `slope_before`, which is of `before`.
void gru_gates_backward(const CellStep& step, float* gates, const float* before, const float* slope_kept,
                        float* slope_before);

/// tanh: h = tanh of the gates [n, H], in both.
void tanh_forward(const CellStep& step, float* gates, float* h);
/// gates becomes the slope of what went into them.
void tanh_backward(const CellStep& step, float* gates, const float* slope_h);

}  // namespace stein::inference::fused
