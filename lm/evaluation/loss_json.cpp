#include <stein/lm/evaluation/loss_json.h>
#include <stein/runs/measured.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

namespace stein::lm {

using Json = nlohmann::ordered_json;

Json loss_json(const std::vector<double>& losses, TokenUnit unit) {
  std::vector<double> perplexities, bits;
  for (const double loss : losses) {
    perplexities.push_back(std::exp(loss));
    bits.push_back(loss / std::numbers::ln2);
  }
  return {{"loss", runs::measured(losses)},
          {"perplexity", runs::measured(perplexities)},
          {"bits_per_character", unit == TokenUnit::words ? Json(nullptr) : runs::measured(bits)}};
}

Json curves_json(const std::vector<TextLosses>& losses) {
  Json json;
  const auto add = [&](const char* name, const auto& of) {
    Json seeds = Json::array();
    for (const TextLosses& each : losses) {
      Json values = Json::array();
      for (const double loss : of(each)) values.push_back(runs::rounded(loss));
      seeds.push_back(std::move(values));
    }
    json[name] = std::move(seeds);
  };
  add("forward", [](const TextLosses& l) { return l.forward; });
  add("backward", [](const TextLosses& l) { return l.backward; });
  add("thinned", [](const TextLosses& l) { return l.thinned; });
  return json;
}

}  // namespace stein::lm
