#include <stein/supervised/tables/column_places.h>

namespace stein::supervised {

std::vector<double> places_along(const Column& column, int count) {
  constexpr double margin = 0.2;
  const auto [low, high] = column.range();
  std::vector<double> places;
  for (int i = 0; i < count; ++i) places.push_back(low + (high - low) * (-margin + (1 + 2 * margin) * i / (count - 1)));
  return places;
}

}  // namespace stein::supervised
