#include <stein/core/data/manifest.h>
#include <stein/core/data/number_table.h>
#include <stein/core/error.h>
#include <stein/core/line_reader.h>
#include <stein/supervised/tables/uci_regression.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stein::supervised {
namespace {

namespace fs = std::filesystem;

/// Numbers of every line that has any.
template <class Number>
std::vector<std::vector<Number>> read_numbers(const fs::path& path) {
  LineReader reader(path);
  std::vector<std::vector<Number>> lines;
  for (std::string_view line; reader.next(line);) {
    std::vector<Number> numbers;
    for_each_word(line, [&](std::string_view word) { numbers.push_back(number_of<Number>(reader, word)); });
    if (numbers.empty()) continue;
    lines.push_back(std::move(numbers));
  }
  return lines;
}

/// Which columns are read, and which is the target.
void read_columns(const fs::path& path, TableSet& set) {
  LineReader reader(path);
  const auto read_line = [&](std::string_view key) {
    std::string_view line;
    if (!reader.next(line) || !line.starts_with(key))
      reader.fail_here("expected a line `{}` with positions of columns", key);
    std::vector<std::size_t> places;
    for_each_word(line.substr(key.size()), [&](std::string_view word) {
      places.push_back(number_of<std::size_t>(reader, word));
      if (places.back() >= set.table.columns.size())
        reader.fail_here("expected a column from 0 to {}, found {}", set.table.columns.size() - 1, word);
    });
    if (places.empty()) reader.fail_here("expected positions of columns behind `{}`", key);
    return places;
  };
  set.inputs = read_line("features");
  set.target = read_line("target").front();
}

}  // namespace

TableSet read_uci_regression(const std::string& name, const fs::path& folder) {
  const auto file = [&](const char* part) { return data_file(folder, name + "/" + part); };
  TableSet set{.name = name, .table = read_number_table(file("data.txt"))};
  read_columns(file("columns.txt"), set);
  set.table.columns[set.target].name = "y";
  set.splits = read_numbers<std::int64_t>(file("splits_test.txt"));
  for (std::vector<std::int64_t>& split : set.splits) {
    std::ranges::sort(split);
    const bool twice = std::ranges::adjacent_find(split) != split.end();
    if (twice || split.front() < 0 || split.back() >= set.table.rows())
      fail(ErrorKind::data, "'{}': expected different rows from 0 to {} in every split",
           file("splits_test.txt").string(), set.table.rows() - 1);
  }
  set.table.checksums.clear();
  for (const DataFile& known : data_set("uci-regression").files)
    if (known.name.starts_with(name + "/")) set.table.checksums[known.name] = known.sha256;
  return set;
}

}  // namespace stein::supervised
