// Whether the data of a run are still those that it began with.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stein::runs {

/// Throws Error(data) for the first file whose sum is another than in the field `data` of the manifest; files that one
/// of both lacks are passed over.
/// @param manifest   of the run that is to go on
/// @param checksums  file name → SHA-256 of what was read now
/// @param what       "the log": what the sentence calls a file
/// @param advice     how the sentence ends: "begin a new run"
void check_data_checksums(const nlohmann::ordered_json& manifest, const std::map<std::string, std::string>& checksums,
                          std::string_view what, std::string_view advice);

}  // namespace stein::runs
