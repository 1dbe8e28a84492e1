// What one thread of the CUDA form of an optimizer's update does: the bits of reference::ascend.
#pragma once

#include <stein/inference/cuda/coordinate_group.h>
#include <stein/inference/samplers/optimizer_step.h>

#include <cmath>

namespace stein::inference::cuda {

/// Moves one group of coordinates from `value` along `direction`. `mean` and `square` are without data where the
/// optimizer keeps none. All of it lies on the device.
/// @returns whether its values are finite after it
template <OptimizerMethod method>
STEIN_HOST_DEVICE inline bool ascend_group(const MatrixView<float>& values, const MatrixView<float>& mean,
                                           const MatrixView<float>& square, const OptimizerStep& step,
                                           const GroupPlace& place, FourNumbers value, const FourNumbers& direction) {
  FourNumbers means{}, squares{};
  if (mean.data != nullptr) means = group_at(mean, place);
  if (square.data != nullptr) squares = group_at(square, place);
  bool finite = true;
  for (int j = 0; j < group_size; ++j) {  // of constant length: the numbers stay in registers
    update_coordinate(method, step, direction.number[j], value.number[j], means.number[j], squares.number[j]);
    const bool inside = j < place.count;  // chosen, not jumped over, so that the group is stored as a whole
    finite = finite && (!inside || std::isfinite(value.number[j]));
    for (FourNumbers* numbers : {&value, &means, &squares}) numbers->number[j] = inside ? numbers->number[j] : 0;
  }
  group_at(values, place) = value;
  if (mean.data != nullptr) group_at(mean, place) = means;
  if (square.data != nullptr) group_at(square, place) = squares;
  return finite;
}

/// The same along directions that lie on the device too: every row along its own.
template <OptimizerMethod method>
struct AscendGroup {
  MatrixView<float> values;
  MatrixView<const float> directions;
  MatrixView<float> mean, square;
  OptimizerStep step;

  STEIN_HOST_DEVICE bool operator()(const GroupPlace& place) const {
    return ascend_group<method>(values, mean, square, step, place, group_at(values, place),
                                group_at(directions, place));
  }
};

}  // namespace stein::inference::cuda
