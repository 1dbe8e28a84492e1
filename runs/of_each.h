// One value of each of several.
#pragma once

#include <functional>
#include <ranges>
#include <type_traits>
#include <vector>

namespace stein::runs {

/// of(x) for every x of `range`, in order; `of` may be a pointer to a member.
template <class Range, class Of>
auto of_each(const Range& range, const Of& of) {
  std::vector<std::decay_t<std::invoke_result_t<const Of&, const std::ranges::range_value_t<Range>&>>> values;
  values.reserve(std::ranges::size(range));
  for (const auto& each : range) values.push_back(std::invoke(of, each));
  return values;
}

}  // namespace stein::runs
