// What `stein bench sampler` times: one update of a long vector of parameters, as our fused passes make it and as
// LibTorch's tensor operations do.
#pragma once

#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stein::bench {

/// A vector of parameters with a gradient that stays, and whatever the update keeps for every one of them: with Bayes
/// by Backprop the gradient is that of the weights, and the update a draw of them, the way back to μ and ρ, and SGD.
class ParameterUpdate {
 public:
  virtual ~ParameterUpdate() = default;
  virtual void step() = 0;
  virtual inference::MatrixView<const float> values() const = 0;  ///< [1, Q]: what it moves
};

/// Which normals an update draws: its own, or none or the same ones, so that ours and the reference move alike.
enum class Noise { comparable, own };

/// One update in both forms, from the same values, gradients and state.
struct UpdateCase {
  std::string name;
  double bytes;  ///< a parameter: what the update has to read and write
  std::function<std::unique_ptr<ParameterUpdate>(std::int64_t size, Noise noise)> fused, tensors;
};

/// Momentum SGD, RMSprop, Adam; SGLD, pSGLD, SGHMC, SGNHT, Santa; Bayes by Backprop: all that a step of the sampler
/// does but asking for the gradient, its look for gradients that are not finite included.
std::vector<UpdateCase> update_cases();

}  // namespace stein::bench
