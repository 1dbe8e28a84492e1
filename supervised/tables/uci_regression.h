// The regression tables of the UCI repository, with the splits of Gal & Ghahramani (2016).
#pragma once

#include <stein/supervised/tables/table_set.h>

#include <string>

namespace stein::supervised {

/// Reads the files of one table from the data set "uci-regression": `data.txt` has numbers with blanks between, a row a
/// line; `columns.txt` two lines, `features` and `target`, with positions of columns; `splits_test.txt` a line a split
/// with the positions of its test rows. Columns are called x0, x1, … by their position, the target y.
/// @throws Error(data) naming file and line for what is not so, and for rows that a split has twice or that there are
/// not
TableSet read_uci_regression(const std::string& name, const std::filesystem::path& folder);

}  // namespace stein::supervised
