#include <stein/core/error.h>
#include <stein/core/physical_memory.h>
#include <stein/supervised/tables/table_encoding.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace stein::supervised {
namespace {

using Json = nlohmann::ordered_json;

/// Categories that occur in these rows, in the order of the column.
std::vector<std::string> categories_in(const Column& column, std::span<const std::int64_t> rows) {
  std::vector<bool> occurs(column.categories.size());
  for (const std::int64_t row : rows)
    if (!column.missing(row)) occurs[static_cast<std::size_t>(column.levels[static_cast<std::size_t>(row)])] = true;
  std::vector<std::string> found;
  for (std::size_t i = 0; i < occurs.size(); ++i)
    if (occurs[i]) found.push_back(column.categories[i]);
  return found;
}

/// For each category of `column` its place in `categories`; −1 where it has none.
std::vector<std::int64_t> places_of(const Column& column, const std::vector<std::string>& categories) {
  std::vector<std::int64_t> places;
  for (const std::string& category : column.categories) {
    const auto place = std::ranges::find(categories, category);
    places.push_back(place == categories.end() ? -1 : place - categories.begin());
  }
  return places;
}

const Column& column_for(const TableEncoding::Input& input, const Table& table) {
  const auto place = std::ranges::find(table.columns, input.name, &Column::name);
  if (place == table.columns.end()) fail(ErrorKind::data, "the table has no column '{}'", input.name);
  if (input.numeric() && !place->numeric())
    fail(ErrorKind::data, "column '{}' had numbers in training; here it has the text '{}'", input.name,
         place->categories.empty() ? "" : place->categories.front());
  if (!input.numeric() && place->numeric())
    fail(ErrorKind::data, "column '{}' had categories in training; here it was read as one of numbers", input.name);
  return *place;
}

/// Of numbers whose squares no double holds, by a second pass over them in units of the largest.
Scale scale_in_units_of_largest(std::span<const double> numbers, std::span<const std::int64_t> rows) {
  std::vector<double> known;
  for (const std::int64_t row : rows)
    if (const double value = numbers[static_cast<std::size_t>(row)]; !std::isnan(value)) known.push_back(value);
  if (known.empty()) return {.mean = 0, .deviation = 0};
  const auto [low, high] = std::ranges::minmax(known);
  if (low == high) return {.mean = low, .deviation = 0};
  const double unit = std::max(std::abs(low), std::abs(high)), count = static_cast<double>(known.size());
  double mean = 0, square = 0;
  for (const double value : known) mean += value / unit / count;
  for (const double value : known) square += (value / unit - mean) * (value / unit - mean) / count;
  return {.mean = unit * mean, .deviation = unit * std::sqrt(square)};
}

}  // namespace

Scale Scale::of(std::span<const double> numbers, std::span<const std::int64_t> rows) {
  double count = 0, mean = 0, square = 0;
  for (const std::int64_t row : rows) {
    const double value = numbers[static_cast<std::size_t>(row)];
    if (std::isnan(value)) continue;
    const double off = value - mean;
    mean += off / ++count;
    square += off * (value - mean);
  }
  const double deviation = count > 0 ? std::sqrt(square / count) : 0;
  if (std::isfinite(deviation) && deviation > 0) return {.mean = mean, .deviation = deviation};
  return scale_in_units_of_largest(numbers, rows);
}

std::vector<std::int64_t> all_rows(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

TableEncoding::TableEncoding(const Table& table, std::span<const std::size_t> columns,
                             std::span<const std::int64_t> rows) {
  for (const std::size_t c : columns) {
    const Column& column = table.columns[c];
    Input input{.name = column.name};
    if (column.numeric())
      input.scale = Scale::of(column.numbers, rows);
    else
      input.categories = categories_in(column, rows);
    const bool varies = column.numeric() ? input.scale.deviation > 0 : input.categories.size() > 1;
    if (varies)
      inputs_.push_back(std::move(input));
    else
      constant_.push_back(column.name);
  }
  if (inputs_.empty())
    fail(ErrorKind::data, "every column is constant in the {} rows for training: there is nothing to predict from",
         rows.size());
}

std::int64_t TableEncoding::width() const {
  return std::accumulate(inputs_.begin(), inputs_.end(), std::int64_t{0},
                         [](std::int64_t sum, const Input& input) { return sum + input.width(); });
}

std::vector<std::string> TableEncoding::names() const {
  std::vector<std::string> names;
  for (const Input& input : inputs_) {
    if (input.numeric()) names.push_back(input.name);
    for (const std::string& category : input.categories) names.push_back(input.name + "=" + category);
  }
  return names;
}

void TableEncoding::check_memory(std::int64_t rows) const {
  const double bytes = static_cast<double>(rows) * static_cast<double>(width()) * sizeof(float);
  const auto memory = static_cast<double>(physical_memory());
  if (memory == 0 || bytes <= memory) return;
  const Input& widest = *std::ranges::max_element(inputs_, {}, &Input::width);
  constexpr double gigabyte = 1e9;
  fail(ErrorKind::data,
       "{} rows become {} numbers each, {:.1f} GB in all, and the machine has {:.1f} GB; '{}' becomes {} of them: name "
       "it "
       "in `ignore`",
       rows, width(), bytes / gigabyte, memory / gigabyte, widest.name, widest.width());
}

inference::Matrix<float> TableEncoding::encode(const Table& table, std::span<const std::int64_t> rows) const {
  check_memory(std::ssize(rows));
  inference::Matrix<float> encoded(std::ssize(rows), width());
  const inference::MatrixView<float> cells = encoded.view();
  std::int64_t first = 0;
  for (const Input& input : inputs_) {
    const Column& column = column_for(input, table);
    const std::vector<std::int64_t> places = places_of(column, input.categories);
    for (std::int64_t i = 0; i < cells.rows; ++i) {
      const std::int64_t row = rows[static_cast<std::size_t>(i)];
      const auto cell = static_cast<std::size_t>(row);
      if (column.missing(row)) continue;
      if (input.numeric())
        cells(i, first) = static_cast<float>(input.scale.to_unit(column.numbers[cell]));
      else if (const std::int64_t place = places[static_cast<std::size_t>(column.levels[cell])]; place >= 0)
        cells(i, first + place) = 1;
    }
    first += input.width();
  }
  return encoded;
}

std::map<std::string, std::map<std::string, std::int64_t>> TableEncoding::unknown(
    const Table& table, std::span<const std::int64_t> rows) const {
  std::map<std::string, std::map<std::string, std::int64_t>> found;
  for (const Input& input : inputs_) {
    if (input.numeric()) continue;
    const Column& column = column_for(input, table);
    const std::vector<std::int64_t> places = places_of(column, input.categories);
    for (const std::int64_t row : rows) {
      if (column.missing(row)) continue;
      const auto level = static_cast<std::size_t>(column.levels[static_cast<std::size_t>(row)]);
      if (places[level] < 0) ++found[input.name][column.categories[level]];
    }
  }
  return found;
}

void TableEncoding::save(Snapshot& snapshot) const {
  Json list = Json::array();
  for (const Input& input : inputs_) {
    Json entry{{"name", input.name}};
    if (input.numeric())
      entry["mean"] = input.scale.mean, entry["deviation"] = input.scale.deviation;
    else
      entry["categories"] = input.categories;
    list.push_back(std::move(entry));
  }
  snapshot.put_text("inputs", list.dump());
}

TableEncoding::TableEncoding(const Snapshot& snapshot) {
  try {
    for (const Json& entry : Json::parse(snapshot.get_text("inputs"))) {
      Input input{.name = entry.at("name").get<std::string>()};
      if (entry.contains("categories"))
        input.categories = entry["categories"].get<std::vector<std::string>>();
      else
        input.scale = {entry.at("mean").get<double>(), entry.at("deviation").get<double>()};
      inputs_.push_back(std::move(input));
    }
  } catch (const Json::exception& error) {
    fail(ErrorKind::data, "what the checkpoint says of the table's columns cannot be read: {}", error.what());
  }
  if (inputs_.empty()) fail(ErrorKind::data, "the checkpoint says of no column how it is read");
}

}  // namespace stein::supervised
