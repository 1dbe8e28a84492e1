// The GPU that a benchmark measures.
#pragma once

#include <stein/inference/storage/device.h>

#include <string>

namespace stein::bench {

/// The GPU of an option: "cuda", or "cuda:INDEX". Throws Error(usage) for another device, naming the benchmark that
/// measures the processor.
inference::Device gpu_named(const std::string& name, const std::string& benchmark_of_processor);

/// Benchmark::check_machine of those that measure a GPU: throws Error(usage) saying what is missing.
void check_gpu();

}  // namespace stein::bench
