#include <stein/core/error.h>
#include <stein/envs/context_table.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stein::envs {
namespace {

ContextNumber standard_of(const Column& column) {
  const auto [low, high] = column.range();
  if (low == high) return {.column = column.name, .mean = low};
  const auto rows = static_cast<double>(column.rows());
  double mean = 0, square = 0;
  for (const double value : column.numbers) mean += value / rows;
  for (const double value : column.numbers) square += (value - mean) * (value - mean) / rows;
  if (!std::isfinite(square) || !(square > 0))
    fail(ErrorKind::data, "column '{}' cannot be standardised: its numbers, from {} to {}, have no finite variance > 0",
         column.name, low, high);
  return {.column = column.name, .mean = mean, .deviation = std::sqrt(square)};
}

/// Of a category that a share of the rows has.
ContextNumber standard_of(const Column& column, const std::string& category, double share) {
  ContextNumber number{.column = column.name, .category = category, .mean = share};
  if (share > 0 && share < 1) number.deviation = std::sqrt(share * (1 - share));
  return number;
}

void check_complete(const Column& column) {
  for (std::int64_t row = 0; row < column.rows(); ++row)
    if (column.missing(row))
      fail(ErrorKind::data, "column '{}' has no value in row {}: a context needs all of them", column.name, row + 1);
}

}  // namespace

ContextTable::ContextTable(const Table& table, std::span<const std::size_t> inputs, Scaling scaling)
    : rows_(table.rows()) {
  STEIN_CHECK(rows_ > 0, "a bandit needs a table with rows, got none");
  STEIN_CHECK(!inputs.empty(), "a bandit's contexts need a column, got none");
  for (const std::size_t input : inputs) {
    const Column& column = table.columns[input];
    check_complete(column);
    column.numeric() ? add_numbers(column, scaling) : add_categories(column, scaling);
  }
}

void ContextTable::write(std::int64_t row, std::span<float> context) const {
  const auto r = static_cast<std::size_t>(row);
  std::ranges::copy(absent_, context.begin());
  for (const Input& input : inputs_) {
    if (!input.numbers.empty()) {
      context[input.place] = input.numbers[r];
      continue;
    }
    const std::size_t place = input.place + input.levels[r];
    context[place] = present_[place];
  }
}

void ContextTable::add_numbers(const Column& column, Scaling scaling) {
  const ContextNumber number =
      scaling == Scaling::standardized ? standard_of(column) : ContextNumber{.column = column.name};
  Input input{.place = numbers_.size()};
  input.numbers.reserve(column.numbers.size());
  for (const double value : column.numbers) {
    input.numbers.push_back(number.standard(value));
    if (!std::isfinite(input.numbers.back()))
      fail(ErrorKind::data, "column '{}', row {}: {} is too large for a context", column.name, input.numbers.size(),
           value);
  }
  numbers_.push_back(number);
  absent_.push_back(0);
  present_.push_back(0);
  inputs_.push_back(std::move(input));
}

void ContextTable::add_categories(const Column& column, Scaling scaling) {
  if (column.categories.size() > std::numeric_limits<std::uint16_t>::max())
    fail(ErrorKind::data, "column '{}' has {} categories, expected at most {}", column.name, column.categories.size(),
         std::numeric_limits<std::uint16_t>::max());
  Input input{.place = numbers_.size()};
  input.levels.reserve(column.levels.size());
  std::vector<std::int64_t> counts(column.categories.size());
  for (const std::int32_t level : column.levels) {
    input.levels.push_back(static_cast<std::uint16_t>(level));
    ++counts[static_cast<std::size_t>(level)];
  }
  for (std::size_t level = 0; level < counts.size(); ++level) {
    const std::string& category = column.categories[level];
    const double share = static_cast<double>(counts[level]) / static_cast<double>(rows_);
    numbers_.push_back(scaling == Scaling::standardized ? standard_of(column, category, share)
                                                        : ContextNumber{.column = column.name, .category = category});
    absent_.push_back(numbers_.back().standard(0));
    present_.push_back(numbers_.back().standard(1));
  }
  inputs_.push_back(std::move(input));
}

}  // namespace stein::envs
