// Published settings of classifiers of sentences.
#include <stein/lm/classification/sentence_presets.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "core/error_matcher.h"
#include "lm/classification/classified_sentences.h"
#include "training/preset_checks.h"

namespace stein::lm {
namespace {

using test::sentence_experiment;

TEST_CASE("every published set has a preset for each of five methods", "[lm][sentence-presets]") {
  std::set<std::string> expected, found;
  for (const char* data : {"trec", "mr", "subj", "cr", "mpqa"})
    for (const char* method : {"rmsprop", "rmsprop-dropout", "rmsprop-variational-dropout", "psgld", "psgld-dropout"})
      expected.insert(std::string(data) + "-" + method);
  for (const training::PublishedPreset& preset : sentence_presets()) {
    CAPTURE(preset.name);
    CHECK(preset.name.starts_with(preset.data + "-" + preset.sampler));
    CHECK(preset.source.starts_with("Gan et al. 2017, table 5"));
    CHECK(found.insert(preset.name).second);
  }
  CHECK(found == expected);
}

TEST_CASE("the experiment of a preset has its data, its method and its settings", "[lm][sentence-presets]") {
  for (const training::PublishedPreset& preset : sentence_presets()) {
    CAPTURE(preset.name);
    const SentenceExperiment experiment = sentence_experiment({}, preset.name);
    test::check_experiment(experiment, preset);
    CHECK(experiment.seeds().count() == (preset.data == "trec" ? 1 : 10));  // a seed for each of ten folds
  }
}

TEST_CASE("the numbers of every preset are those of Gan et al. 2017", "[lm][sentence-presets]") {
  for (const training::PublishedPreset& preset : sentence_presets()) {
    CAPTURE(preset.name);
    test::check_numbers(preset, {{"layers", 1},
                                 {"hidden", 200},  // in each direction
                                 {"embedding", 300},
                                 {"batch_size", 50},
                                 {"epochs", 20},
                                 {"step_size", preset.sampler == "psgld" ? 0.002 : 0.001},
                                 {"square_decay", 0.99},
                                 {"clip_norm", 5},
                                 {"start_range", 0.01},
                                 {"forget_bias", 3}});
    CHECK(preset.settings.at("bidirectional") == "true");
    CHECK(preset.settings.at("start") == "orthogonal");
    CHECK(preset.settings.at("rate_unit") == "datum");  // the limit of 5 is of a mean over sentences
    const bool drops = preset.name.ends_with("-dropout");
    CHECK(preset.settings.contains("dropout") == drops);
    if (drops) {
      CHECK(test::number_of(preset, "dropout") == 0.5);
      CHECK(preset.settings.at("dropout_mask") ==
            (preset.name.ends_with("-variational-dropout") ? "sequence" : "each_step"));
    }
    CHECK(preset.settings.contains("burn_in") == (preset.sampler == "psgld"));
    if (preset.sampler != "psgld") continue;
    CHECK(test::number_of(preset, "burn_in") * 20 == Approx(1));     // epochs
    CHECK(test::number_of(preset, "samples_per_epoch") * 19 == 19);  // samples of the other 19 epochs
  }
}

TEST_CASE("the temperature of a published chain is 2/N of the sentences that it is trained on",
          "[lm][sentence-presets]") {
  // Of TREC 10 % of 5,452 are for validation; of the others a tenth is the test, and 10 % of the rest for validation.
  // The presets have two digits.
  const std::map<std::string, double> sentences{{"trec", 5'452 * 0.9},
                                                {"mr", 10'662 * 0.81},
                                                {"subj", 10'000 * 0.81},
                                                {"cr", 3'775 * 0.81},
                                                {"mpqa", 10'606 * 0.81}};
  for (const training::PublishedPreset& preset : sentence_presets()) {
    CAPTURE(preset.name);
    const auto temperature = preset.settings.find("temperature");
    CHECK((temperature != preset.settings.end()) == (preset.sampler == "psgld"));
    if (temperature != preset.settings.end())
      CHECK(std::stod(temperature->second) == Approx(2 / sentences.at(preset.data)).epsilon(0.02));
  }
}

TEST_CASE("dropout is the only difference between a preset and the one with dropout", "[lm][sentence-presets]") {
  std::map<std::string, test::Settings> all;
  for (const training::PublishedPreset& preset : sentence_presets()) all[preset.name] = preset.settings;
  for (const char* method : {"trec-psgld", "trec-rmsprop", "mpqa-psgld"}) {
    CAPTURE(method);
    test::Settings with = all.at(std::string(method) + "-dropout");
    CHECK(with.at("dropout") == "0.5");
    CHECK(with.at("dropout_mask") == "each_step");
    with.erase("dropout"), with.erase("dropout_mask");
    CHECK(with == all.at(method));
  }
  CHECK(all.at("mr-rmsprop-variational-dropout").at("dropout_mask") == "sequence");
}

TEST_CASE("a preset of another set or another method than was asked for is refused", "[lm][sentence-presets]") {
  CHECK_ERROR(sentence_experiment({{"data", "mr"}}, "trec-psgld"), usage, "'trec-psgld' has data = trec, got mr");
  CHECK_ERROR(sentence_experiment({{"sampler", "adam"}}, "trec-psgld"), usage, "sampler = psgld, got adam");
  CHECK_ERROR(sentence_experiment({}, "trec-psgl"), usage, "'trec-psgl' of classifiers of sentences", "'trec-psgld'");
}

}  // namespace
}  // namespace stein::lm
