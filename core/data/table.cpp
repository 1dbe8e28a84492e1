#include <stein/core/data/table.h>
#include <stein/core/error.h>
#include <stein/core/nearest_name.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein {
namespace {

void append_cells(Column& column, const Column& more) {
  column.numbers.insert(column.numbers.end(), more.numbers.begin(), more.numbers.end());
  std::vector<std::int32_t> places;
  for (const std::string& category : more.categories) {
    const auto place = std::ranges::find(column.categories, category);
    places.push_back(static_cast<std::int32_t>(place - column.categories.begin()));
    if (place == column.categories.end()) column.categories.push_back(category);
  }
  for (const std::int32_t level : more.levels)
    column.levels.push_back(level < 0 ? -1 : places[static_cast<std::size_t>(level)]);
}

template <class Cell>
void keep_cells(std::vector<Cell>& cells, std::span<const std::int64_t> rows) {
  if (cells.empty()) return;
  std::vector<Cell> kept;
  kept.reserve(rows.size());
  for (const std::int64_t row : rows) kept.push_back(cells[static_cast<std::size_t>(row)]);
  cells = std::move(kept);
}

/// Drops the categories that no cell has; the others stay in order.
void drop_unused_categories(Column& column) {
  std::vector<std::int32_t> places(column.categories.size(), -1);
  for (const std::int32_t level : column.levels)
    if (level >= 0) places[static_cast<std::size_t>(level)] = 0;
  std::vector<std::string> used;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    places[i] = static_cast<std::int32_t>(used.size());
    used.push_back(std::move(column.categories[i]));
  }
  column.categories = std::move(used);
  for (std::int32_t& level : column.levels)
    if (level >= 0) level = places[static_cast<std::size_t>(level)];
}

}  // namespace

bool Column::missing(std::int64_t row) const {
  const auto i = static_cast<std::size_t>(row);
  return numeric() ? std::isnan(numbers[i]) : levels[i] < 0;
}

std::int64_t Column::missing_cells() const {
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < rows(); ++row) count += missing(row);
  return count;
}

std::pair<double, double> Column::range() const {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : numbers)
    if (!std::isnan(value)) low = std::min(low, value), high = std::max(high, value);
  return {low, high};
}

std::size_t Table::find(std::string_view name, std::string_view what) const {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    if (column.name == name) return names.size();
    names.push_back(column.name);
  }
  fail(ErrorKind::usage, "the table has no column '{}', which {} names.{}", name, what, suggestion(name, names));
}

void Table::append(const Table& more) {
  for (Column& column : columns) {
    const auto place = std::ranges::find(more.columns, column.name, &Column::name);
    if (place == more.columns.end()) fail(ErrorKind::data, "there is no column '{}'", column.name);
    if (column.numeric() != place->numeric())
      fail(ErrorKind::data, "the column '{}' has {}", column.name,
           place->numeric() ? "numbers, where others have texts"
                            : fmt::format("the text '{}', where others have numbers",
                                          place->categories.empty() ? "" : place->categories.front()));
    append_cells(column, *place);
  }
  checksums.insert(more.checksums.begin(), more.checksums.end());
}

std::vector<std::int64_t> Table::complete_rows() const {
  std::vector<std::int64_t> complete;
  for (std::int64_t row = 0; row < rows(); ++row)
    if (std::ranges::none_of(columns, [&](const Column& column) { return column.missing(row); }))
      complete.push_back(row);
  return complete;
}

void Table::keep_rows(std::span<const std::int64_t> rows) {
  for (Column& column : columns) {
    keep_cells(column.numbers, rows);
    keep_cells(column.levels, rows);
    drop_unused_categories(column);
  }
}

}  // namespace stein
