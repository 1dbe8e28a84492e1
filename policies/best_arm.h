// The arm of the largest value, where several may be equal.
#pragma once

#include <stein/core/rng.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace stein::policies {

/// Gives every place whose value is the largest an equal part of one vote.
template <class Value>
void vote(std::span<const Value> values, std::span<double> votes) {
  const Value best = *std::ranges::max_element(values);
  const auto ties = std::ranges::count(values, best);
  for (std::size_t a = 0; a < values.size(); ++a)
    if (values[a] == best) votes[a] += 1 / static_cast<double>(ties);
}

/// The place of one of the largest values, each with the same probability.
template <class Value>
std::int64_t draw_best(std::span<const Value> values, Draws& draws) {
  const Value best = *std::ranges::max_element(values);
  auto skip = draws.integer(static_cast<std::uint32_t>(std::ranges::count(values, best)));
  for (std::size_t a = 0;; ++a)
    if (values[a] == best && skip-- == 0) return static_cast<std::int64_t>(a);
}

}  // namespace stein::policies
