// The kernels of scores. All pointers are to memory of the current device; a function returns before its kernels have
// run, and throws nothing: cudaGetLastError says whether they could be started.
#pragma once

#include <stein/agents/control/score_launch.h>
#include <stein/inference/cuda/sampler_kernels.h>

namespace stein::agents::cuda {

using inference::cuda::GpuStream;

/// Slopes of all rows of the policies, and those of their constants.
void start_policy_scores(const PolicyScoreLaunch& launch, GpuStream stream);
/// Slopes of all predictions.
void start_value_scores(const ValueScoreLaunch& launch, GpuStream stream);

}  // namespace stein::agents::cuda
