// The options of tables as parts of experiments.
#pragma once

#include <stein/runs/part.h>
#include <stein/supervised/tables/table_set.h>

#include <vector>

namespace stein::supervised {

/// One of a file of one's own, and one of every registered table with such a target.
std::vector<runs::Part> table_parts(TargetKind kind);

}  // namespace stein::supervised
