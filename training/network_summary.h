// What the summaries of all trained networks have in common, as a person reads them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stein::training {

/// "lstm 2x200 psgld": what a run is called beside others of its data.
std::string network_label(const nlohmann::ordered_json& summary);

/// The first line: network, method, data, weights, epochs, seeds.
std::string summary_head(const nlohmann::ordered_json& summary);

/// The last lines: what the temperature meters read, speed, memory and time.
/// @param rate, unit  the field with the speed, and what it counts: "tokens_per_second", "tokens/s"
std::string summary_foot(const nlohmann::ordered_json& summary, const char* rate, const char* unit);

}  // namespace stein::training
