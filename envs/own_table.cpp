#include <stein/core/data/csv_table.h>
#include <stein/core/error.h>
#include <stein/envs/own_table.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stein::envs {
namespace {

const bool registered =
    register_bandit<OwnTable>("table", "a table of your own: which class has this row? (file and target say which)");

OwnTable::CompleteRows read_complete_rows(const OwnTable::Options& options) {
  STEIN_CHECK(!options.file.empty(),
              "option 'file': expected a file of comma-separated values whose rows are contexts, got none");
  STEIN_CHECK(!options.target.empty(),
              "option 'target': expected the column whose classes are the arms, got none; '{}' has {}",
              options.file.string(), fmt::join(csv_column_names(options.file), ", "));
  STEIN_CHECK(std::ranges::find(options.ignore, options.target) == options.ignore.end(),
              "option 'ignore': the column '{}' cannot be the target and be left out", options.target);
  const bool is_named = std::ranges::find(options.categorical, options.target) != options.categorical.end();
  Table table = read_csv_table(
      options.file, {.categorical = options.categorical, .classes = options.target, .ignore = options.ignore});
  for (const std::string& name : table.columns[table.find(options.target, "a bandit's target")].categories)
    if (const auto number = number_in(name); !is_named && number && *number != std::floor(*number))
      fail(ErrorKind::data,
           "the target '{}' of '{}' has numbers that are not whole, such as {}: where they are classes all the same, "
           "name it in 'categorical'",
           options.target, options.file.string(), name);
  const std::vector<std::int64_t> complete = table.complete_rows();
  if (complete.empty()) fail(ErrorKind::data, "every row of '{}' has a missing cell", options.file.string());
  std::string notice;
  if (std::ssize(complete) < table.rows())
    notice = fmt::format("{} of {} rows of '{}' play: the others have a missing cell", complete.size(), table.rows(),
                         options.file.filename().string());
  table.keep_rows(complete);
  return {std::move(table), std::move(notice)};
}

}  // namespace

void OwnTable::Options::make_paths_absolute() {
  if (!file.empty()) file = std::filesystem::absolute(file).lexically_normal();
}

OwnTable::OwnTable(const Options& options, const DataSource&) : OwnTable(read_complete_rows(options), options.target) {}

OwnTable::OwnTable(const CompleteRows& rows, const std::string& target)
    : Classification(rows.table, target,
                     {.name = "table", .data = "real", .source = "a table of one's own", .notice = rows.notice}) {}

}  // namespace stein::envs
