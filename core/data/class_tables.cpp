#include <fmt/format.h>
#include <stein/core/data/class_tables.h>
#include <stein/core/data/csv_table.h>
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>

#include <string>
#include <utility>
#include <vector>

namespace stein {
namespace {

namespace fs = std::filesystem;

/// Checksums that the manifest has are those of the files themselves, compressed or not.
void take_checksums(Table& table, std::string_view set) {
  table.checksums.clear();
  for (const DataFile& file : data_set(set).files) table.checksums[file.name] = file.sha256;
}

/// The first file of a set, and behind it the second, whose rows are for the test and whose labels may end in a full
/// stop.
PartedTable read_parts(const fs::path& folder, std::string_view set, const CsvForm& form) {
  const std::vector<DataFile>& files = data_set(set).files;
  PartedTable parts{.table = read_csv_table(data_file(folder, files[0].name), form)};
  parts.first_test = parts.table.rows();
  Table test = read_csv_table(data_file(folder, files[1].name), form);
  for (std::string& category : test.columns.back().categories)
    if (category.ends_with('.')) category.pop_back();
  parts.table.append(test);
  take_checksums(parts.table, set);
  return parts;
}

/// Columns of Covertype, the class last.
CsvForm covertype_form() {
  std::vector<std::string> names{
      "elevation",         "aspect",        "slope",          "distance_to_water", "height_above_water",
      "distance_to_roads", "hillshade_9am", "hillshade_noon", "hillshade_3pm",     "distance_to_fire_points"};
  for (int i = 1; i <= 4; ++i) names.push_back(fmt::format("wilderness{}", i));
  for (int i = 1; i <= 40; ++i) names.push_back(fmt::format("soil{}", i));
  names.emplace_back("cover");
  return {.categorical = {"cover"}, .header = std::move(names)};
}

void check_rows(const Table& table, std::int64_t expected, const fs::path& path) {
  if (table.rows() != expected)
    fail(ErrorKind::data, "'{}': expected {} rows, found {}", path.string(), expected, table.rows());
}

}  // namespace

Table read_covertype(const fs::path& folder) {
  Table table = read_csv_table(data_file(folder, data_set("covertype").files[0].name), covertype_form());
  take_checksums(table, "covertype");
  return table;
}

Table read_full_covertype(const fs::path& folder, std::int64_t expected_rows) {
  const fs::path path = data_file(folder, data_set("covertype-full").files[0].name);
  Table table = read_csv_table(path, covertype_form());
  check_rows(table, expected_rows, path);
  return table;
}

PartedTable read_shuttle(const fs::path& folder) {
  std::vector<std::string> names;
  for (int i = 1; i <= 9; ++i) names.push_back(fmt::format("x{}", i));
  names.emplace_back("state");
  return read_parts(folder, "shuttle", {.categorical = {"state"}, .header = std::move(names)});
}

PartedTable read_adult(const fs::path& folder) {
  return read_parts(folder, "adult",
                    {.header = {"age", "workclass", "fnlwgt", "education", "education_years", "marital_status",
                                "occupation", "relationship", "race", "sex", "capital_gain", "capital_loss",
                                "hours_per_week", "native_country", "income"},
                     .comment = '|'});
}

Table read_census(const fs::path& folder, std::int64_t expected_rows) {
  const fs::path path = data_file(folder, data_set("census").files[0].name);
  CsvForm form{.categorical = csv_column_names(path), .ignore = {"caseid"}};
  std::erase(form.categorical, "caseid");
  Table table = read_csv_table(path, form);
  check_rows(table, expected_rows, path);
  return table;
}

}  // namespace stein
