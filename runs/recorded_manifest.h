// What the manifest of a run on disk says.
#pragma once

#include <stein/core/run_directory.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace stein::runs {

/// manifest.json of a run. Throws Error(data) if it is no JSON object, or has something else where a text is expected.
nlohmann::ordered_json read_manifest(const RunDirectory& directory);

/// The commits of all programs that worked on the run, the first one's first.
std::vector<std::string> commits_of(const nlohmann::ordered_json& manifest);

/// The device that the run was on last; "cpu" where nobody knows.
std::string last_device(const nlohmann::ordered_json& manifest);

/// What the run began with as `option`; nothing where it had none of that name, and for runs of earlier versions, which
/// do not say.
std::optional<std::string> first_setting(const nlohmann::ordered_json& manifest, const std::string& option);

/// The folder with data sets that the run began with, or empty.
std::string data_folder(const nlohmann::ordered_json& manifest);

}  // namespace stein::runs
