// The columns of the table that a bandit's contexts are rows of.
#pragma once

#include <stein/envs/bandit_spec.h>

#include <cstddef>
#include <string>
#include <vector>

namespace stein::envs {

/// A column of numbers, which is one number of a context, or of categories, each of which is one.
struct ContextColumn {
  std::string name;
  std::size_t first = 0;                  ///< place of its first number in a context
  std::vector<std::string> categories{};  ///< in the order of their numbers; empty: a column of numbers
};

/// The columns in the order of their numbers; none where contexts are no rows of a table.
std::vector<ContextColumn> context_columns(const BanditSpec& spec);

}  // namespace stein::envs
