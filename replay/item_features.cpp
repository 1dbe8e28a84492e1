#include <stein/core/csv_line.h>
#include <stein/core/error.h>
#include <stein/core/line_reader.h>
#include <stein/replay/feature_hash.h>
#include <stein/replay/item_features.h>
#include <stein/replay/words.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace stein::replay {

namespace {

constexpr std::size_t most_feature_columns = 1024;
constexpr std::size_t most_items = 1'000'000;

/// A table as it stands in a file.
struct Table {
  std::vector<std::string> columns;            ///< names
  std::vector<std::vector<std::string>> rows;  ///< fields, [columns] each
};

std::vector<std::string> take_fields(LineReader& lines, CsvLine& fields, std::string_view line) {
  if (!fields.split(line)) lines.fail_here("expected at most {} comma-separated values", most_feature_columns);
  std::vector<std::string> row;
  for (std::size_t i = 0; i < fields.size(); ++i) row.emplace_back(fields[i]);
  return row;
}

Table read_table(const std::filesystem::path& file) {
  LineReader lines(file);
  CsvLine fields(most_feature_columns);
  Table table;
  for (std::string_view line; lines.next(line);) {
    std::vector<std::string> row = take_fields(lines, fields, line);
    if (lines.line_number() == 1) {
      table.columns = std::move(row);
      continue;
    }
    if (row.empty()) continue;
    if (row.size() != table.columns.size())
      lines.fail_here("expected {} fields as in the header, got {}", table.columns.size(), row.size());
    if (table.rows.size() == most_items) lines.fail_here("expected at most {} items", most_items);
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// All values of a column as numbers, or nothing if one of them is none.
std::optional<std::vector<float>> numbers_of(const Table& table, std::size_t column) {
  std::vector<float> numbers;
  for (const std::vector<std::string>& row : table.rows)
    if (!read_number(std::string_view(row[column]), numbers.emplace_back())) return std::nullopt;
  return numbers;
}

/// Adds the numbers of a column to the features of every row; how many they are.
std::size_t add_column(const Table& table, std::size_t column, std::size_t buckets,
                       std::vector<std::vector<float>>& features) {
  const std::optional<std::vector<float>> numbers = numbers_of(table, column);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (numbers) {
      features[i].push_back((*numbers)[i]);
      continue;
    }
    const std::size_t begin = features[i].size();
    features[i].resize(begin + buckets);
    features[i][begin + bucket_of(hash_name(table.rows[i][column]), buckets)] = 1;
  }
  return numbers ? 1 : buckets;
}

}  // namespace

ItemFeatures::ItemFeatures(const std::filesystem::path& file, std::int64_t buckets) : file_(file) {
  const Table table = read_table(file);
  const auto names = std::ranges::find(table.columns, "item_id");
  if (names == table.columns.end())
    fail(ErrorKind::data, "'{}': expected a header with a column item_id", file.string());
  const auto name_column = static_cast<std::size_t>(names - table.columns.begin());
  std::vector<std::vector<float>> features(table.rows.size());
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    if (column != name_column && !table.columns[column].empty())
      size_ += static_cast<std::int64_t>(add_column(table, column, static_cast<std::size_t>(buckets), features));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (!std::ranges::all_of(features[i], [](float number) { return std::isfinite(number); }))
      fail(ErrorKind::data, "'{}': the item '{}' has a number that is not finite", file.string(),
           table.rows[i][name_column]);
    if (!items_.emplace(table.rows[i][name_column], std::move(features[i])).second)
      fail(ErrorKind::data, "'{}': the item '{}' is there twice", file.string(), table.rows[i][name_column]);
  }
}

}  // namespace stein::replay
