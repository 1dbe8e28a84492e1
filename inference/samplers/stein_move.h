// One move of SVGD as a driver is asked for it.
#pragma once

#include <stein/distributed/communicator.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/svgd_kernel.h>

#include <span>

namespace stein::inference {

/// What a move of M particles reads and writes.
template <class Scalar>
struct SteinMove {
  const SvgdKernelOptions& kernel;
  MatrixView<Scalar> values;           ///< [M, Q]
  MatrixView<const Scalar> gradients;  ///< [M, Q] ∇ log joint
  OptimizerState<Scalar>& state;
  const OptimizerStep& step;
  KernelWeights& weights;       ///< those of the move go there where the host makes them
  std::span<double> distances;  ///< [M·M] working memory: squared distances, or inner products
  MoveWatch* watch = nullptr;   ///< of the sampler, where its driver has one
  /// Those that have the same particles, on the host: each moves some, with their averages, and then has the values of
  /// all. Collective where they are several.
  distributed::Communicator& ranks = distributed::single_process();
};

}  // namespace stein::inference
