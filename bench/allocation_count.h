// How many heap allocations a call makes. The program that measures replaces operator new (cli/allocations.cpp) and
// reports each one here; a library cannot do that for the programs that link it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace stein::bench {

/// Called by a replaced operator new for every allocation; safe from any thread.
void count_allocation() noexcept;

/// Allocations on any thread during one call of `body`; nothing in a program whose operator new does not count.
std::optional<std::int64_t> allocations_in(const std::function<void()>& body);

}  // namespace stein::bench
