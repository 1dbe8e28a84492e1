// Whether kernels have found only finite numbers.
#pragma once

#include <stein/inference/cuda/sampler_kernels.h>

namespace stein::inference::cuda {

class StepWatch;

/// The words of one call of a driver on the current GPU: those of the step that a watch has begun, which is not waited
/// for; else one in memory of the GPU and one of the host that kernels write without a copy, which stay from call to
/// call. Every thread of the host has one pair of these for every GPU, so it has one FiniteFlag at a time.
class FiniteFlag {
 public:
  /// Nothing found yet. Throws Error(io) where there is no memory.
  /// @param watch  of the sampler that asks, or null
  explicit FiniteFlag(MoveWatch* watch = nullptr);
  FiniteFlag(const FiniteFlag&) = delete;
  FiniteFlag& operator=(const FiniteFlag&) = delete;

  /// For kernels.
  const StepFlags& words() const { return words_; }
  /// Whether gradients are still to be looked at, which a step does once.
  bool looks() const;
  /// Whether everything was finite, once all kernels of the stream have run; true where a watch is told.
  /// Throws Error(io) where one could not.
  bool finite(GpuStream stream) const;

 private:
  StepWatch* watch_;
  StepFlags words_;
};

}  // namespace stein::inference::cuda
