// Whether kernels have found only finite numbers.
#pragma once

#include <stein/inference/cuda/sampler_kernels.h>

namespace stein::inference::cuda {

/// A number of the host that kernels of every GPU write without a copy: page-locked memory, which stays from call to
/// call. Every thread of the host has one, so it has one FiniteFlag at a time.
class FiniteFlag {
 public:
  /// None found yet. Throws Error(io) where there is no page-locked memory.
  FiniteFlag();
  FiniteFlag(const FiniteFlag&) = delete;
  FiniteFlag& operator=(const FiniteFlag&) = delete;

  /// What kernels set to 1.
  int* data() const { return not_finite_; }
  /// The answer, once all kernels of the stream have run. Throws Error(io) where one could not.
  bool finite(GpuStream stream) const;

 private:
  int* not_finite_;
};

}  // namespace stein::inference::cuda
