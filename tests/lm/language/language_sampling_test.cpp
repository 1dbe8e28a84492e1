// Text that is drawn from a trained network, against what the network says of it.
#include <stein/lm/language/language_sampling.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "lm/language/letters_run.h"
#include "lm/language/next_tokens.h"

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// What the network of a run says of the letter behind a prompt.
class Letters {
 public:
  explicit Letters(const test::LettersRun& run) : network_(run.network()), draws_(network_.draws({})) {}

  std::vector<double> behind(const std::string& prompt) {
    std::vector<std::int32_t> tokens{0};  // no line begins in this text: the first token there is stands for that
    for (const char letter : prompt) tokens.push_back(letter - 'a');
    return test::next_tokens(network_.model(), draws_.get(0).weights, tokens);
  }
  /// The same, raised to a power.
  std::vector<double> behind(const std::string& prompt, double power) {
    std::vector<double> raised = behind(prompt);
    double sum = 0;
    for (double& p : raised) sum += p = std::pow(p, power);
    for (double& p : raised) p /= sum;
    return raised;
  }

 private:
  training::TrainedNetwork network_;
  training::WeightDraws draws_;
};

TEST_CASE("where probabilities are sharp, each letter is the likeliest behind the prompt and those before",
          "[lm][sampling]") {
  const test::LettersRun run;
  Letters letters(run);
  const Json result =
      run.perform<LanguageSampling>({{"prompt", "dbb"}, {"length", "12"}, {"texts", "2"}, {"sharpness", "1e6"}});
  CHECK(result["draws"] == 1);
  CHECK(result["unknown"] == 0);
  std::string expected = "dbb";
  while (expected.size() < 15) {
    const std::vector<double> next = letters.behind(expected);
    expected += "abcd"[std::ranges::max_element(next) - next.begin()];
  }
  CHECK(result["texts"] == Json{expected, expected});
}

TEST_CASE("letters are drawn as often as the network says, its probabilities raised to the power of sharpness",
          "[lm][sampling]") {
  constexpr int texts = 2000;
  const test::LettersRun run;
  Letters letters(run);
  const std::string prompt = "db";
  for (const auto& [text, sharpness] : {std::pair("1", 1.), std::pair("0.5", 0.5), std::pair("3", 3.)}) {
    CAPTURE(sharpness);
    const Json result = run.perform<LanguageSampling>(
        {{"prompt", prompt}, {"length", "2"}, {"texts", std::to_string(texts)}, {"sharpness", text}});
    REQUIRE(result["texts"].size() == texts);
    std::map<std::string, int> counts;
    for (const Json& drawn : result["texts"]) ++counts[drawn.get<std::string>()];
    const std::vector<double> first = letters.behind(prompt, sharpness);
    for (std::size_t a = 0; a < 4; ++a) {
      const std::string begun = prompt + "abcd"[a];
      const std::vector<double> second = letters.behind(begun, sharpness);
      for (std::size_t b = 0; b < 4; ++b) {
        const std::string whole = begun + "abcd"[b];
        const double expected = texts * first[a] * second[b];
        CAPTURE(whole, expected);
        CHECK(std::abs(counts[whole] - expected) < 6 * std::sqrt(expected) + 3);
      }
    }
  }
}

TEST_CASE("texts are drawn from the average over samples, or each with one of them", "[lm][sampling]") {
  // Samples so hot that they disagree on what is likeliest.
  const test::LettersRun run(test::Settings{{"sampler", "psgld"},
                                            {"step_size", "0.3"},
                                            {"temperature", "1"},
                                            {"epochs", "4"},
                                            {"burn_in", "0.2"},
                                            {"samples_per_epoch", "2"}});
  training::TrainedNetwork network = run.network();
  training::WeightDraws draws = network.draws({});
  REQUIRE(draws.count() > 3);
  // The likeliest letters one after the other, of chosen samples.
  const auto likeliest = [&](const std::vector<std::int64_t>& chosen) {
    std::vector<std::int32_t> tokens{0};
    std::string text;
    while (text.size() < 12) {
      std::vector<double> sum(4);
      for (const std::int64_t k : chosen) {
        const std::vector<double> next = test::next_tokens(network.model(), draws.get(k).weights, tokens);
        for (std::size_t letter = 0; letter < 4; ++letter) sum[letter] += next[letter];
      }
      tokens.push_back(static_cast<std::int32_t>(std::ranges::max_element(sum) - sum.begin()));
      text += "abcd"[tokens.back()];
    }
    return text;
  };
  std::vector<std::int64_t> all;
  std::set<std::string> of_one;
  for (std::int64_t k = 0; k < draws.count(); ++k) all.push_back(k), of_one.insert(likeliest({k}));
  REQUIRE(of_one.size() > 1);
  const test::Settings sharp{{"length", "12"}, {"texts", "40"}, {"sharpness", "1e6"}};
  const auto texts_by = [&](const char* by) {
    test::Settings options = sharp;
    options["by"] = by;
    const Json result = run.perform<LanguageSampling>(options);
    return result["texts"].get<std::set<std::string>>();
  };
  CHECK(texts_by("average") == std::set{likeliest(all)});
  CHECK(texts_by("one") == of_one);
}

TEST_CASE("the line of a prompt of words goes on", "[lm][sampling]") {
  const test::TemporaryDirectory folder;
  std::string lines;
  for (int line = 0; line < 120; ++line) lines += line % 3 == 0 ? "a b c d\n" : "b d\n";
  const test::LettersRun run(
      test::Settings{{"data", test::write(folder / "lines.txt", lines).string()}, {"tokens", "words"}});
  training::TrainedNetwork network = run.network();
  training::WeightDraws draws = network.draws({});
  const Vocabulary vocabulary = saved_vocabulary(network.meaning());
  std::vector<std::int32_t> tokens;  // the end of a line, the prompt, and what is likeliest behind them
  for (const std::string_view word : {end_of_sentence, std::string_view("a"), std::string_view("b")})
    tokens.push_back(vocabulary.find(word).value());
  while (tokens.size() < 3 + 6) {
    const std::vector<double> next = test::next_tokens(network.model(), draws.get(0).weights, tokens);
    tokens.push_back(static_cast<std::int32_t>(std::ranges::max_element(next) - next.begin()));
  }
  const Json result = run.perform<LanguageSampling>({{"prompt", "a b"}, {"length", "6"}, {"sharpness", "1e6"}});
  CHECK(result["unknown"] == 0);
  CHECK(result["texts"][0] == readable_text(std::span(tokens).subspan(1), vocabulary));
}

}  // namespace
}  // namespace stein::lm
