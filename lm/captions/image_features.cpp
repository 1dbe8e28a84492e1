#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/core/line_reader.h>
#include <stein/core/npy.h>
#include <stein/core/read_file.h>
#include <stein/core/safetensors.h>
#include <stein/lm/captions/image_features.h>

#include <simdjson.h>

#include <cmath>
#include <optional>
#include <unordered_set>

namespace stein::lm {
namespace {

namespace fs = std::filesystem;

/// The array of a .safetensors file that holds features, as if it had been read from a .npy file.
NpyArray features_of(const Snapshot& file, const fs::path& path) {
  const auto& arrays = file.arrays();
  const auto place = arrays.size() == 1 ? arrays.begin() : arrays.find("features");
  if (place == arrays.end()) {
    std::string names;
    for (const auto& [name, array] : arrays) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", escaped(name));
    fail(ErrorKind::data, "'{}': expected a single array, or one called 'features', found {}", path.string(),
         names.empty() ? "none" : names);
  }
  const Snapshot::Array& array = place->second;
  return {array.type, array.shape, {array.bytes.begin(), array.bytes.end()}, path.string()};
}

NpyArray read_array(const fs::path& path) {
  if (path.extension() == ".npy") return read_npy(path);
  if (path.extension() == ".safetensors") return features_of(read_safetensors(path), path);
  fail(ErrorKind::data, "'{}': expected a file of features that ends in .npy or .safetensors", path.string());
}

std::vector<std::string> ids_of_lines(const fs::path& path) {
  std::vector<std::string> ids;
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    if (!simdjson::validate_utf8(line)) lines.fail_here("expected an id in UTF-8");
    ids.emplace_back(line);
  }
  return ids;
}

std::vector<std::string> ids_of_json(const fs::path& path) {
  const std::string text = read_file(path);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(text).get(root); error != simdjson::SUCCESS)
    fail(ErrorKind::data, "'{}' is no JSON: {}", path.string(), simdjson::error_message(error));
  simdjson::dom::array list;
  if (root.get(list) != simdjson::SUCCESS) fail(ErrorKind::data, "'{}': expected a list of ids", path.string());
  std::vector<std::string> ids;
  for (const simdjson::dom::element element : list) {
    std::string_view id;
    if (element.get(id) != simdjson::SUCCESS)
      fail(ErrorKind::data, "'{}': expected a list of texts, item {} is none", path.string(), ids.size() + 1);
    ids.emplace_back(id);
  }
  return ids;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

inference::Matrix<float> read_image_features(const fs::path& path) {
  const NpyArray array = read_array(path);
  if (array.shape.size() != 2 || array.size() == 0)
    fail(ErrorKind::data, "'{}': expected a matrix of images by features, found the shape [{}]", path.string(),
         fmt::join(array.shape, ", "));
  const std::vector<float> numbers = array.to_floats();
  inference::Matrix<float> features(array.shape[0], array.shape[1]);
  for (std::int64_t row = 0; row < features.rows(); ++row)
    for (std::int64_t column = 0; column < features.columns(); ++column) {
      const float number = numbers[static_cast<std::size_t>(row * features.columns() + column)];
      if (!std::isfinite(number))
        fail(ErrorKind::data, "'{}': the features must be finite, row {} has {} in column {}", path.string(), row,
             number, column);
      features.view()(row, column) = number;
    }
  return features;
}

void check_feature_width(const fs::path& path, std::int64_t found, std::int64_t expected) {
  if (found != expected)
    fail(ErrorKind::data, "'{}' has {} features an image: expected {}, which the run's network reads", path.string(),
         found, expected);
}

std::vector<std::string> read_image_ids(const fs::path& path) {
  if (path.extension() != ".txt" && path.extension() != ".json")
    fail(ErrorKind::data, "'{}': expected a file of ids that ends in .txt or .json", path.string());
  std::vector<std::string> ids = path.extension() == ".txt" ? ids_of_lines(path) : ids_of_json(path);
  if (ids.empty()) fail(ErrorKind::data, "'{}' has no id", path.string());
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].empty()) fail(ErrorKind::data, "'{}': id {} is empty", path.string(), i + 1);
    if (!seen.insert(ids[i]).second)
      fail(ErrorKind::data, "'{}' has the id '{}' twice", path.string(), escaped(ids[i]));
  }
  return ids;
}

fs::path ids_beside(const fs::path& features) {
  const fs::path text = fs::path(features).replace_extension(".txt"),
                 json = fs::path(features).replace_extension(".json");
  if (is_file(text) == is_file(json))
    fail(ErrorKind::data, "expected the ids of the rows of '{}' in one of '{}' and '{}', found {}", features.string(),
         text.string(), json.string(), is_file(text) ? "both" : "neither");
  return is_file(text) ? text : json;
}

}  // namespace stein::lm
