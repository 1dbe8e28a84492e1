// What a person should know of a table before it is learned from.
#pragma once

#include <stein/supervised/tables/table_encoding.h>
#include <stein/supervised/tables/table_set.h>
#include <stein/supervised/tables/table_split.h>

#include <string>
#include <vector>

namespace stein::supervised {

/// Sentences about cells that are missing, columns that are left out, and categories that no training row has.
std::vector<std::string> table_notices(const TableSet& set, const TableSplit& split, const TableEncoding& encoding);

}  // namespace stein::supervised
