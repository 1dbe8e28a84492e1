// Whether kernels have found only finite numbers.
#pragma once

#include <stein/inference/cuda/sampler_kernels.h>

namespace stein::inference::cuda {

/// The words of one step on the current GPU, which stay from step to step: one in memory of the GPU and one of the host
/// that kernels write without a copy. Every thread of the host has one of each for every GPU, so it has one FiniteFlag
/// at a time.
class FiniteFlag {
 public:
  /// Nothing found yet. Throws Error(io) where there is no memory.
  FiniteFlag();
  FiniteFlag(const FiniteFlag&) = delete;
  FiniteFlag& operator=(const FiniteFlag&) = delete;

  /// For kernels.
  const StepFlags& words() const { return words_; }
  /// Whether everything was finite, once all kernels of the stream have run. Throws Error(io) where one could not.
  bool finite(GpuStream stream) const;

 private:
  StepFlags words_;
};

}  // namespace stein::inference::cuda
