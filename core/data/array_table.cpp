#include <stein/core/checksum.h>
#include <stein/core/data/array_table.h>
#include <stein/core/data/csv_table.h>
#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/core/npy.h>
#include <stein/core/safetensors.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace stein {
namespace {

namespace fs = std::filesystem;

bool is_npy(const fs::path& path) {
  return path.extension() == ".npy";
}

NpyArray array_in(const Snapshot& file, const std::string& name, const fs::path& path) {
  const auto place = file.arrays().find(name);
  if (place == file.arrays().end()) {
    std::string names;
    for (const auto& [other, array] : file.arrays())
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", escaped(other));
    fail(ErrorKind::data, "'{}': expected an array '{}', found {}", path.string(), escaped(name),
         names.empty() ? "none" : names);
  }
  const Snapshot::Array& array = place->second;
  return {array.type, array.shape, {array.bytes.begin(), array.bytes.end()}, path.string()};
}

std::vector<double> numbers_of(const NpyArray& array) {
  if (array.type == ElementType::float64) {
    const auto doubles = array.as<double>();
    return {doubles.begin(), doubles.end()};
  }
  const std::vector<float> floats = array.to_floats();
  return {floats.begin(), floats.end()};
}

void refuse_infinite(const std::vector<double>& numbers, std::size_t columns, const std::string& origin) {
  const auto place = std::ranges::find_if(numbers, [](double number) { return std::isinf(number); });
  if (place != numbers.end())
    fail(ErrorKind::data, "'{}', row {}: the number is infinite", origin,
         static_cast<std::size_t>(place - numbers.begin()) / columns + 1);
}

/// Classes are the numbers that occur.
void name_classes(const std::vector<double>& numbers, const std::string& origin, Column& target) {
  constexpr double most = 1e15;
  std::set<double> values;
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    if (std::isnan(numbers[row])) continue;
    if (numbers[row] != std::floor(numbers[row]) || std::abs(numbers[row]) > most)
      fail(ErrorKind::data, "'{}', row {}: expected a class, which is a whole number, found {}", origin, row + 1,
           numbers[row]);
    values.insert(numbers[row]);
    if (std::ssize(values) > most_categories)
      fail(ErrorKind::data, "'{}' has more than {} different classes", origin, most_categories);
  }
  for (const double value : values) target.categories.push_back(std::to_string(static_cast<std::int64_t>(value)));
  for (const double number : numbers)
    target.levels.push_back(
        std::isnan(number) ? -1 : static_cast<std::int32_t>(std::distance(values.begin(), values.find(number))));
}

/// What is read of a table, in two arrays.
struct Arrays {
  NpyArray features, target;
};

Arrays read_arrays(const fs::path& features, const std::string& target) {
  if (is_npy(features)) return {read_npy(features), read_npy(target)};
  const Snapshot file = read_safetensors(features);
  return {array_in(file, "features", features), array_in(file, target, features)};
}

}  // namespace

bool means_arrays(const fs::path& path) {
  return is_npy(path) || path.extension() == ".safetensors";
}

Table read_array_table(const fs::path& features, const std::string& target, bool categories) {
  STEIN_CHECK(means_arrays(features), "'{}': expected a file of arrays, which ends in .npy or .safetensors",
              features.string());
  const Arrays arrays = read_arrays(features, target);
  const std::vector<std::int64_t>& shape = arrays.features.shape;
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    fail(ErrorKind::data, "'{}': expected features [rows, columns], found the shape [{}]", features.string(),
         fmt::join(shape, ", "));
  const std::vector<std::int64_t>& of_target = arrays.target.shape;
  const std::vector<double> targets = numbers_of(arrays.target);
  if (of_target.empty() || of_target[0] != shape[0] || std::ssize(targets) != shape[0])
    fail(ErrorKind::data, "'{}': expected a target for each of {} rows, found the shape [{}]", arrays.target.origin,
         shape[0], fmt::join(of_target, ", "));
  const auto columns = static_cast<std::size_t>(shape[1]);
  const std::vector<double> numbers = numbers_of(arrays.features);
  refuse_infinite(numbers, columns, features.string());
  refuse_infinite(targets, 1, arrays.target.origin);

  Table table;
  for (std::size_t c = 0; c < columns; ++c) {
    Column& column = table.columns.emplace_back(Column{.name = fmt::format("x{}", c)});
    column.numbers.reserve(targets.size());
    for (std::size_t row = 0; row < targets.size(); ++row) column.numbers.push_back(numbers[row * columns + c]);
  }
  Column& last = table.columns.emplace_back(Column{.name = "target"});
  if (categories)
    name_classes(targets, arrays.target.origin, last);
  else
    last.numbers = targets;
  table.checksums[features.filename().string()] = sha256_file(features);
  if (is_npy(features)) table.checksums[fs::path(target).filename().string()] = sha256_file(target);
  return table;
}

}  // namespace stein
