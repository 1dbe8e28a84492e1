// The summary of language models for a person.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stein::lm {

/// The lines that a person sees.
std::string readable_language_summary(const nlohmann::ordered_json& summary);

}  // namespace stein::lm
