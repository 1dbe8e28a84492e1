#include <stein/core/data/csv_table.h>
#include <stein/core/error.h>
#include <stein/supervised/tables/table_lines.h>

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stein::supervised {

TableLines::TableLines(const TableEncoding& encoding, std::string_view header)
    : encoding_(encoding), lines_(most_csv_columns) {
  lines_.separate_by(separator_of(header));
  if (!lines_.read_header(header))
    fail(ErrorKind::data, "expected a header with the names of the columns as the first line, found '{}'",
         header.substr(0, 60));
  for (const TableEncoding::Input& input : encoding.inputs()) {
    if (std::ranges::count(lines_.columns(), input.name) > 1)
      fail(ErrorKind::data, "two columns of the header are called '{}', which the run was trained on", input.name);
    const auto place = lines_.find(input.name);
    if (!place)
      fail(ErrorKind::data, "the header has no column '{}', which the run was trained on; it has '{}'", input.name,
           header.substr(0, 200));
    places_.push_back(*place);
    table_.columns.push_back({.name = input.name, .categories = input.categories});
  }
}

std::string TableLines::add(std::string_view line) {
  if (!simdjson::validate_utf8(line.data(), line.size())) return "expected UTF-8";
  if (const std::string_view fault = lines_.read_row(line); !fault.empty())
    return fmt::format("{}: expected {}, found {}", fault, lines_.columns().size(), lines_.fields().size());
  std::vector<double> numbers(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::string_view cell = lines_.fields()[places_[i]];
    const auto number = number_in(cell);
    if (encoding_.inputs()[i].numeric() && !number)
      return fmt::format("expected a number in column '{}', found '{}'", table_.columns[i].name, cell);
    numbers[i] = number.value_or(0);
    if (!encoding_.inputs()[i].numeric()) continue;
    constexpr double farthest = 1e6;
    if (const Scale& scale = encoding_.inputs()[i].scale; std::abs(scale.to_unit(numbers[i])) > farthest)
      return fmt::format(
          "{} in column '{}' is {:.3g} sds from the mean of the training rows, {:.3g}: expected at most {:g}", cell,
          table_.columns[i].name, std::abs(scale.to_unit(numbers[i])), scale.mean, farthest);
  }
  std::vector<std::string>& unknown = unknown_.emplace_back();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Column& column = table_.columns[i];
    const std::string_view cell = lines_.fields()[places_[i]];
    if (encoding_.inputs()[i].numeric()) {
      column.numbers.push_back(numbers[i]);
      continue;
    }
    const auto place = std::ranges::find(column.categories, cell);
    if (place == column.categories.end() && !is_missing(cell)) unknown.push_back(column.name);
    column.levels.push_back(
        place == column.categories.end() ? -1 : static_cast<std::int32_t>(place - column.categories.begin()));
  }
  return {};
}

TableLines::Encoded TableLines::take() {
  Encoded encoded{.inputs = encoding_.encode(table_, all_rows(rows())), .unknown = std::exchange(unknown_, {})};
  for (Column& column : table_.columns) column.numbers.clear(), column.levels.clear();
  return encoded;
}

}  // namespace stein::supervised
