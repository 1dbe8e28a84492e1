// The summary of captioning models for a person.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stein::lm {

/// The lines that a person sees.
std::string readable_caption_summary(const nlohmann::ordered_json& summary);

/// "averaged over 10   CIDEr-D 1.23 ± 0.01, BLEU-4 …, perplexity …": one line of what `quality_json` made.
std::string readable_caption_scores(const std::string& name, const nlohmann::ordered_json& scores);

}  // namespace stein::lm
