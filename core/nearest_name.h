// "Did you mean …?" for names that a person typed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein {

/// The candidate with the fewest single-letter edits from `name`, in letters of any case, if that is one; else the
/// first that contains `name`, if that has three letters or more; else the nearest again, if the edits are at most a
/// third of its length (but at least 2).
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// " Did you mean 'x'?" for the nearest candidate, or " Known: a, b, c." where none is near.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

}  // namespace stein
