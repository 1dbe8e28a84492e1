#include <fmt/ranges.h>
#include <stein/core/checksum.h>
#include <stein/core/data/manifest.h>
#include <stein/core/read_file.h>
#include <stein/core/rng.h>
#include <stein/lm/captions/caption_scores.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/error_matcher.h"
#include "skip.h"

namespace stein::lm {
namespace {

/// Made-up captions of few words, so that they share many.
std::vector<CandidateCaption> random_images(std::uint32_t seed, std::size_t count) {
  Draws draws({.seed = seed}, 0);
  const auto sentence = [&] {
    const char* words[] = {"a", "the", "cat", "cats", "dog", "runs", "running", "on", "grass"};
    std::string text;
    for (std::uint32_t left = 3 + draws.integer(6); left > 0; --left)
      text += std::string(words[draws.integer(9)]) + " ";
    return text;
  };
  std::vector<CandidateCaption> images;
  for (std::size_t i = 0; i < count; ++i)
    images.push_back(
        {.id = std::to_string(i), .caption = sentence(), .references = {sentence(), sentence(), sentence()}});
  return images;
}

TEST_CASE("made-up captions score as the programs of the COCO caption evaluation say", "[lm][captions][scores]") {
  const auto vectors = nlohmann::json::parse(read_file(STEIN_TESTS "/lm/reference/caption_vectors.json"));
  std::vector<CandidateCaption> images;
  for (const auto& image : vectors["images"])
    images.push_back(
        {.id = std::to_string(images.size()), .caption = image["caption"], .references = image["references"]});
  REQUIRE(images.size() == 10);
  for (const auto& [name, metric] : score_captions(images)) {
    const auto& expected = vectors["scores"][std::string(name)];
    CAPTURE(name, metric.corpus);
    CHECK(std::abs(metric.corpus - expected["corpus"].get<double>()) < 1e-8);
    for (std::size_t i = 0; i < images.size(); ++i) {
      CAPTURE(i, metric.images[i]);
      // Their BLEU has 1e-15 matches where there are none, which the fourth root makes visible.
      const double tolerance = name.starts_with("BLEU") && metric.images[i] == 0 ? 5e-4 : 1e-8;
      CHECK(std::abs(metric.images[i] - expected["images"][i].get<double>()) < tolerance);
    }
  }
}

TEST_CASE("captions of Flickr8k have the words and the scores of the programs of the COCO caption evaluation",
          "[lm][captions][scores][data-set]") {
  const auto folder = find_data_set("flickr8k");
  if (!folder) test::skip("no data set flickr8k");
  std::map<std::string, std::vector<std::string>> captions;
  std::istringstream lines(read_text(data_file(*folder, "Flickr8k.token.txt")));
  std::string words;
  for (std::string line; std::getline(lines, line);) {
    const std::string caption = line.substr(line.find('\t') + 1);
    captions[line.substr(0, line.find('#'))].push_back(caption);
    const Words cut = coco_words(caption);
    words += fmt::format("{}\n", fmt::join(cut, " "));
  }
  CHECK(sha256(words) == "c97e889526ba92db8bf2a92e5e7aa0a8a22b7d41d70caaa61ab5616b57685d59");
  std::vector<CandidateCaption> images;
  std::istringstream names(read_text(data_file(*folder, "Flickr_8k.testImages.txt")));
  for (std::string name; names >> name;) {
    const std::vector<std::string>& all = captions.at(name);
    images.push_back({.id = name, .caption = all[0], .references = {all.begin() + 1, all.end()}});
  }
  REQUIRE(images.size() == 1000);
  // Numbers by scripts/reference/caption_vectors.py. METEOR 1.5's program leaves out matches of stems on 9 of the
  // images and says 0.23419144.
  const std::map<std::string_view, double> expected{{"BLEU-1", 0.6364127012682705},  {"BLEU-2", 0.4457777185666552},
                                                    {"BLEU-3", 0.30549036253497284}, {"BLEU-4", 0.20945675889555992},
                                                    {"ROUGE-L", 0.4875475010364561}, {"CIDEr-D", 0.7885967975248741}};
  for (const auto& [name, metric] : score_captions(images)) {
    CAPTURE(name, metric.corpus);
    if (name == "METEOR-exact-stem")
      CHECK((metric.corpus > 0.23419144 && metric.corpus < 0.23419144 + 0.0005));
    else
      CHECK(std::abs(metric.corpus - expected.at(name)) < 1e-8);
  }
}

TEST_CASE("scores come in the order of tables, each with its whole name", "[lm][captions][scores]") {
  std::vector<std::string_view> names;
  for (const NamedMetric& metric : score_captions(random_images(1, 2))) names.push_back(metric.name);
  CHECK(names == std::vector<std::string_view>{"BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D",
                                               "METEOR-exact-stem"});
}

TEST_CASE("the order of images does not matter", "[lm][captions][scores]") {
  std::vector<CandidateCaption> images = random_images(2, 30);
  const std::vector<NamedMetric> before = score_captions(images);
  std::ranges::reverse(images);
  const std::vector<NamedMetric> after = score_captions(images);
  for (std::size_t m = 0; m < before.size(); ++m) {
    CAPTURE(before[m].name);
    CHECK(std::abs(before[m].metric.corpus - after[m].metric.corpus) < 1e-12);
    for (std::size_t i = 0; i < images.size(); ++i)
      CHECK(std::abs(before[m].metric.images[i] - after[m].metric.images[images.size() - 1 - i]) < 1e-12);
  }
}

TEST_CASE("the order of references does not matter to an image", "[lm][captions][scores]") {
  std::vector<CandidateCaption> images = random_images(3, 30);
  const std::vector<NamedMetric> before = score_captions(images);
  for (CandidateCaption& image : images)
    std::rotate(image.references.begin(), image.references.begin() + 1, image.references.end());
  const std::vector<NamedMetric> after = score_captions(images);
  for (std::size_t m = 0; m < before.size(); ++m)
    for (std::size_t i = 0; i < images.size(); ++i) {
      CAPTURE(before[m].name, i);
      CHECK(std::abs(before[m].metric.images[i] - after[m].metric.images[i]) < 1e-12);
    }
}

TEST_CASE("values lie in their ranges, and references as captions have the highest", "[lm][captions][scores]") {
  std::vector<CandidateCaption> images = random_images(4, 30);
  for (const auto& [name, metric] : score_captions(images))
    for (const double value : metric.images) {
      CAPTURE(name);
      CHECK(value >= 0);
      CHECK(value <= (name == "CIDEr-D" ? 10 : 1));
    }
  for (CandidateCaption& image : images) image.caption = image.references[2];
  for (const auto& [name, metric] : score_captions(images)) {
    CAPTURE(name, metric.corpus);
    if (name != "CIDEr-D" && name != "BLEU-4")  // some captions have three words
      CHECK(std::abs(metric.corpus - 1) < 1e-12);
  }
}

TEST_CASE("an empty caption scores 0 in everything, and text that is no UTF-8 is refused", "[lm][captions][scores]") {
  for (const auto& [name, metric] :
       score_captions(std::vector<CandidateCaption>{{.id = "1", .caption = " . ", .references = {"a cat"}},
                                                    {.id = "2", .caption = "", .references = {"a dog", "."}}})) {
    CAPTURE(name);
    CHECK(metric.corpus == 0);
    CHECK(metric.images == std::vector<double>{0, 0});
  }
  CHECK_ERROR(score_captions({}), usage, "at least one caption");
  CHECK_ERROR(score_captions(std::vector<CandidateCaption>{{.id = "1", .caption = "\xff", .references = {"a"}}}), data,
              "UTF-8");
}

}  // namespace
}  // namespace stein::lm
