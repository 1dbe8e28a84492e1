// Which rows of a table are for what.
#pragma once

#include <stein/supervised/tables/table_set.h>

#include <cstdint>
#include <vector>

namespace stein::supervised {

/// Rows of each part, ascending; no row is in two of them.
struct TableSplit {
  std::vector<std::int64_t> train, validation, test;
};

/// Parts a table for a seed of a run. The test part is the one that the set has; or published split `seed`; or
/// `options.test_share` of the rows, rounded, drawn from (`options.split_seed`, seed). Of the others
/// `options.validation_share`, rounded, are drawn for validation. Neither draw looks at targets.
/// @throws Error(usage) for a seed that has no published split; Error(data) where no row is left for the test or for
///         training
TableSplit split_table(const TableSet& set, const TableOptions& options, std::uint64_t seed);

}  // namespace stein::supervised
