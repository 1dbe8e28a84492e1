#include <stein/core/error.h>
#include <stein/inference/diagnostics/collapse_meter.h>

namespace stein::inference {

ParticleSpread::ParticleSpread(MatrixView<const float> values, const Layout& layout, Role role)
    : rows_(static_cast<double>(values.rows)) {
  STEIN_CHECK(values.rows >= 1, "collapse meter: expected at least one particle");
  for (const LayoutEntry& entry : layout.entries()) {
    if (entry.role != role) continue;
    for (std::int64_t q = entry.offset; q < entry.offset + entry.extent(); ++q) {
      Coordinate& coordinate = coordinates_.emplace_back(Coordinate{.origin = values(0, q), .sum = 0, .square = 0});
      for (std::int64_t i = 0; i < values.rows; ++i) {
        const double difference = values(i, q) - coordinate.origin;
        coordinate.sum += difference;
        coordinate.square += difference * difference;
      }
    }
  }
  STEIN_CHECK(!coordinates_.empty(), "collapse meter: the layout has no coordinate of that role");
}

void ParticleSpread::merge(const ParticleSpread& other) {
  STEIN_CHECK(other.coordinates_.size() == coordinates_.size(), "collapse meter: expected {} coordinates, got {}",
              coordinates_.size(), other.coordinates_.size());
  for (std::size_t q = 0; q < coordinates_.size(); ++q) {
    Coordinate& own = coordinates_[q];
    const Coordinate& added = other.coordinates_[q];
    const double shift = added.origin - own.origin;
    own.square += added.square + 2 * shift * added.sum + other.rows_ * shift * shift;
    own.sum += added.sum + other.rows_ * shift;
  }
  rows_ += other.rows_;
}

double ParticleSpread::mean_variance() const {
  double total = 0;
  for (const Coordinate& coordinate : coordinates_)
    total += coordinate.square / rows_ - coordinate.sum * coordinate.sum / (rows_ * rows_);
  return total / static_cast<double>(coordinates_.size());
}

double mean_variance(MatrixView<const float> values, const Layout& layout, Role role) {
  return ParticleSpread(values, layout, role).mean_variance();
}

}  // namespace stein::inference
