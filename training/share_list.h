// Shares that an option lists.
#pragma once

#include <stein/core/options.h>

#include <string>
#include <string_view>
#include <vector>

namespace stein::training {

/// Its texts as numbers. Throws Error(usage) naming the option for one that is no number, or outside of `range`.
std::vector<double> shares_of(std::string_view option, const std::vector<std::string>& texts, const Range& range);

}  // namespace stein::training
