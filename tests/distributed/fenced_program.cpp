// Linked into a program, the fenced device is one that its options name: --device fenced.
#include "inference/cuda/networks_on_host.h"

namespace {

[[maybe_unused]] const stein::inference::Device fenced = stein::test::fenced_networks();

}  // namespace
