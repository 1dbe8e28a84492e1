// Losses of texts in summaries and result files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace stein::lm {

/// {loss, perplexity, bits_per_character} of losses in nats a token, one a seed.
/// @param tokens_a_character  of the text (tokens_per_character); nothing for words, whose bits are null
nlohmann::ordered_json loss_json(const std::vector<double>& losses, std::optional<double> tokens_a_character = {});

}  // namespace stein::lm
