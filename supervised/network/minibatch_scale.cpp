#include <stein/supervised/network/minibatch_scale.h>

#include <cmath>

namespace stein::supervised {

void standardise_columns(inference::MatrixView<float> numbers) {
  const auto count = static_cast<double>(numbers.rows);
  for (std::int64_t i = 0; i < numbers.columns; ++i) {
    double sum = 0, squares = 0;
    for (std::int64_t row = 0; row < numbers.rows; ++row) sum += numbers(row, i);
    const double mean = sum / count;
    for (std::int64_t row = 0; row < numbers.rows; ++row)
      squares += (numbers(row, i) - mean) * (numbers(row, i) - mean);
    const double variance = squares / count;
    constexpr double rounding = 1e-12;
    const double factor = variance > rounding ? 1 / std::sqrt(variance) : 0;
    for (std::int64_t row = 0; row < numbers.rows; ++row)
      numbers(row, i) = static_cast<float>(factor * (numbers(row, i) - mean));
  }
}

}  // namespace stein::supervised
