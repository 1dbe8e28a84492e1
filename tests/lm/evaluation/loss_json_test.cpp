// Losses of texts as summaries tell them.
#include <stein/lm/evaluation/loss_json.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <numbers>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("losses are told in nats, as perplexities, and in bits where tokens are bytes or characters", "[lm][loss]") {
  // Two seeds that give every token a probability of 1/2 and of 1/8: one bit and three.
  const std::vector<double> losses{std::numbers::ln2, 3 * std::numbers::ln2};
  for (const TokenUnit unit : {TokenUnit::words, TokenUnit::bytes, TokenUnit::characters}) {
    CAPTURE(unit_name(unit));
    const Json json = loss_json(losses, unit);
    const auto check = [&](const char* key, double first, double second) {
      CHECK(json[key]["mean"].get<double>() == Approx((first + second) / 2));
      REQUIRE(json[key]["per_seed"].size() == 2);
      CHECK(json[key]["per_seed"][0].get<double>() == Approx(first));
      CHECK(json[key]["per_seed"][1].get<double>() == Approx(second));
    };
    check("loss", 0.69314718, 2.07944154);
    check("perplexity", 2, 8);
    if (unit == TokenUnit::words)
      CHECK(json["bits_per_character"].is_null());
    else
      check("bits_per_character", 1, 3);
  }
}

}  // namespace
}  // namespace stein::lm
