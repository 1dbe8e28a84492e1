#include <stein/core/component.h>
#include <stein/inference/targets/reference_arithmetic.h>

namespace stein::inference {

Registry<ReferenceArithmetic>& reference_arithmetics() {
  static Registry<ReferenceArithmetic> registry("reference arithmetic");
  return registry;
}

const ReferenceArithmetic& torch_arithmetic() {
  load_component("torch");
  return reference_arithmetics().at("torch");
}

}  // namespace stein::inference
