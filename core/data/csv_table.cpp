#include <stein/core/checksum.h>
#include <stein/core/csv_rows.h>
#include <stein/core/data/csv_table.h>
#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/core/line_reader.h>
#include <stein/core/nearest_name.h>

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

namespace stein {
namespace {

constexpr double missing_number = std::numeric_limits<double>::quiet_NaN();

/// What one pass over a file has found out about a column.
struct ColumnFacts {
  std::string name;
  std::size_t place = 0;  ///< of its cells in a row of the file
  bool numeric = true;
  std::set<std::string, std::less<>> texts{};  ///< one more than `most_categories` at most
  bool named = false;                          ///< as one of categories, whatever its cells look like
  std::int64_t numbers = 0, others = 0;        ///< cells
  std::string first_other{};                   ///< the first that is no number, …
  std::uint64_t line = 0;                      ///< … and where it stands
};

/// A file that is gone through line by line, with a header that names columns.
class CsvFile {
 public:
  explicit CsvFile(const std::filesystem::path& path, const CsvForm& form = {})
      : reader_(path), rows_(most_csv_columns), comment_(form.comment) {
    if (!form.header.empty()) {
      rows_.name_columns(form.header);
      return;
    }
    std::string_view header;
    if (!reader_.next(header))
      fail(ErrorKind::data, "'{}' is empty: expected a header with names of columns", path.string());
    check_utf8(header);
    rows_.separate_by(separator_of(header));
    if (!rows_.read_header(header) || rows_.columns().empty())
      reader_.fail_here("expected a header with up to {} names of columns, found none", most_csv_columns);
    std::set<std::string_view> names;
    for (const std::string& name : rows_.columns()) {
      if (name.empty()) reader_.fail_here("column {} has no name", names.size() + 1);
      if (!names.insert(name).second) reader_.fail_here("two columns are called '{}'", escaped(name));
    }
  }

  const std::vector<std::string>& columns() const { return rows_.columns(); }
  /// Moves to the next row; false behind the last.
  bool next() {
    std::string_view line;
    do {
      if (!reader_.next(line)) return false;
    } while (line.empty() || (comment_ != '\0' && line.front() == comment_));
    check_utf8(line);
    if (const std::string_view fault = rows_.read_row(line); !fault.empty())
      reader_.fail_here("{}: expected {}, found {}", fault, columns().size(), rows_.fields().size());
    return true;
  }
  std::string_view cell(std::size_t column) const { return rows_.fields()[column]; }
  const LineReader& reader() const { return reader_; }

 private:
  void check_utf8(std::string_view line) const {
    if (!simdjson::validate_utf8(line.data(), line.size())) reader_.fail_here("expected UTF-8");
  }

  LineReader reader_;
  CsvRows rows_;
  char comment_;
};

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::find(names, name) != names.end();
}

/// Facts of a file and of the columns that are kept; others have no place in the file.
struct CsvFacts {
  std::vector<ColumnFacts> columns;
  std::size_t rows = 0;
};

CsvFacts look_at(const std::filesystem::path& path, const CsvForm& form) {
  CsvFile file(path, form);
  for (const auto& [names, option] : {std::pair(&form.categorical, "categorical"), std::pair(&form.ignore, "ignore")})
    for (const std::string& name : *names)
      STEIN_CHECK(is_among(name, file.columns()), "'{}' has no column '{}', which `{}` names.{}", path.string(), name,
                  option, suggestion(name, file.columns()));
  std::vector<ColumnFacts> facts;
  for (std::size_t c = 0; c < file.columns().size(); ++c) {
    const std::string& name = file.columns()[c];
    if (!is_among(name, form.ignore))
      facts.push_back({.name = name, .place = c, .named = name == form.classes || is_among(name, form.categorical)});
  }
  std::size_t rows = 0;
  while (file.next()) {
    ++rows;
    for (ColumnFacts& column : facts) {
      const std::string_view cell = file.cell(column.place);
      if (is_missing(cell)) continue;
      if (number_in(cell)) {
        ++column.numbers;
      } else if (column.others++ == 0) {
        column.first_other = cell, column.line = file.reader().line_number();
      }
      if (std::ssize(column.texts) <= most_categories && !column.texts.contains(cell)) column.texts.emplace(cell);
    }
  }
  if (rows == 0) fail(ErrorKind::data, "'{}' has no row", path.string());
  for (ColumnFacts& column : facts) {
    column.numeric = !column.named && column.others == 0;
    if (column.named || column.others == 0 || column.numbers <= column.others) continue;
    fail(ErrorKind::data,
         "'{}', line {}: column '{}' has '{}', which is no finite number, where {} of {} cells are: correct it, "
         "empty it, or name the column in `categorical`",
         path.string(), column.line, escaped(column.name), escaped(column.first_other), column.numbers,
         column.numbers + column.others);
  }
  for (const ColumnFacts& column : facts)
    if (!column.numeric && std::ssize(column.texts) > most_categories)
      fail(ErrorKind::data,
           "'{}': column '{}' has more than {} different texts, such as '{}': it has no categories; {}", path.string(),
           escaped(column.name), most_categories, escaped(*column.texts.begin()),
           column.name == form.classes ? "expected a column of classes" : "name it in `ignore`");
  return {std::move(facts), rows};
}

/// By value if all are whole numbers, else by the alphabet, as a set has them.
std::vector<std::string> sorted(const std::set<std::string, std::less<>>& texts) {
  std::vector<std::string> all(texts.begin(), texts.end());
  const auto value = [](const std::string& text) {
    const std::optional<double> number = number_in(text);
    return number && *number == std::floor(*number) ? *number : missing_number;
  };
  if (std::ranges::none_of(all, [&](const std::string& text) { return std::isnan(value(text)); }))
    std::ranges::stable_sort(all, {}, value);
  return all;
}

}  // namespace

char separator_of(std::string_view header) {
  constexpr std::array separators{',', ';', '\t'};
  return *std::ranges::max_element(separators, {}, [&](char c) { return std::ranges::count(header, c); });
}

bool is_missing(std::string_view cell) {
  std::string small(cell);
  std::ranges::transform(small, small.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::array<std::string_view, 7> names{"", "?", "na", "n/a", "nan", "null", "none"};
  return std::ranges::find(names, small) != names.end();
}

std::optional<double> number_in(std::string_view cell) {
  if (is_missing(cell)) return missing_number;
  if (cell.starts_with('+') && !cell.starts_with("+-")) cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string> csv_column_names(const std::filesystem::path& path) {
  return CsvFile(path).columns();
}

Table read_csv_table(const std::filesystem::path& path, const CsvForm& form) {
  const auto [facts, rows] = look_at(path, form);
  Table table;
  std::vector<std::unordered_map<std::string, std::int32_t>> places(facts.size());
  for (std::size_t c = 0; c < facts.size(); ++c) {
    Column& column = table.columns.emplace_back(Column{.name = facts[c].name});
    if (facts[c].numeric) {
      column.numbers.reserve(rows);
      continue;
    }
    column.levels.reserve(rows);
    column.categories = sorted(facts[c].texts);
    for (const std::string& text : column.categories)
      places[c].emplace(text, static_cast<std::int32_t>(places[c].size()));
  }
  CsvFile file(path, form);
  while (file.next()) {
    for (std::size_t c = 0; c < facts.size(); ++c) {
      const std::string_view cell = file.cell(facts[c].place);
      const auto changed = [&] { file.reader().fail_here("the file has changed while it was read"); };
      if (facts[c].numeric) {
        const std::optional<double> number = number_in(cell);
        if (!number) changed();
        table.columns[c].numbers.push_back(*number);
        continue;
      }
      const auto place = places[c].find(std::string(cell));
      if (!is_missing(cell) && place == places[c].end()) changed();
      table.columns[c].levels.push_back(is_missing(cell) ? -1 : place->second);
    }
  }
  table.checksums[path.filename().string()] = sha256_file(path);
  return table;
}

}  // namespace stein
