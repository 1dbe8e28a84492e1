#include <stein/inference/samplers/sampler_registry.h>

namespace stein::inference {

Registry<SamplerEntry>& samplers() {
  static Registry<SamplerEntry> registry("sampler");
  return registry;
}

}  // namespace stein::inference
