#include <stein/lm/evaluation/loss_json.h>
#include <stein/runs/measured.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

namespace stein::lm {

using Json = nlohmann::ordered_json;

Json loss_json(const std::vector<double>& losses, std::optional<double> tokens_a_character) {
  std::vector<double> perplexities, bits;
  for (const double loss : losses) {
    perplexities.push_back(std::exp(loss));
    bits.push_back(tokens_a_character.value_or(1) * loss / std::numbers::ln2);
  }
  return {{"loss", runs::measured(losses)},
          {"perplexity", runs::measured(perplexities)},
          {"bits_per_character", tokens_a_character ? runs::measured(bits) : Json(nullptr)}};
}

}  // namespace stein::lm
