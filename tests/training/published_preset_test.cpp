// Settings of published experiments by name.
#include <stein/training/published_preset.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

namespace stein::training {
namespace {

const std::vector<PublishedPreset> presets{
    {.name = "ptb-small-sgd", .source = "somewhere", .data = "ptb", .sampler = "sgd", .settings = {{"hidden", "200"}}},
    {.name = "ptb-small-sgld", .source = "elsewhere", .data = "ptb", .sampler = "sgld"}};

const PublishedPreset* named(const runs::OptionSources& sources) {
  return named_preset(presets, sources, "language models");
}

TEST_CASE("a preset is found by its name, whatever else the sources say of other options", "[training][preset]") {
  REQUIRE(named({.preset = "ptb-small-sgld"}) != nullptr);
  CHECK(named({.preset = "ptb-small-sgld"})->source == "elsewhere");
  CHECK(named({.preset = "ptb-small-sgd", .settings = {{"hidden", "3"}}}) == &presets[0]);
  CHECK(named({}) == nullptr);
  CHECK(named({.settings = {{"data", "ptb"}}}) == nullptr);
}

TEST_CASE("the configuration of a run has the settings of its preset already", "[training][preset]") {
  CHECK(named({.preset = "ptb-small-sgd", .of_run = true}) == nullptr);
  CHECK(named({.preset = "of-a-later-version", .of_run = true}) == nullptr);
}

TEST_CASE("an unknown preset is refused with the nearest one", "[training][preset]") {
  CHECK_ERROR(named({.preset = "ptb-smal-sgld"}), usage, "no preset 'ptb-smal-sgld' of language models",
              "Did you mean 'ptb-small-sgld'?");
  CHECK_ERROR(named({.preset = "something else"}), usage, "no preset 'something else'");
  CHECK_ERROR(named_preset({}, {.preset = "ptb-small-sgd"}, "classifiers"), usage,
              "no preset 'ptb-small-sgd' of classifiers");
}

TEST_CASE("a preset of other data or another method than are asked for is refused", "[training][preset]") {
  CHECK(named({.preset = "ptb-small-sgd", .settings = {{"data", "ptb"}, {"sampler", "sgd"}}}) == &presets[0]);
  CHECK_ERROR(named({.preset = "ptb-small-sgd", .settings = {{"sampler", "adam"}}}), usage,
              "the preset 'ptb-small-sgd' has sampler = sgd, got adam");
  CHECK_ERROR(named({.preset = "ptb-small-sgd", .toml = "data = \"mine.txt\"\n"}), usage,
              "the preset 'ptb-small-sgd' has data = ptb, got mine.txt");
  CHECK_ERROR(named({.preset = "ptb-small-sgd", .settings = {{"data", ""}}}), usage, "has data = ptb, got ");
}

TEST_CASE("settings that are joined are those of the second where both have them", "[training][preset]") {
  CHECK(joined({{"a", "1"}, {"b", "2"}}, {{"b", "3"}, {"c", "4"}}) ==
        std::map<std::string, std::string>{{"a", "1"}, {"b", "3"}, {"c", "4"}});
  CHECK(joined({}, {}).empty());
}

TEST_CASE("the part that lists presets says which data and method each brings", "[training][preset]") {
  const runs::Part part = published_part(presets);
  CHECK(part.options.empty());
  REQUIRE(part.presets.size() == 2);
  CHECK(part.presets[0].name == "ptb-small-sgd");
  CHECK(part.presets[0].description == "--data ptb --sampler sgd: somewhere");
  CHECK(part.presets[0].settings.at("hidden") == "200");
}

}  // namespace
}  // namespace stein::training
