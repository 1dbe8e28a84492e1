// What `stein bench agents-gpu` measures, on any device.
#pragma once

#include <stein/bench/benchmark.h>
#include <stein/inference/storage/device.h>

#include <cstdint>
#include <vector>

namespace stein::bench {

/// How much agents collect in an iteration.
struct AgentSizes {
  std::int64_t slots, slots_of_reference;  ///< of A2C, 16 steps each
  std::int64_t particles, paths;           ///< of Stein policy gradient: whole paths of a particle
};

/// Agent steps a second of whole iterations, collecting and learning, of agents that play and learn on a device: A2C
/// on CartPole-v1 with networks of 64-64, and Stein policy gradient (REINFORCE with SVGD, the published settings) on
/// cartpole-swingup. The reference are the same agents on all cores that the process has, A2C with fewer slots.
/// @throws Error(usage)  where there is no such device
/// @throws Error(io)     where the device has no room
std::vector<Row> measure_agents_on(inference::Device device, const AgentSizes& sizes,
                                   const PairSettings& settings = {});

}  // namespace stein::bench
