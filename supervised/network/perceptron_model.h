// The likelihood of a perceptron, by the arithmetic that a run asks for.
#pragma once

#include <stein/inference/arithmetic.h>
#include <stein/inference/model.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/storage/device.h>

#include <memory>
#include <string>

namespace stein::supervised {

/// Throws Error(usage) for a network that makes no sense or does not fit the device, for another precision than
/// single on the host, and for reference arithmetic on another device than that or where Stein was built without
/// LibTorch.
std::unique_ptr<inference::Model<float>> make_perceptron_model(const inference::MlpSpec& spec,
                                                               inference::Arithmetic arithmetic,
                                                               inference::Device device);

/// "mlp 13-50-1".
std::string network_name(const inference::MlpSpec& spec);

}  // namespace stein::supervised
