// What `stein lm eval` finds of a run's own text, against the network of the run.
#include <stein/lm/evaluation/sampled_probabilities.h>
#include <stein/lm/evaluation/text_scorer.h>
#include <stein/lm/language/language_evaluation.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "lm/evaluation/learning_loss.h"
#include "lm/language/letters_run.h"

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;
using test::LettersRun;

TEST_CASE("the part of a run's text that is asked for is scored, by the network at its end and by one that learns on",
          "[lm][language-evaluation]") {
  const LettersRun run;
  const Corpus corpus = run.experiment().read_text();
  REQUIRE(corpus.validation[0].size() > corpus.test[0].size());
  training::TrainedNetwork network = run.network();
  const inference::Matrix<float> weights = network.weights().host_weights_now();
  const auto learning_loss = [&](const Stretches& text, std::int64_t unroll) {
    return test::learning_loss(network.model(), weights.row(0), text, 0.05, unroll);
  };
  for (const auto& [part, text] :
       {std::pair("", &corpus.test), std::pair("test", &corpus.test), std::pair("validation", &corpus.validation)}) {
    CAPTURE(part);
    test::Settings options{{"dynamic_rate", "0.05"}};
    if (*part != 0) options["part"] = part;
    const Json result = run.perform<LanguageEvaluation>(options);
    CHECK(result["tokens"] == std::ssize((*text)[0]) - 1);
    CHECK(result["protocol"] == "stateful-1");
    TextScorer scorer(*text, TextProtocol::stateful_1, 0, 0, "by hand");
    std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
    scorer.score(network.model(), {weights.view(), 0}, std::nullopt, log_probability);
    CHECK(result["averaged"]["loss"]["mean"].get<double>() == Approx(mean_loss(log_probability)).epsilon(1e-6));
    const double learned = learning_loss(*text, LettersRun::unroll);
    CHECK(result["dynamic"]["loss"]["mean"].get<double>() == Approx(learned).epsilon(1e-5));
    CHECK(std::abs(learned - learning_loss(*text, 35)) > 1e-4);  // the length of a minibatch makes a difference
  }
}

TEST_CASE("what is pruned and learns on are the weights that are asked for, and by their name",
          "[lm][language-evaluation]") {
  const LettersRun run;
  for (const auto& [by, name] : {std::pair("draws", "where training ended"), std::pair("best", "best by validation")}) {
    CAPTURE(by);
    const Json result = run.perform<LanguageEvaluation>({{"by", by}, {"dynamic_rate", "0.05"}, {"prune", "0"}});
    CHECK(result["dynamic"]["weights"] == name);
    CHECK(result["pruned"][0]["weights"] == name);
    for (const Json& same : {result["dynamic"]["still"], result["pruned"][0]})
      CHECK(same["loss"]["mean"].get<double>() ==
            Approx(result["averaged"]["loss"]["mean"].get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("a network predicts with its dropout where that is asked for", "[lm][language-evaluation]") {
  const LettersRun run(test::Settings{{"dropout", "0.5"}});
  const Json plain = run.perform<LanguageEvaluation>({}),
             dropped = run.perform<LanguageEvaluation>({{"dropout", "true"}, {"draws", "7"}});
  CHECK(plain["samples"] == 1);
  CHECK(dropped["samples"] == 7);
  CHECK(dropped["averaged"]["loss"]["mean"].get<double>() < dropped["single_sample"]["loss"]["mean"].get<double>());
  CHECK(dropped["averaged"]["loss"]["mean"] != plain["averaged"]["loss"]["mean"]);
}

TEST_CASE("single samples are surer than their average", "[lm][language-evaluation]") {
  const LettersRun run(
      test::Settings{{"sampler", "psgld"}, {"step_size", "0.1"}, {"temperature", "1"}, {"burn_in", "0.3"}});
  const Json result = run.perform<LanguageEvaluation>({{"entropy", "true"}});
  REQUIRE(result["samples"] > 1);
  CHECK(result["entropy"]["single_samples"]["mean"].get<double>() <
        result["entropy"]["text"]["mean"].get<double>() - 1e-3);
}

TEST_CASE("the seed of an evaluation is that of a sharpened bound's noise", "[lm][language-evaluation]") {
  const LettersRun run(
      test::Settings{{"sampler", "sharpening"}, {"sharpening_deviation", "0.5"}, {"step_size", "1e-3"}});
  const auto result_of = [&](const char* seed) {
    return run.perform<LanguageEvaluation>({{"bound", "true"}, {"by", "mean"}, {"seed", seed}});
  };
  const Json one = result_of("1"), other = result_of("2");
  CHECK(result_of("1")["bound"] == one["bound"]);
  CHECK(one["averaged"] == other["averaged"]);  // of the mean, which is not drawn
  CHECK(one["bound"]["loss"]["mean"] != other["bound"]["loss"]["mean"]);
}

TEST_CASE("words that the vocabulary does not have are counted in the part that is scored",
          "[lm][language-evaluation]") {
  const test::TemporaryDirectory folder;
  std::string lines;
  for (int line = 0; line < 60; ++line) lines += "a b <unk>\n";
  const LettersRun run(test::Settings{{"data", test::write(folder / "train.txt", lines).string()},
                                      {"tokens", "words"},
                                      {"validation_text", test::write(folder / "valid.txt", "a x b\nb a a\n").string()},
                                      {"test_text", test::write(folder / "test.txt", "x y a\nz b a\n").string()}});
  CHECK(run.perform<LanguageEvaluation>({{"part", "validation"}})["unknown"] == 1);
  CHECK(run.perform<LanguageEvaluation>({{"part", "test"}})["unknown"] == 3);
}

TEST_CASE("what an evaluation cannot do is refused", "[lm][language-evaluation]") {
  const LettersRun run;
  CHECK_ERROR(run.perform<LanguageEvaluation>({{"part", "validation"}, {"text", "other.txt"}}), usage, "'part'",
              "'text'");
  CHECK_ERROR(run.perform<LanguageEvaluation>({{"dropout", "true"}}), usage, "dropout=0");
}

}  // namespace
}  // namespace stein::lm
