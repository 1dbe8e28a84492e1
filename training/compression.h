// Making a trained network sparse: another training from its weights, under a prior that lets most of them go.
#pragma once

#include <stein/runs/experiment.h>
#include <stein/runs/option_sources.h>

#include <map>
#include <string>

namespace stein::training {

/// The spike-and-slab prior of Deng et al. 2019 on a deep network, as settings: that of their section 5.2 for MNIST,
/// with δ and σ² where they begin.
std::map<std::string, std::string> deep_sparse_prior();

/// The options of a run of `sghmc-sa` with the data, network, epochs and seeds of `trained`, a NetworkExperiment, which
/// begins with the weights that the run in `directory` ended with and prunes them until its burn-in ends (Deng et al.
/// 2019, section 5.3: dense training, then compression). Batches and what is sampled, stored and validated are as in
/// `trained`; the step and its course, the prior and the burn-in are not. It is trained on the processor.
/// @param share  of the weights of all matrices and kernels that are zero in the end, in (0, 1)
runs::OptionSources compression_of(const runs::Experiment& trained, const std::string& directory, double share);

}  // namespace stein::training
