// How much memory a piece of work takes at most.
#pragma once

#include <functional>
#include <optional>

namespace stein::bench {

/// The largest resident memory of this process while `body` runs, beyond what was resident before, in bytes; nothing
/// where the system does not tell. Memory that the allocator kept from earlier work is given back first.
std::optional<double> peak_memory_of(const std::function<void()>& body);

}  // namespace stein::bench
