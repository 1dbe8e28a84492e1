#include <stein/core/simd.h>
#include <stein/inference/fused/recurrent_cell.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/recurrent_cell.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/inference/fused/exponential-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using exponential::Tag;
using exponential::Vector;
using fused::CellStep;

constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(Tag()));

HWY_INLINE Vector one() {
  return hn::Set(Tag(), 1.0f);
}

/// 1/(1 + e⁻ˣ).
HWY_INLINE Vector sigmoid(Vector x) {
  const Vector e = exponential::decay(x), inverse = hn::Div(one(), hn::Add(one(), e));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(Tag())), hn::Mul(e, inverse), inverse);
}

/// (1 − e^(−2|x|))/(1 + e^(−2|x|)) with the sign of x: right to 1e-7.
HWY_INLINE Vector tanh(Vector x) {
  const Vector e = exponential::decay(hn::Add(x, x));
  return hn::CopySign(hn::Div(hn::Sub(one(), e), hn::Add(one(), e)), x);
}

/// s (1 − s), the slope of σ by its value.
HWY_INLINE Vector sigmoid_slope(Vector s) {
  return hn::Mul(s, hn::Sub(one(), s));
}
/// 1 − t², the slope of tanh by its value.
HWY_INLINE Vector tanh_slope(Vector t) {
  return hn::NegMulAdd(t, t, one());
}

/// Some numbers of a row: all lanes, or as many as are left.
struct Part {
  std::int64_t left;

  HWY_INLINE Vector load(const float* from) const {
    return left >= lanes ? hn::LoadU(Tag(), from)
                         : hn::MaskedLoad(hn::FirstN(Tag(), static_cast<std::size_t>(left)), Tag(), from);
  }
  HWY_INLINE void store(Vector numbers, float* to) const {
    if (left >= lanes)
      hn::StoreU(numbers, Tag(), to);
    else
      hn::BlendedStore(numbers, hn::FirstN(Tag(), static_cast<std::size_t>(left)), Tag(), to);
  }
};

/// Calls visit(part, row, first number of the part) for all rows.
template <class Visit>
HWY_INLINE void for_each_part(const CellStep& step, const Visit& visit) {
  for (std::int64_t row = 0; row < step.rows; ++row)
    for (std::int64_t k = 0; k < step.hidden; k += lanes) visit(Part{step.hidden - k}, row, k);
}

void lstm_forward(const CellStep& step, float* gates, const float* c_before, float* c, float* h) {
  const std::int64_t size = step.hidden;
  for_each_part(step, [&](const Part& part, std::int64_t row, std::int64_t k) {
    float* const gate = gates + row * 4 * size + k;
    const std::int64_t place = row * size + k;
    const Vector in = sigmoid(part.load(gate)), forget = sigmoid(part.load(gate + size));
    const Vector cell = tanh(part.load(gate + 2 * size)), out = sigmoid(part.load(gate + 3 * size));
    const Vector now = hn::MulAdd(forget, part.load(c_before + place), hn::Mul(in, cell));
    part.store(in, gate), part.store(forget, gate + size);
    part.store(cell, gate + 2 * size), part.store(out, gate + 3 * size);
    part.store(now, c + place);
    part.store(hn::Mul(out, tanh(now)), h + place);
  });
}

void lstm_backward(const CellStep& step, float* gates, const float* c_before, const float* c, const float* slope_h,
                   float* slope_c) {
  const std::int64_t size = step.hidden;
  for_each_part(step, [&](const Part& part, std::int64_t row, std::int64_t k) {
    float* const gate = gates + row * 4 * size + k;
    const std::int64_t place = row * size + k;
    const Vector in = part.load(gate), forget = part.load(gate + size), cell = part.load(gate + 2 * size),
                 out = part.load(gate + 3 * size), squashed = tanh(part.load(c + place)),
                 behind = part.load(slope_h + place);
    const Vector of_c = hn::MulAdd(hn::Mul(behind, out), tanh_slope(squashed), part.load(slope_c + place));
    part.store(hn::Mul(hn::Mul(of_c, cell), sigmoid_slope(in)), gate);
    part.store(hn::Mul(hn::Mul(of_c, part.load(c_before + place)), sigmoid_slope(forget)), gate + size);
    part.store(hn::Mul(hn::Mul(of_c, in), tanh_slope(cell)), gate + 2 * size);
    part.store(hn::Mul(hn::Mul(behind, squashed), sigmoid_slope(out)), gate + 3 * size);
    part.store(hn::Mul(of_c, forget), slope_c + place);
  });
}

void gru_gates_forward(const CellStep& step, float* gates, const float* before, float* kept) {
  const std::int64_t size = step.hidden;
  for_each_part(step, [&](const Part& part, std::int64_t row, std::int64_t k) {
    float* const gate = gates + row * 3 * size + k;
    const std::int64_t place = row * size + k;
    const Vector reset = sigmoid(part.load(gate));
    part.store(reset, gate);
    part.store(sigmoid(part.load(gate + size)), gate + size);
    part.store(hn::Mul(reset, part.load(before + place)), kept + place);
  });
}

void gru_state_forward(const CellStep& step, float* gates, const float* h_before, float* h) {
  const std::int64_t size = step.hidden;
  for_each_part(step, [&](const Part& part, std::int64_t row, std::int64_t k) {
    float* const gate = gates + row * 3 * size + k;
    const std::int64_t place = row * size + k;
    const Vector update = part.load(gate + size), state = tanh(part.load(gate + 2 * size)),
                 before = part.load(h_before + place);
    part.store(state, gate + 2 * size);
    part.store(hn::MulAdd(update, hn::Sub(state, before), before), h + place);
  });
}

void gru_state_backward(const CellStep& step, float* gates, const float* h_before, const float* slope_h,
                        float* slope_before) {
  const std::int64_t size = step.hidden;
  for_each_part(step, [&](const Part& part, std::int64_t row, std::int64_t k) {
    float* const gate = gates + row * 3 * size + k;
    const std::int64_t place = row * size + k;
    const Vector update = part.load(gate + size), state = part.load(gate + 2 * size),
                 behind = part.load(slope_h + place);
    part.store(hn::Mul(hn::Mul(behind, hn::Sub(state, part.load(h_before + place))), sigmoid_slope(update)),
               gate + size);
    part.store(hn::Mul(hn::Mul(behind, update), tanh_slope(state)), gate + 2 * size);
    part.store(hn::Mul(behind, hn::Sub(one(), update)), slope_before + place);
  });
}

void gru_gates_backward(const CellStep& step, float* gates, const float* before, const float* slope_kept,
                        float* slope_before) {
  const std::int64_t size = step.hidden;
  for_each_part(step, [&](const Part& part, std::int64_t row, std::int64_t k) {
    float* const gate = gates + row * 3 * size + k;
    const std::int64_t place = row * size + k;
    const Vector reset = part.load(gate), behind = part.load(slope_kept + place);
    part.store(hn::Mul(hn::Mul(behind, part.load(before + place)), sigmoid_slope(reset)), gate);
    part.store(hn::MulAdd(behind, reset, part.load(slope_before + place)), slope_before + place);
  });
}

void tanh_forward(const CellStep& step, float* gates, float* h) {
  for_each_part(step, [&](const Part& part, std::int64_t row, std::int64_t k) {
    const std::int64_t place = row * step.hidden + k;
    const Vector state = tanh(part.load(gates + place));
    part.store(state, gates + place), part.store(state, h + place);
  });
}

void tanh_backward(const CellStep& step, float* gates, const float* slope_h) {
  for_each_part(step, [&](const Part& part, std::int64_t row, std::int64_t k) {
    const std::int64_t place = row * step.hidden + k;
    part.store(hn::Mul(part.load(slope_h + place), tanh_slope(part.load(gates + place))), gates + place);
  });
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(lstm_forward);
HWY_EXPORT(lstm_backward);
HWY_EXPORT(gru_gates_forward);
HWY_EXPORT(gru_state_forward);
HWY_EXPORT(gru_state_backward);
HWY_EXPORT(gru_gates_backward);
HWY_EXPORT(tanh_forward);
HWY_EXPORT(tanh_backward);

void fused::lstm_forward(const CellStep& step, float* gates, const float* c_before, float* c, float* h) {
  HWY_DYNAMIC_DISPATCH(lstm_forward)(step, gates, c_before, c, h);
}
void fused::lstm_backward(const CellStep& step, float* gates, const float* c_before, const float* c,
                          const float* slope_h, float* slope_c) {
  HWY_DYNAMIC_DISPATCH(lstm_backward)(step, gates, c_before, c, slope_h, slope_c);
}
void fused::gru_gates_forward(const CellStep& step, float* gates, const float* before, float* kept) {
  HWY_DYNAMIC_DISPATCH(gru_gates_forward)(step, gates, before, kept);
}
void fused::gru_state_forward(const CellStep& step, float* gates, const float* h_before, float* h) {
  HWY_DYNAMIC_DISPATCH(gru_state_forward)(step, gates, h_before, h);
}
void fused::gru_state_backward(const CellStep& step, float* gates, const float* h_before, const float* slope_h,
                               float* slope_before) {
  HWY_DYNAMIC_DISPATCH(gru_state_backward)(step, gates, h_before, slope_h, slope_before);
}
void fused::gru_gates_backward(const CellStep& step, float* gates, const float* before, const float* slope_kept,
                               float* slope_before) {
  HWY_DYNAMIC_DISPATCH(gru_gates_backward)(step, gates, before, slope_kept, slope_before);
}
void fused::tanh_forward(const CellStep& step, float* gates, float* h) {
  HWY_DYNAMIC_DISPATCH(tanh_forward)(step, gates, h);
}
void fused::tanh_backward(const CellStep& step, float* gates, const float* slope_h) {
  HWY_DYNAMIC_DISPATCH(tanh_backward)(step, gates, slope_h);
}

}  // namespace stein::inference
#endif
