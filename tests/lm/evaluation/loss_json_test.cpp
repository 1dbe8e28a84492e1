// Losses of texts as summaries tell them.
#include <stein/lm/evaluation/loss_json.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <vector>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("losses are told in nats, as perplexities, and in bits a character where tokens are no words", "[lm][loss]") {
  // Two seeds that give every token a probability of 1/2 and of 1/8: one bit and three.
  const std::vector<double> losses{std::numbers::ln2, 3 * std::numbers::ln2};
  const auto check = [&](const Json& json, const char* key, double first, double second) {
    CHECK(json[key]["mean"].get<double>() == Approx((first + second) / 2));
    REQUIRE(json[key]["per_seed"].size() == 2);
    CHECK(json[key]["per_seed"][0].get<double>() == Approx(first));
    CHECK(json[key]["per_seed"][1].get<double>() == Approx(second));
  };
  for (const std::optional<double> tokens_a_character : {std::optional<double>{}, {1.0}, {1.5}}) {
    const Json json = loss_json(losses, tokens_a_character);
    check(json, "loss", 0.69314718, 2.07944154);
    check(json, "perplexity", 2, 8);
    if (tokens_a_character)
      check(json, "bits_per_character", *tokens_a_character, 3 * *tokens_a_character);
    else
      CHECK(json["bits_per_character"].is_null());
  }
}

}  // namespace
}  // namespace stein::lm
