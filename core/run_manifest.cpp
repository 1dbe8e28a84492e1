#include <stein/core/run_manifest.h>

#include <nlohmann/json.hpp>

#include <stein/core/error.h>
#include <stein/core/simd_target.h>
#include <stein/core/version.h>

namespace stein {

std::string to_json(const RunManifest& manifest) {
  using Json = nlohmann::ordered_json;
  const Json protocol = Json::parse(manifest.protocol, nullptr, false);
  STEIN_CHECK(protocol.is_object(), "the protocol of a run manifest must be a JSON object, got {}", manifest.protocol);
  Json json;
  json["program"] = "stein";
  json["version"] = version();
  json["commit"] = commit();
  json["command"] = manifest.command;
  json["kind"] = manifest.kind.empty() ? manifest.command : manifest.kind;
  json["seeds"] = {manifest.first_seed, manifest.end_seed};
  json["threads"] = manifest.threads;
  if (manifest.ranks > 1) json["ranks"] = manifest.ranks;
  json["device"] = manifest.device;
  json["simd_target"] = simd_target();
  json["simd_targets_compiled"] = compiled_simd_targets();
  json["data"] = manifest.data_checksums;
  if (!manifest.preset.empty()) json["preset"] = manifest.preset;
  json["result_files"] = manifest.result_files;
  if (!manifest.settings.empty()) json["settings"] = manifest.settings;
  json["protocol"] = protocol;
  return json.dump(2) + "\n";
}

}  // namespace stein
