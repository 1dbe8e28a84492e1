#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/runs/json_file.h>

#include <nlohmann/json.hpp>

namespace stein::runs {

nlohmann::ordered_json read_json_object(const std::filesystem::path& path) {
  auto json = nlohmann::ordered_json::parse(read_file(path), nullptr, false);
  if (!json.is_object()) fail(ErrorKind::data, "'{}' is no JSON object", path.string());
  return json;
}

}  // namespace stein::runs
