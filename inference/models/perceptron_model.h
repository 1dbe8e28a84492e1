// The likelihood of a perceptron, by the arithmetic and on the device that are asked for.
#pragma once

#include <stein/inference/arithmetic.h>
#include <stein/inference/model.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/storage/device.h>

#include <memory>

namespace stein::inference {

/// Throws Error(usage) for a network that makes no sense or does not fit the device, for another precision than
/// single on the host, and for reference arithmetic on another device than that or where Stein was built without
/// LibTorch.
std::unique_ptr<Model<float>> make_perceptron_model(const MlpSpec& spec, Arithmetic arithmetic, Device device);

}  // namespace stein::inference
