// The activations of hidden layers and the way back through them, for the kernels of perceptrons.
#pragma once

#include <stein/core/host_device.h>
#include <stein/inference/models/mlp_spec.h>

#include <cmath>

namespace stein::inference::cuda {

STEIN_HOST_DEVICE inline float activated(Activation activation, float unit) {
  return activation == Activation::relu ? (unit > 0 ? unit : 0) : std::tanh(unit);
}

/// The slope of what a unit was made from. @param unit  after the activation
STEIN_HOST_DEVICE inline float pulled_back(Activation activation, float slope, float unit) {
  return activation == Activation::relu ? (unit > 0 ? slope : 0) : slope * std::fma(-unit, unit, 1.0F);
}

}  // namespace stein::inference::cuda
