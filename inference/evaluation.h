// What an evaluation of a log density is asked for.
#pragma once

#include <stein/inference/late_values.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// Where results go, a row for each row that is evaluated. What is empty is not asked for, and not computed but where
/// the rest needs it (sharpening moves the weights along a gradient; the function of a FunctionTarget gives both): a
/// value without a gradient costs a forward pass.
template <class Scalar>
struct Evaluation {
  MatrixView<Scalar> gradient{};  ///< [m, ·], padding included
  std::span<double> value{};      ///< [m]
  /// Values go there instead, to rows late_row … late_row + m − 1, as a device makes them: of a model that answers late
  /// (Model::answers_late) may be asked so. Null: not asked for.
  LateValues* late = nullptr;
  std::int64_t late_row = 0;

  bool wants_gradient() const { return gradient.data != nullptr; }
  bool wants_value() const { return !value.empty(); }
  /// The same for rows first … first + count − 1.
  Evaluation block(std::int64_t first, std::int64_t count) const {
    Evaluation part{.late = late, .late_row = late_row + first};
    if (wants_gradient()) part.gradient = gradient.block(first, count);
    if (wants_value()) part.value = value.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    return part;
  }
};

}  // namespace stein::inference
