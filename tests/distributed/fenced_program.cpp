// Linked into a program, the fenced device is one that its options name: --device fenced. STEIN_FENCED_ROOM is how many
// bytes it has.
#include <cstdlib>
#include <string>

#include "agents/cuda/fenced_rollouts.h"

namespace {

stein::inference::Device fenced_device_of_program() {
  if (const char* const room = std::getenv("STEIN_FENCED_ROOM"))
    stein::test::Fence::instance().set_room(std::stoull(room));
  return stein::test::fenced_rollouts();
}

[[maybe_unused]] const stein::inference::Device fenced = fenced_device_of_program();

}  // namespace
