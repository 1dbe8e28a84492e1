// What `stein bench update-gpu` measures, on any device.
#pragma once

#include <stein/bench/benchmark.h>
#include <stein/inference/storage/device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stein::bench {

/// The bandit whose networks are updated: rows of one-hot columns, as of mushroom.
struct UpdateCase {
  std::int64_t particles = 20;
  std::int64_t rows = 64;  ///< of a minibatch
  std::vector<std::int64_t> hidden{50, 50};
  std::int64_t inputs = 117, ones = 22, arms = 2;
};

/// Microseconds of one update of `policy` from a minibatch, with one-hot and with dense inputs, and of one decision
/// with its propensities; networks on a device against the same policy on all cores that the process has.
/// @throws Error(usage)    where there is no such device, or the policy has no networks there
/// @throws Error(numeric)  where updates on the device do not do what those on the host do
std::vector<Row> measure_updates_on(inference::Device device, const std::string& policy, const UpdateCase& which,
                                    const PairSettings& settings = {});

}  // namespace stein::bench
