#include <stein/envs/context_columns.h>

namespace stein::envs {

std::vector<ContextColumn> context_columns(const BanditSpec& spec) {
  std::vector<ContextColumn> columns;
  for (std::size_t k = 0; k < spec.numbers.size(); ++k) {
    const ContextNumber& number = spec.numbers[k];
    if (!number.category || columns.empty() || columns.back().name != number.column)
      columns.push_back({.name = number.column, .first = k});
    if (number.category) columns.back().categories.push_back(*number.category);
  }
  return columns;
}

}  // namespace stein::envs
