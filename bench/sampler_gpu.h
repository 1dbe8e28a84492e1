// What `stein bench sampler-gpu` measures, on any device.
#pragma once

#include <stein/bench/benchmark.h>
#include <stein/inference/storage/device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stein::bench {

/// Steps of samplers on one row of parameters that lies on a device, beside a copy of as many floats within the memory
/// of the device: a row of GB/s for every case of sampler_case.h whose name begins with `only`. A step is what a
/// training does once the gradient is there: the look for gradients that are not finite, and the sampler's own passes,
/// with noise and without clipping. Its rate counts the bytes that the update has to move, `SamplerCase::bytes`,
/// however often it goes over them.
///
/// @param device      not the host
/// @param parameters  of the row, at least 1
/// @throws Error(usage)    where there is no such device, or no case has such a name
/// @throws Error(io)       where the device has no room
/// @throws Error(numeric)  where steps on the device do not do what those on the host do
std::vector<Row> measure_samplers_on(inference::Device device, std::int64_t parameters, const std::string& only,
                                     const PairSettings& settings = {});

}  // namespace stein::bench
