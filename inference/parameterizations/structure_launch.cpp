#include <stein/core/error.h>
#include <stein/inference/parameterizations/matrix_gaussian_layout.h>
#include <stein/inference/parameterizations/structure_launch.h>

#include <algorithm>

namespace stein::inference {
namespace {

int offset_of(const std::optional<LayoutEntry>& entry) {
  return entry ? static_cast<int>(entry->offset) : StructurePlaces::none;
}

int reflectors_in(const std::optional<LayoutEntry>& entry) {
  return entry ? static_cast<int>(entry->rows()) : 0;
}

}  // namespace

StructurePlaces::StructurePlaces(const MatrixGaussianLayout& layout) {
  STEIN_CHECK(std::ssize(layout.matrices) <= most_matrices && std::ssize(layout.plain) <= most_plain,
              "structured weights on a device: expected at most {} matrices and {} other parameters, got {} and {}",
              most_matrices, most_plain, layout.matrices.size(), layout.plain.size());
  for (const StructuredMatrix& from : layout.matrices)
    matrix[matrices++] = {.rows = static_cast<int>(from.core.rows()),
                          .columns = static_cast<int>(from.core.columns()),
                          .weight = static_cast<int>(from.weight.offset),
                          .core = static_cast<int>(from.core.offset),
                          .log_scale_left = offset_of(from.log_scale_left),
                          .log_scale_right = offset_of(from.log_scale_right),
                          .reflectors_left = offset_of(from.reflectors_left),
                          .reflectors_right = offset_of(from.reflectors_right),
                          .left = reflectors_in(from.reflectors_left),
                          .right = reflectors_in(from.reflectors_right)};
  for (const auto& [weight, coordinate] : layout.plain)
    plain[plains++] = {static_cast<int>(weight.offset), static_cast<int>(coordinate.offset),
                       static_cast<int>(weight.size())};
}

std::int64_t StructurePlaces::Matrix::kept_floats() const {
  const std::int64_t k = left, l = right;
  return numbers() + k * columns + rows * l + k * k + l * l;
}

std::int64_t StructurePlaces::Matrix::working_floats() const {
  const std::int64_t k = left, l = right, most = std::max(k, l);
  return numbers() + 2 * (rows * l + k * columns) + most * most;
}

std::int64_t StructurePlaces::kept_floats() const {
  std::int64_t sum = 0;
  for (int m = 0; m < matrices; ++m) sum += matrix[m].kept_floats();
  return sum;
}

std::int64_t StructurePlaces::working_floats() const {
  std::int64_t most = 0;
  for (int m = 0; m < matrices; ++m) most = std::max(most, matrix[m].working_floats());
  return most;
}

std::int64_t StructurePlaces::shared_floats(bool backward) const {
  constexpr std::int64_t threads = 256;  // of a block, each with three partial sums
  std::int64_t most = 0;
  for (int m = 0; m < matrices; ++m) {
    const std::int64_t rows = matrix[m].rows, columns = matrix[m].columns, longest = std::max(rows, columns);
    const std::int64_t numbers = rows * (columns | 1);
    most = std::max(most, (backward ? 2 : 1) * numbers + rows + columns + 2 * longest + 2 * std::max(longest, threads) +
                              threads + 1);
  }
  return most;
}

}  // namespace stein::inference
