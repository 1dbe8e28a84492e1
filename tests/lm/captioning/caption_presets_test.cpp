// Published settings of captioning models, against the papers' own numbers.
#include <stein/lm/captioning/caption_experiment.h>
#include <stein/lm/captioning/caption_presets.h>
#include <stein/runs/run_kind.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "training/preset_checks.h"

namespace stein::lm {
namespace {

using test::check_numbers;
using test::number_of;
using training::PublishedPreset;

TEST_CASE("every published setting of captioning models has a preset", "[lm][caption-presets]") {
  std::set<std::string> expected{"coco-bbb", "scenes-bbb"}, found;
  for (const char* data : {"flickr8k", "flickr30k", "coco", "scenes"})
    for (const char* method : {"rmsprop", "rmsprop-dropout", "psgld", "psgld-dropout"})
      expected.insert(std::string(data) + "-" + method);
  for (const PublishedPreset& each : caption_presets()) CHECK(found.insert(each.name).second);
  CHECK(found == expected);
}

TEST_CASE("the experiment of a preset of captioning models is what it says", "[lm][caption-presets]") {
  for (const PublishedPreset& each : caption_presets()) {
    CAPTURE(each.name);
    runs::OptionSources sources{.preset = each.name};
    if (each.data.empty()) sources.settings = {{"data", "./captions.json"}};
    test::check_experiment(CaptionExperiment(runs::run_kinds().at("captioning"), sources), each);
  }
}

TEST_CASE("captioning of Gan et al. 2017", "[lm][caption-presets]") {
  const std::map<std::string, double> captions{{"flickr8k", 30'000}, {"flickr30k", 145'000}, {"coco", 567'000}},
      samples{{"flickr8k", 17}, {"flickr30k", 34}, {"coco", 34}};
  for (const PublishedPreset& each : caption_presets()) {
    CAPTURE(each.name);
    const auto data = captions.find(each.name.substr(0, each.name.find('-')));
    if (data == captions.end() || each.sampler == "bbb") continue;
    check_numbers(each, {{"hidden", 512},
                         {"layers", 1},
                         {"batch_size", 64},
                         {"epochs", 20},
                         {"embedding", 300},
                         {"step_size", each.sampler == "psgld" ? 0.002 : 0.001},
                         {"square_decay", 0.99},
                         {"clip_norm", 5},
                         {"start_range", 0.01},
                         {"forget_bias", 3},
                         {"beam_width", 5}});
    CHECK(each.settings.at("start") == "orthogonal");
    CHECK(each.settings.at("rate_unit") == "sequence");
    CHECK(each.settings.at("feature_use") == "first_input");
    CHECK(each.settings.contains("dropout") == each.name.ends_with("-dropout"));
    if (each.settings.contains("dropout")) CHECK(number_of(each, "dropout") == 0.5);
    CHECK(each.settings.contains("temperature") == (each.sampler == "psgld"));
    if (each.sampler != "psgld") continue;
    CHECK(number_of(each, "burn_in") * 20 == Approx(3));
    CHECK(number_of(each, "samples_per_epoch") * 17 == samples.at(data->first));
    CHECK(number_of(each, "temperature") == Approx(2 / data->second).epsilon(0.02));  // of N captions
  }
}

TEST_CASE(
    "captioning of Fortunato et al. 2017 is that of Vinyals et al. 2016, which halve their rate every eight epochs",
    "[lm][caption-presets]") {
  for (const PublishedPreset& each : caption_presets()) {
    if (each.name != "coco-bbb") continue;
    CHECK(std::pow(number_of(each, "rate_decay"), 8) == Approx(0.5).epsilon(0.01));
    // A rate of 2 and a limit of 5 of a mean over tokens, of captions of 11.5 tokens.
    CHECK(number_of(each, "step_size") * 11.5 == Approx(2).epsilon(0.01));
    CHECK(number_of(each, "clip_norm") / 11.5 == Approx(5).epsilon(0.01));
    CHECK(each.settings.at("rate_unit") == "sequence");
    check_numbers(each, {{"hidden", 512},
                         {"layers", 1},
                         {"batch_size", 32},
                         {"min_count", 4},
                         {"momentum", 0},
                         {"forget_bias", 0},
                         {"beam_width", 3},
                         {"max_length", 20}});
    CHECK(each.settings.at("optimizer") == "sgd");
    CHECK(each.settings.at("start") == "fan_in");
    CHECK(each.settings.at("feature_use") == "initial_state");
  }
}

}  // namespace
}  // namespace stein::lm
