// The kernel of Stein variational gradient descent between functions, not between weights.
#pragma once

#include <stein/inference/samplers/svgd_kernel.h>
#include <stein/inference/storage/matrix_view.h>

#include <vector>

namespace stein::inference {

/// k(f_j, f_i) as the weights of the direction (Wang, Ren, Zhu & Zhang 2019, "Function space particle optimization")
///   v_i = Σ_j [k(f_j, f_i) g_j + ∇_{f_j} k(f_j, f_i)] / Σ_j k(f_j, f_i)
/// with f_i what function i says at points that all of them look at. The division, in place of 1/M, keeps what g holds
/// in proportion to what stands beside v, a prior of the weights.
class FunctionKernel {
 public:
  /// @throws Error(usage) naming an option that is out of range, and for a linear kernel, under which functions attract
  ///         one another
  explicit FunctionKernel(const SvgdKernelOptions& options);

  /// Makes the weights of M functions. @param functions  [M, F]
  void look_at(MatrixView<const float> functions);

  /// Divided by the sums of the kernel; the positions that they speak of are the functions.
  const KernelWeights& weights() const { return weights_; }
  /// What f_j is multiplied with in the push on i, besides `weights().own` for its own.
  double push(std::int64_t i, std::int64_t j) const {
    const auto at = static_cast<std::size_t>(i * std::ssize(weights_.own) + j);
    return weights_.shift * weights_.gradient[at] + (weights_.position.empty() ? 0 : weights_.position[at]);
  }

 private:
  SvgdKernelOptions options_;
  std::vector<double> distances_;
  KernelWeights weights_;
};

}  // namespace stein::inference
