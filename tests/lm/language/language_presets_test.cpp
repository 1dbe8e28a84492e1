// Published settings of language models, against the papers' own numbers.
#include <stein/lm/language/language_experiment.h>
#include <stein/lm/language/language_presets.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/error_matcher.h"
#include "training/preset_checks.h"

namespace stein::lm {
namespace {

using test::check_numbers;
using test::number_of;
using training::PublishedPreset;

const PublishedPreset& preset(const std::string& name) {
  const auto place = std::ranges::find(language_presets(), name, &PublishedPreset::name);
  CAPTURE(name);
  REQUIRE(place != language_presets().end());
  return *place;
}

/// The step size of an epoch, from 1 on.
double rate(const PublishedPreset& each, int epoch) {
  return number_of(each, "step_size") *
         std::pow(number_of(each, "rate_decay"), std::max(0.0, epoch - number_of(each, "full_rate_epochs")));
}

TEST_CASE("every published setting of language models has a preset", "[lm][language-presets]") {
  std::set<std::string> expected, found;
  for (const char* size : {"small", "medium", "large"}) {
    for (const char* method : {"sgd", "sgd-dropout", "sgld", "sgld-dropout", "bbb", "sharpening", "zaremba"})
      expected.insert(std::string("ptb-") + size + "-" + method);
  }
  for (const char* cell : {"lstm", "gru", "tanh"})
    for (const char* method : {"rmsprop", "psgld"})
      expected.insert(std::string("war-and-peace-") + cell + "-" + method);
  expected.insert("small-text");  // ours
  for (const PublishedPreset& each : language_presets()) CHECK(found.insert(each.name).second);
  CHECK(found == expected);
}

TEST_CASE("the experiment of a preset of language models is what it says", "[lm][language-presets]") {
  for (const PublishedPreset& each : language_presets()) {
    CAPTURE(each.name);
    runs::OptionSources sources{.preset = each.name};
    if (each.data.empty()) {
      CHECK_ERROR(LanguageExperiment(runs::run_kinds().at("language"), sources), usage,
                  "is for a file of your own, expected --data ./FILE, got text-synthetic");
      sources.settings = {{"data", "./mine.txt"}};
    }
    test::check_experiment(LanguageExperiment(runs::run_kinds().at("language"), sources), each);
  }
}

TEST_CASE("Penn Treebank of Gan et al. 2017", "[lm][language-presets]") {
  const std::map<std::string, double> hidden{{"small", 200}, {"medium", 650}, {"large", 1500}};
  for (const auto& [size, width] : hidden)
    for (const char* method : {"sgd", "sgd-dropout", "sgld", "sgld-dropout"}) {
      const PublishedPreset& each = preset("ptb-" + size + "-" + method);
      CAPTURE(each.name);
      check_numbers(each, {{"hidden", width},
                           {"layers", 2},
                           {"batch_size", 32},
                           {"unroll", 20},
                           {"epochs", 40},
                           {"clip_norm", 5},
                           {"forget_bias", 3},
                           {"start_range", 0.01}});
      CHECK(each.settings.at("clip_rule") == "rescale");
      CHECK(each.settings.at("start") == "orthogonal");
      CHECK(each.settings.at("state") == "zero");
      CHECK(each.settings.at("protocol") == "zero-state");
      CHECK(each.settings.at("rate_unit") == "datum");
      CHECK(each.settings.contains("dropout") == each.name.ends_with("-dropout"));
      if (each.settings.contains("dropout")) CHECK(number_of(each, "dropout") == 0.5);
      const bool is_chain = each.sampler == "sgld";
      CHECK(each.settings.contains("temperature") == is_chain);
      if (!is_chain) continue;
      CHECK(number_of(each, "temperature") == 1);  // their √(2·lr/N) is √(2·h·T) of a rate of a mean over N tokens
      CHECK(number_of(each, "burn_in") * 40 == Approx(4));
      CHECK(number_of(each, "samples_per_epoch") * 36 == 72);
    }
  // Halved every epoch behind the fourth; ÷ 1.2 behind the sixth; ÷ 1.15 behind the fifteenth.
  CHECK(rate(preset("ptb-small-sgd"), 4) == 1);
  CHECK(rate(preset("ptb-small-sgd"), 6) == Approx(0.25));
  CHECK(rate(preset("ptb-medium-sgld"), 6) == 1);
  CHECK(rate(preset("ptb-medium-sgld"), 8) == Approx(1 / 1.44));
  CHECK(rate(preset("ptb-large-sgd"), 15) == 1);
  CHECK(rate(preset("ptb-large-sgd"), 16) == Approx(1 / 1.15));
}

TEST_CASE("Penn Treebank of Fortunato et al. 2017 and of Zaremba et al. 2014", "[lm][language-presets]") {
  const std::map<std::string, double> hidden{{"small", 200}, {"medium", 650}, {"large", 1500}};
  for (const auto& [size, width] : hidden)
    for (const char* method : {"bbb", "sharpening"}) {  // published of the medium size
      const PublishedPreset& each = preset("ptb-" + size + "-" + method);
      CAPTURE(each.name);
      check_numbers(each, {{"hidden", width},
                           {"layers", 2},
                           {"batch_size", 20},
                           {"unroll", 35},
                           {"epochs", 70},
                           {"momentum", 0},
                           {"clip_norm", 5},
                           {"forget_bias", 0}});
      CHECK(each.settings.at("protocol") == "stateful");
      CHECK(rate(each, 1) == 1);
      CHECK(rate(each, 20) == 1);
      CHECK(rate(each, 22) == Approx(0.81));
      CHECK(each.settings.at("optimizer") == "sgd");
      CHECK(each.settings.at("rate_unit") == "sequence");
      CHECK(each.settings.at("start") == "fan_in");
    }
  const PublishedPreset &small = preset("ptb-small-zaremba"), &medium = preset("ptb-medium-zaremba"),
                        &large = preset("ptb-large-zaremba");
  check_numbers(small, {{"hidden", 200}, {"unroll", 20}, {"epochs", 13}, {"clip_norm", 5}});
  check_numbers(medium, {{"hidden", 650}, {"unroll", 35}, {"epochs", 39}, {"clip_norm", 5}});
  check_numbers(large, {{"hidden", 1500}, {"unroll", 35}, {"epochs", 55}, {"clip_norm", 10}});
  CHECK_FALSE(small.settings.contains("dropout"));
  CHECK(number_of(medium, "dropout") == 0.5);
  CHECK(number_of(large, "dropout") == 0.65);
  CHECK(number_of(small, "start_range") == 0.1);
  CHECK(number_of(medium, "start_range") == 0.05);
  CHECK(number_of(large, "start_range") == 0.04);
  CHECK(rate(small, 5) == Approx(0.5));
  CHECK(rate(medium, 7) == Approx(1 / 1.2));
  CHECK(rate(large, 15) == Approx(1 / 1.15));
  for (const PublishedPreset* each : {&small, &medium, &large}) {
    CAPTURE(each->name);
    check_numbers(*each, {{"layers", 2}, {"batch_size", 20}, {"step_size", 1}, {"forget_bias", 0}});
    CHECK(each->settings.at("protocol") == "stateful-1");
    CHECK(each->settings.at("rate_unit") == "sequence");
    CHECK(each->settings.at("start") == "uniform");
  }
}

TEST_CASE("War and Peace of Gan et al. 2017", "[lm][language-presets]") {
  for (const char* cell : {"lstm", "gru", "tanh"})
    for (const char* method : {"rmsprop", "psgld"}) {
      const PublishedPreset& each = preset(std::string("war-and-peace-") + cell + "-" + method);
      CAPTURE(each.name);
      CHECK(each.settings.at("cell") == cell);
      check_numbers(each, {{"hidden", 128},
                           {"layers", 2},
                           {"batch_size", 100},
                           {"unroll", 100},
                           {"step_size", each.sampler == "psgld" ? 0.004 : 0.002},
                           {"square_decay", 0.99},
                           {"clip_norm", 5},
                           {"epochs", 20}});
      CHECK(each.settings.at("rate_unit") == "sequence");
      CHECK(each.settings.at("protocol") == "stateful");
      CHECK_FALSE(each.settings.contains("dropout"));
      const LanguageExperiment experiment(runs::run_kinds().at("language"), {.preset = each.name});
      CHECK(experiment.options().get("start") == "orthogonal");
      CHECK(std::stod(experiment.options().get("start_range")) == 0.01);
      CHECK(std::stod(experiment.options().get("forget_bias")) == 3);
      CHECK(each.settings.contains("temperature") == (each.sampler == "psgld"));
      if (each.sampler != "psgld") continue;
      CHECK(number_of(each, "temperature") == Approx(2 / (260 * 100 * 100.0)).epsilon(0.01));
      CHECK(number_of(each, "burn_in") * 20 == Approx(4));
      CHECK(number_of(each, "samples_per_epoch") * 16 == 32);
    }
}

}  // namespace
}  // namespace stein::lm
