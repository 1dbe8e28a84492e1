// Whether a recurrent network learns a text whose law is known, on the processor and on a GPU.
#include <catch2/catch.hpp>
#include <fstream>
#include <vector>

#include "inference/gpu.h"
#include "lm/language/letters_run.h"

namespace stein::test {
namespace {

// Of the text of four letters the next one is known with probability .775, the others have .075 each: no model has a
// perplexity below exp(.780) = 2.18 of it, and one that learned nothing has 4. The test part has 2,000 letters, so that
// the perplexity of the law itself has an sd of .05 there.
void check_perplexity(const std::string& device) {
  const TemporaryDirectory folder;
  const std::string text = write(folder / "long.txt", letters(20000)).string();
  for (const char* sampler : {"psgld", "bbb"}) {
    CAPTURE(device, sampler);
    const LettersRun run({{"data", text},
                          {"device", device},
                          {"sampler", sampler},
                          {"seeds", "0:3"},
                          {"hidden", "16"},
                          {"batch_size", "16"},
                          {"epochs", "6"}});
    const auto test = nlohmann::json::parse(std::ifstream(run.folder() / "summary.json"))["test"]["averaged"];
    const auto perplexities = test["perplexity"]["per_seed"].get<std::vector<double>>();
    CHECK(perplexities.size() == 3);
    for (const double perplexity : perplexities) {
      CHECK(perplexity >= 2.0);
      CHECK(perplexity <= 2.4);
    }
  }
}

TEST_CASE("an LSTM comes near the law of a text of four letters", "[lm][letters][slow]") {
  check_perplexity("cpu");
}

TEST_CASE("on a GPU an LSTM comes near the law of a text of four letters", "[lm][letters][learning][gpu]") {
  static_cast<void>(gpu());
  check_perplexity("cuda");
}

}  // namespace
}  // namespace stein::test
