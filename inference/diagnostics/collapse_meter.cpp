#include <stein/core/error.h>
#include <stein/inference/diagnostics/collapse_meter.h>

namespace stein::inference {

double mean_variance(MatrixView<const float> values, const Layout& layout, Role role) {
  const double rows = static_cast<double>(values.rows);
  double total = 0;
  std::int64_t count = 0;
  for (const LayoutEntry& entry : layout.entries()) {
    if (entry.role != role) continue;
    count += entry.size();
    for (std::int64_t q = entry.offset; q < entry.offset + entry.extent(); ++q) {
      double sum = 0, square = 0;
      const double origin = values(0, q);  // differences from the first particle keep their digits
      for (std::int64_t i = 0; i < values.rows; ++i) {
        const double difference = values(i, q) - origin;
        sum += difference;
        square += difference * difference;
      }
      total += square / rows - sum * sum / (rows * rows);
    }
  }
  STEIN_CHECK(count > 0, "collapse meter: the layout has no coordinate of that role");
  return total / static_cast<double>(count);
}

}  // namespace stein::inference
