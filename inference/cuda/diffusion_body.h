// What one thread of the CUDA form of a stochastic-gradient MCMC step does: the same bits as samplers/diffusion_pass.h.
#pragma once

#include <stein/inference/cuda/coordinate_group.h>
#include <stein/inference/samplers/diffusion_operations.h>

#include <cmath>

namespace stein::inference::cuda {

/// What a step reads and writes; all of it lies on the device.
struct DiffusionRows {
  MatrixView<float> values;
  MatrixView<const float> gradients;
  MatrixView<float> states[most_states];
  const float* thermostats;  ///< [m], of sgnht_scalar
  NoiseKey noise;
  std::int64_t first_row;
};

/// Moves one group of coordinates. `Step` is one of diffusion_steps.inc for one float.
template <class Step>
struct DiffuseGroup {
  DiffusionRows rows;
  Step move;

  /// @returns whether its values are finite after it
  STEIN_HOST_DEVICE bool operator()(const GroupPlace& place) const {
    FourNumbers values = group_at(rows.values, place);
    const FourNumbers gradients = group_at(rows.gradients, place);
    FourNumbers states[most_states], normals;
    if constexpr (Step::noisy) normals = normals_at(rows.noise, rows.first_row + place.row, place.first);
    for (int k = 0; k < Step::states; ++k) states[k] = group_at(rows.states[k], place);
    float thermostat = 0;
    if constexpr (Step::adds_up_momentum) thermostat = rows.thermostats[place.row];
    bool finite = true;
    for (int j = 0; j < group_size; ++j) {  // of constant length: the numbers stay in registers
      Coordinate<float> c{.value = values.number[j], .gradient = gradients.number[j]};
      if constexpr (Step::noisy) c.normal = normals.number[j];
      for (int k = 0; k < Step::states; ++k) c.state[k] = states[k].number[j];
      if constexpr (Step::adds_up_momentum) c.thermostat = thermostat;
      move(c);
      const bool inside = j < place.count;  // chosen, not jumped over, so that the group is stored as a whole
      values.number[j] = inside ? c.value : 0;
      for (int k = 0; k < Step::states; ++k) states[k].number[j] = inside ? c.state[k] : 0;
      finite = finite && (!inside || std::isfinite(c.value));
    }
    group_at(rows.values, place) = values;
    if constexpr (Step::changes_states)
      for (int k = 0; k < Step::states; ++k) group_at(rows.states[k], place) = states[k];
    return finite;
  }
};

}  // namespace stein::inference::cuda
