#include <fmt/ranges.h>
#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/core/safetensors.h>
#include <stein/lm/scenes/scene_features.h>

#include <algorithm>
#include <cmath>

namespace stein::lm {
namespace {

constexpr float largest_byte = 255;

std::int64_t scenes_in(const SceneSet& set) {
  return std::ssize(set.train) + std::ssize(set.validation) + std::ssize(set.test);
}

/// low + step × byte for the bytes of a column.
struct ColumnScale {
  float low, step;
};

ColumnScale scale_of(inference::MatrixView<const float> features, std::int64_t column) {
  float low = features(0, column), high = low;
  for (std::int64_t row = 0; row < features.rows; ++row) {
    const float number = features(row, column);
    STEIN_CHECK(std::isfinite(number), "the features of scenes must be finite, row {} has {} in column {}", row, number,
                column);
    low = std::min(low, number), high = std::max(high, number);
  }
  return {low, (high - low) / largest_byte};
}

void check_shape(const Snapshot& file, const char* name, ElementType type, const std::vector<std::int64_t>& shape,
                 const std::filesystem::path& path) {
  const auto place = file.arrays().find(name);
  if (place == file.arrays().end() || place->second.type != type || place->second.shape != shape)
    fail(ErrorKind::data, "'{}': expected an array '{}' of {} and of the shape [{}]", path.string(), name,
         safetensors_name(type), fmt::join(shape, ", "));
}

}  // namespace

void write_scene_features(const std::filesystem::path& path, inference::MatrixView<const float> features,
                          const SceneSet& set) {
  STEIN_CHECK(features.rows == scenes_in(set) && features.columns >= 1,
              "expected features of {} scenes, at least one each, got a matrix [{}, {}]", scenes_in(set), features.rows,
              features.columns);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(features.rows * features.columns));
  std::vector<float> low, step;
  for (std::int64_t column = 0; column < features.columns; ++column) {
    const ColumnScale scale = scale_of(features, column);
    low.push_back(scale.low), step.push_back(scale.step);
    for (std::int64_t row = 0; row < features.rows; ++row) {
      const float place = scale.step > 0 ? (features(row, column) - scale.low) / scale.step : 0;
      bytes[static_cast<std::size_t>(row * features.columns + column)] =
          static_cast<std::uint8_t>(std::lround(std::clamp(place, 0.0F, largest_byte)));
    }
  }
  Snapshot file;
  file.put("features", std::span<const std::uint8_t>(bytes), {features.rows, features.columns});
  file.put("low", low);
  file.put("step", step);
  write_safetensors(path, file, {{"scenes", scene_set_checksum(set)}});
}

inference::Matrix<float> read_scene_features(const std::filesystem::path& path, const SceneSet& set) {
  const Snapshot file = read_safetensors(path);
  if (!file.contains("low") || !file.texts().contains("scenes"))
    fail(ErrorKind::data, "'{}': expected features of scenes, with an array 'low' and a text 'scenes'", path.string());
  const auto columns = static_cast<std::int64_t>(file.size_of("low"));
  check_shape(file, "low", ElementType::float32, {columns}, path);
  check_shape(file, "step", ElementType::float32, {columns}, path);
  check_shape(file, "features", ElementType::uint8, {scenes_in(set), columns}, path);
  if (file.get_text("scenes") != scene_set_checksum(set))
    fail(ErrorKind::data, "'{}' has the features of other scenes: expected those of the checksum {}, found {}",
         path.string(), scene_set_checksum(set), file.get_text("scenes"));
  const auto low = file.get_vector<float>("low"), step = file.get_vector<float>("step");
  const auto bytes = file.get_vector<std::uint8_t>("features");
  inference::Matrix<float> features(scenes_in(set), columns);
  for (std::int64_t row = 0; row < features.rows(); ++row)
    for (std::size_t column = 0; column < low.size(); ++column)
      features.row(row)[column] =
          low[column] + step[column] * bytes[static_cast<std::size_t>(row) * low.size() + column];
  return features;
}

std::filesystem::path scene_features_file() {
  std::filesystem::path file = share_folder("scenes") / "scene_features.safetensors";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    fail(ErrorKind::io, "the features of the scenes were expected in '{}'", file.string());
  return file;
}

}  // namespace stein::lm
