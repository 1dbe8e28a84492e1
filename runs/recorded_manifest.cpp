#include <stein/core/error.h>
#include <stein/runs/json_file.h>
#include <stein/runs/recorded_manifest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::runs {

using Json = nlohmann::ordered_json;

Json read_manifest(const RunDirectory& directory) {
  const std::string path = directory.manifest().string();
  Json manifest = read_json_object(path);
  const auto check = [&](const char* key, const char* what, bool (*fits)(const Json&)) {
    const auto field = manifest.find(key);
    if (field == manifest.end() || fits(*field)) return;
    fail(ErrorKind::data, "'{}': expected {} for '{}', found {}", path, what, key, field->dump());
  };
  for (const char* key : {"command", "kind", "preset", "commit", "simd_target"})
    check(key, "a text", [](const Json& value) { return value.is_string(); });
  check("protocol", "an object", [](const Json& value) { return value.is_object(); });
  if (manifest.contains("protocol") && manifest["protocol"].contains("data_folder") &&
      !manifest["protocol"]["data_folder"].is_string())
    fail(ErrorKind::data, "'{}': expected a text for 'data_folder', found {}", path,
         manifest["protocol"]["data_folder"].dump());
  check("later_commits", "a list of texts", [](const Json& value) {
    return value.is_array() && std::ranges::all_of(value, [](const Json& commit) { return commit.is_string(); });
  });
  return manifest;
}

std::vector<std::string> commits_of(const Json& manifest) {
  std::vector<std::string> commits{manifest.value("commit", "unknown")};
  for (const std::string& later : manifest.value("later_commits", std::vector<std::string>())) commits.push_back(later);
  return commits;
}

std::string data_folder(const Json& manifest) {
  const auto protocol = manifest.find("protocol");
  return protocol != manifest.end() && protocol->is_object() ? protocol->value("data_folder", "") : "";
}

}  // namespace stein::runs
