// The summary of a replay as a person sees it in a terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace stein::replay {

/// The lines that a person sees of the summary of a replay.
std::string readable_replay_summary(const nlohmann::ordered_json& summary);

}  // namespace stein::replay
