// What summaries and reports call a perceptron.
#pragma once

#include <stein/inference/models/mlp_spec.h>

#include <string>

namespace stein::supervised {

/// "mlp 13-50-1".
std::string network_name(const inference::MlpSpec& spec);

}  // namespace stein::supervised
