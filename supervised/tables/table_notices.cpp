#include <stein/runs/measured.h>
#include <stein/supervised/tables/table_notices.h>

#include <algorithm>

namespace stein::supervised {
std::vector<std::string> table_notices(const TableSet& set, const TableSplit& split, const TableEncoding& encoding) {
  std::vector<std::string> notices, missing;
  for (const std::size_t c : set.inputs) {
    const Column& column = set.table.columns[c];
    if (const std::int64_t cells = column.missing_cells(); cells > 0)
      missing.push_back(fmt::format("{} ({})", column.name, cells));
  }
  if (!missing.empty())
    notices.push_back(fmt::format(
        "cells without a value: {}; numbers stand at the mean of the training rows, categories at none of them",
        runs::few(missing)));
  if (!encoding.constant().empty())
    notices.push_back(
        fmt::format("left out, since all rows of training have the same: {}", runs::few(encoding.constant())));
  for (const auto& [part, rows] : {std::pair("validation", &split.validation), std::pair("test", &split.test)}) {
    std::vector<std::string> unknown;
    for (const auto& [column, categories] : encoding.unknown(set.table, *rows))
      for (const auto& [category, cells] : categories)
        unknown.push_back(fmt::format("{}={} ({})", column, category, runs::counted(cells, "row")));
    if (!unknown.empty())
      notices.push_back(fmt::format("categories of the {} part that no row of training has, and that say nothing: {}",
                                    part, runs::few(unknown)));
  }
  return notices;
}

}  // namespace stein::supervised
