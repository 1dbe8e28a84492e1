// Places along a column, for a picture of what is predicted there.
#pragma once

#include <stein/core/data/table.h>

#include <vector>

namespace stein::supervised {

/// `count` places at equal distances over the range of a column of numbers and a fifth of it on both sides.
std::vector<double> places_along(const Column& column, int count);

}  // namespace stein::supervised
