#include <stein/bench/gpu.h>
#include <stein/core/error.h>
#include <stein/inference/storage/device_memory.h>

namespace stein::bench {

using inference::Device;

Device gpu_named(const std::string& name, const std::string& benchmark_of_processor) {
  const Device found = inference::parse_device(name);
  STEIN_CHECK(found.kind != Device::Kind::host,
              "expected a GPU as device, cuda or cuda:INDEX, got '{}'; the benchmark {} measures the processor", name,
              benchmark_of_processor);
  return found;
}

void check_gpu() {
  inference::check_present(inference::parse_device("cuda"));
}

}  // namespace stein::bench
