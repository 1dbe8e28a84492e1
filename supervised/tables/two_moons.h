// Two half circles that interlock: classes that no line parts.
#pragma once

#include <stein/supervised/tables/table_set.h>

#include <cstdint>

namespace stein::supervised {

/// Row i is of class i mod 2 at an angle t uniform on (0, π): (cos t, sin t) of class `upper`, (1 − cos t, ½ − sin t)
/// of class `lower`, and N(0, 0.2²) is added to both numbers. Columns x1, x2 and class. The same seed, the same table.
/// Throws Error(usage) unless there are at least 20 rows.
TableSet make_two_moons(std::int64_t rows, std::uint64_t seed);

}  // namespace stein::supervised
