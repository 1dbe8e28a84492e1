// The summary and the curves of a run of language models, against the losses that are in it.
#include <stein/core/read_file.h>
#include <stein/core/run_directory.h>
#include <stein/lm/language/language_run.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/temporary_directory.h"
#include "lm/language/trained_text.h"

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// Two seeds of three particles each, which nothing has trained, on a text whose truth is known.
struct TwoSeeds {
  std::shared_ptr<const Corpus> corpus = std::make_shared<const Corpus>(test::small_text(600));
  LanguageRun run{{0, 2}, corpus, LanguageRun::Facts{.method = "svgd"}, [this](std::uint64_t seed) {
                    test::TrainerCase each{.method = "svgd",
                                           .settings = {{"particles", "3"}},
                                           .training = {.epochs = {.batch_size = 4}, .unroll = 6}};
                    each.network.start = inference::RecurrentStart::fan_in;
                    return each.make(*corpus, seed);
                  }};
  Json summary = run.summarize({});

  double loss(const char* part, const char* which, std::size_t seed) const {
    return summary[part][which]["loss"]["per_seed"][seed].get<double>();
  }
};

TEST_CASE("excess is what averages lose of the test beyond the truth, seed by seed", "[lm][language-run]") {
  const TwoSeeds seeds;
  const Json& truth = seeds.summary["truth"];
  const double least = seeds.run.repetition(0).test_loss_of(*seeds.corpus->truth);
  CHECK(truth["test_loss"].get<double>() == Approx(least).epsilon(1e-5));
  CHECK(truth["entropy_rate"].get<double>() == Approx(seeds.corpus->truth->entropy_rate()).epsilon(1e-5));
  REQUIRE(truth["excess"]["per_seed"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CAPTURE(i);
    CHECK(truth["excess"]["per_seed"][i].get<double>() == seeds.loss("test", "averaged", i) / least - 1);
    CHECK(seeds.loss("test", "averaged", i) < seeds.loss("test", "single_sample", i));
  }
  CHECK(truth["excess"]["mean"].get<double>() ==
        Approx((truth["excess"]["per_seed"][0].get<double>() + truth["excess"]["per_seed"][1].get<double>()) / 2));
}

TEST_CASE("curves of either part end where all of its samples are averaged", "[lm][language-run]") {
  TwoSeeds seeds;
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  seeds.run.write_results(directory);
  const Json curves = Json::parse(read_file(directory.file("curves.json")));
  for (std::size_t i = 0; i < 2; ++i) {
    CAPTURE(i);
    REQUIRE(std::abs(seeds.loss("validation", "averaged", i) - seeds.loss("test", "averaged", i)) > 1e-4);
    for (const char* part : {"validation", "test"})
      for (const char* which : {"forward", "backward", "thinned"}) {
        CAPTURE(part, which);
        REQUIRE(curves[part][which].size() == 2);
        REQUIRE(curves[part][which][i].size() == 3);
        CHECK(curves[part][which][i].back().get<double>() == Approx(seeds.loss(part, "averaged", i)).epsilon(1e-5));
      }
  }
}

TEST_CASE("losses that were found where a training concluded are in its state until they are forgotten",
          "[lm][language-run]") {
  TwoSeeds seeds;
  LanguageTrainer& trainer = seeds.run.repetition(0);
  trainer.forget_draws();
  const auto state_of = [](const LanguageTrainer& each) {
    Snapshot state;
    each.save(state);
    return state;
  };
  const Snapshot before = state_of(trainer);
  StopToken stop;
  stop.request_stop();
  trainer.conclude(stop);
  trainer.forget_draws();  // as far as it came
  CHECK(state_of(trainer).arrays().size() == before.arrays().size());
  trainer.conclude({});
  TwoSeeds others;
  LanguageTrainer& other = others.run.repetition(1);
  other.restore(state_of(trainer));
  for (const auto& losses : {other.validation_losses(stop), other.test_losses(stop)})  // nothing is read any more
    CHECK(losses.samples == 3);
  const TextLosses kept = other.test_losses();
  CHECK(kept.averaged == seeds.loss("test", "averaged", 0));
  CHECK(kept.single == seeds.loss("test", "single_sample", 0));
  CHECK(kept.final_weights == seeds.loss("test", "final_weights", 0));
  CHECK(kept.curves.forward.size() == 3);
  CHECK(kept.protocol == seeds.summary["test"]["protocol"].get<std::string>());
  other.forget_draws();
  CHECK(state_of(other).arrays().size() == before.arrays().size());
}

}  // namespace
}  // namespace stein::lm
