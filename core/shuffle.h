// Random order.
#pragma once

#include <stein/core/rng.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace stein {

/// Puts up to 2³² values into an order of which all are equally likely (Fisher & Yates; Durstenfeld 1964).
template <class T>
void shuffle(std::span<T> values, Draws& draws) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[draws.integer(static_cast<std::uint32_t>(left))]);
}

}  // namespace stein
