// The one-dimensional regression of Zhang et al. (2018), whose truth is known.
#pragma once

#include <stein/supervised/tables/table_set.h>

#include <cstdint>

namespace stein::supervised {

/// y = x + ε + sin(4 (x + ε)) + sin(13 (x + ε)) with ε ~ N(0, 0.03²): of every 20 rows 12 have x uniform on (0, 0.6), 8
/// on (0.8, 1). Columns x and y. The same seed, the same table. Throws Error(usage) unless there are at least 20 rows.
TableSet make_regression_toy(std::int64_t rows, std::uint64_t seed);

}  // namespace stein::supervised
