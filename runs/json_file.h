// JSON files of a run.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace stein::runs {

/// The JSON object that `path` holds. Throws Error(data) if there is no such file, or something else in it.
nlohmann::ordered_json read_json_object(const std::filesystem::path& path);

}  // namespace stein::runs
