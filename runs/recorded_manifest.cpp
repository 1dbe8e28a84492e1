#include <stein/core/error.h>
#include <stein/runs/json_file.h>
#include <stein/runs/recorded_manifest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::runs {

using Json = nlohmann::ordered_json;

namespace {

bool is_text(const Json& value) {
  return value.is_string();
}

bool are_texts(const Json& values) {
  return std::ranges::all_of(values, is_text);
}

/// [{"device": "cuda", "steps": 40}, …]
bool are_devices(const Json& values) {
  return values.is_array() && std::ranges::all_of(values, [](const Json& value) {
           return value.is_object() && value.contains("device") && is_text(value["device"]);
         });
}

}  // namespace

Json read_manifest(const RunDirectory& directory) {
  const std::string path = directory.manifest().string();
  Json manifest = read_json_object(path);
  const auto check = [&](const Json& object, const char* key, const char* what, bool (*fits)(const Json&)) {
    const auto field = object.find(key);
    if (field == object.end() || fits(*field)) return;
    fail(ErrorKind::data, "'{}': expected {} for '{}', found {}", path, what, key, field->dump());
  };
  for (const char* key : {"command", "kind", "preset", "commit", "simd_target", "device"})
    check(manifest, key, "a text", is_text);
  check(manifest, "protocol", "an object", [](const Json& value) { return value.is_object(); });
  check(manifest.value("protocol", Json::object()), "data_folder", "a text", is_text);
  check(manifest, "later_commits", "a list of texts",
        [](const Json& value) { return value.is_array() && are_texts(value); });
  check(manifest, "later_devices", "a list of devices", are_devices);
  check(manifest, "settings", "an object of texts",
        [](const Json& value) { return value.is_object() && are_texts(value); });
  return manifest;
}

std::vector<std::string> commits_of(const Json& manifest) {
  std::vector<std::string> commits{manifest.value("commit", "unknown")};
  for (const std::string& later : manifest.value("later_commits", std::vector<std::string>())) commits.push_back(later);
  return commits;
}

std::string last_device(const Json& manifest) {
  const Json later = manifest.value("later_devices", Json::array());
  return later.empty() ? manifest.value("device", "cpu") : later.back()["device"].get<std::string>();
}

std::optional<std::string> first_setting(const Json& manifest, const std::string& option) {
  const Json settings = manifest.value("settings", Json::object());
  if (!settings.contains(option)) return std::nullopt;
  return settings[option].get<std::string>();
}

std::string data_folder(const Json& manifest) {
  return manifest.value("protocol", Json::object()).value("data_folder", "");
}

}  // namespace stein::runs
