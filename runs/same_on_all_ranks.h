// Whether all ranks are about to do the same.
#pragma once

#include <stein/distributed/communicator.h>
#include <stein/runs/experiment.h>

#include <cstdint>

namespace stein::runs {

/// Collective. Throws AgreedError(usage) where a rank has other options, data or another program than the root, is to
/// stop elsewhere, or begins at another step, naming what differs; warns where their SIMD targets differ.
void check_same_on_all(distributed::Communicator& ranks, const Experiment& experiment, const Run& run,
                       std::int64_t stop_after);

}  // namespace stein::runs
