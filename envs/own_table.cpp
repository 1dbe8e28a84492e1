#include <stein/core/data/csv_table.h>
#include <stein/core/error.h>
#include <stein/envs/own_table.h>

#include <fmt/ranges.h>

#include <algorithm>

namespace stein::envs {
namespace {

const bool registered =
    register_bandit<OwnTable>("table", "a table of your own: which class has this row? (file and target say which)");

Table read_complete_rows(const OwnTable::Options& options) {
  STEIN_CHECK(!options.file.empty(),
              "option 'file': expected a file of comma-separated values whose rows are contexts, got none");
  STEIN_CHECK(!options.target.empty(),
              "option 'target': expected the column whose classes are the arms, got none; '{}' has {}",
              options.file.string(), fmt::join(csv_column_names(options.file), ", "));
  STEIN_CHECK(std::ranges::find(options.ignore, options.target) == options.ignore.end(),
              "option 'ignore': the column '{}' cannot be the target and be left out", options.target);
  // Whole numbers are names of classes here, however they are written.
  std::vector<std::string> categorical = options.categorical;
  const std::vector<std::string> columns = csv_column_names(options.file);
  if (std::ranges::find(columns, options.target) != columns.end()) categorical.push_back(options.target);
  Table table = read_csv_table(options.file, {.categorical = std::move(categorical), .ignore = options.ignore});
  const std::vector<std::int64_t> complete = table.complete_rows();
  if (complete.empty()) fail(ErrorKind::data, "every row of '{}' has a missing cell", options.file.string());
  table.keep_rows(complete);
  return table;
}

}  // namespace

void OwnTable::Options::make_paths_absolute() {
  if (!file.empty()) file = std::filesystem::absolute(file).lexically_normal();
}

OwnTable::OwnTable(const Options& options, const DataSource&)
    : Classification(read_complete_rows(options), options.target,
                     {.name = "table", .data = "real", .source = "a table of one's own"}) {}

}  // namespace stein::envs
