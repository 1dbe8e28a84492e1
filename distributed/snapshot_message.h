// Named arrays and texts as bytes for another rank.
#pragma once

#include <stein/core/snapshot.h>

#include <string>
#include <string_view>

namespace stein::distributed {

/// `snapshot` as a safetensors file in memory; texts are arrays there, as a header may be too short for long ones.
std::string to_message(const Snapshot& snapshot);

/// What `to_message` was given.
Snapshot from_message(std::string_view bytes);

}  // namespace stein::distributed
