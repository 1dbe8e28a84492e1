#include <stein/core/error.h>
#include <stein/inference/parameterizations/matrix_gaussian_layout.h>

#include <algorithm>

namespace stein::inference {
namespace {

/// "layer0." of "layer0.weight"; "weight_ih_l0." of "weight_ih_l0".
std::string part_prefix(const std::string& name) {
  constexpr std::string_view suffix = ".weight";
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size() + 1) : name + ".";
}

StructuredMatrix add_structured(Layout& coordinates, const LayoutEntry& weight, const MatrixGaussianOptions& options) {
  const std::int64_t rows = weight.rows(), columns = weight.columns();
  const std::string prefix = part_prefix(weight.name);
  const auto reflectors = [&](const char* name, std::int64_t size, Role role) -> std::optional<LayoutEntry> {
    if (options.reflectors == 0 || size == 1) return std::nullopt;
    return coordinates.add(prefix + name, {std::min(options.reflectors, size), size}, role, weight.layer);
  };

  StructuredMatrix matrix{
      .weight = weight,
      .core = coordinates.add(weight.name, weight.shape, Role::weight, weight.layer, 0, weight.fan_in)};
  if (options.scales == Scales::free) {
    matrix.log_scale_left = coordinates.add(prefix + "log_scale_left", {rows}, Role::log_scale, weight.layer);
    matrix.log_scale_right = coordinates.add(prefix + "log_scale_right", {columns}, Role::log_scale, weight.layer);
  }
  matrix.reflectors_left = reflectors("reflectors_left", rows, Role::reflector_left);
  matrix.reflectors_right = reflectors("reflectors_right", columns, Role::reflector_right);
  return matrix;
}

bool has_parts(const StructuredMatrix& matrix) {
  return matrix.log_scale_left || matrix.log_scale_right || matrix.reflectors_left || matrix.reflectors_right;
}

}  // namespace

MatrixGaussianLayout matrix_gaussian_layout(Layout weights, const MatrixGaussianOptions& options) {
  static_cast<void>(checked(options));
  MatrixGaussianLayout layout{.weights = std::move(weights)};
  for (const LayoutEntry& entry : layout.weights.entries()) {
    if (entry.role != Role::weight || entry.shape.size() != 2) {
      const LayoutEntry& coordinate =
          layout.coordinates.add(entry.name, entry.shape, entry.role, entry.layer, 0, entry.fan_in);
      layout.plain.push_back({.weight = entry, .coordinate = coordinate});
      continue;
    }
    StructuredMatrix matrix = add_structured(layout.coordinates, entry, options);
    if (has_parts(matrix))
      layout.matrices.push_back(std::move(matrix));
    else
      layout.plain.push_back({.weight = entry, .coordinate = std::move(matrix.core)});
  }
  for (const LayoutEntry& buffer : layout.weights.buffers()) layout.coordinates.add_buffer(buffer.name, buffer.shape);
  return layout;
}

}  // namespace stein::inference
