// Losses of texts in summaries and result files.
#pragma once

#include <stein/lm/text/vocabulary.h>

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace stein::lm {

/// {loss, perplexity, bits_per_character} of losses in nats a token, one a seed; bits are null unless tokens are bytes
/// or characters.
nlohmann::ordered_json loss_json(const std::vector<double>& losses, TokenUnit unit);

}  // namespace stein::lm
