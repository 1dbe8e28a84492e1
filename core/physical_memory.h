// How much memory the machine has.
#pragma once

#include <cstdint>

namespace stein {

/// Bytes of main memory; 0 where the system does not say.
std::int64_t physical_memory();

}  // namespace stein
