// Decoding of captions, against all captions that there are.
#include <stein/lm/captioning/beam_search.h>
#include <stein/lm/captioning/caption_vocabulary.h>
#include <stein/lm/captioning/sampled_captions.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "core/error_matcher.h"
#include "lm/captioning/word_chain.h"

namespace stein::lm {
namespace {

using test::WordChain;

/// Every caption of at most `longest` words with its log p.
std::map<std::vector<std::int32_t>, double> all_captions(WordChain& chain, std::int64_t image, std::int64_t longest) {
  std::map<std::vector<std::int32_t>, double> found;
  std::function<void(std::vector<std::int32_t>, double)> grow = [&](const std::vector<std::int32_t>& words,
                                                                    double log_probability) {
    const std::span<const float> next = chain.next(image, words.empty() ? start_token : words.back());
    found[words] = log_probability + std::log(static_cast<double>(next[end_token]));
    if (std::ssize(words) == longest) return;
    for (std::int32_t token = unknown_token + 1; token < chain.vocabulary(); ++token) {
      std::vector<std::int32_t> longer = words;
      longer.push_back(token);
      grow(longer, log_probability + std::log(static_cast<double>(next[static_cast<std::size_t>(token)])));
    }
  };
  grow({}, 0);
  return found;
}

const std::vector<std::int64_t> images{0, 1, 2, 3, 4};

TEST_CASE("a beam of all captions finds the best ones in their order", "[lm][caption][beam]") {
  const double power = GENERATE(0.0, 0.5, 1.0, 2.0);
  WordChain chain = WordChain::random(3, 5, 400);
  const auto found = beam_search(chain, images, {.beam_width = 81, .length_power = power, .max_length = 4});
  REQUIRE(found.size() == 5);
  for (const std::int64_t image : images) {
    CAPTURE(power, image);
    // 1 + 3 + 9 + 27 + 81 captions of up to four words: the search keeps the 81 best
    std::map<std::vector<std::int32_t>, double> scores = all_captions(chain, image, 4);
    REQUIRE(scores.size() == 121);
    std::vector<double> best;
    for (auto& [words, score] : scores) best.push_back(score /= std::pow(static_cast<double>(words.size() + 1), power));
    std::ranges::sort(best, std::greater());
    const auto& captions = found[static_cast<std::size_t>(image)];
    REQUIRE(captions.size() == 81);
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(captions[i].score == Approx(best[i]).epsilon(1e-9));
      CHECK(captions[i].score == Approx(scores.at(captions[i].words)).epsilon(1e-9));
    }
  }
}

TEST_CASE("a caption's log p is that of its words and its end, whatever the beam", "[lm][caption][beam]") {
  const std::int64_t width = GENERATE(1, 2, 5);
  WordChain chain = WordChain::random(6, 5, 50);
  const auto found = beam_search(chain, images, {.beam_width = width, .max_length = 5});
  for (const std::int64_t image : images) {
    const auto all = all_captions(chain, image, 5);
    double before = 0;
    std::set<std::vector<std::int32_t>> different;
    for (const DecodedCaption& caption : found[static_cast<std::size_t>(image)]) {
      CHECK(caption.log_probability == Approx(all.at(caption.words)).epsilon(1e-9));
      CHECK(caption.log_probability <= before);
      before = caption.log_probability;
      CHECK(different.insert(caption.words).second);
    }
    CHECK(std::ssize(found[static_cast<std::size_t>(image)]) <= width);
    CHECK(!found[static_cast<std::size_t>(image)].empty());
  }
}

TEST_CASE("a wider beam finds the caption whose first word is not the likeliest", "[lm][caption][beam]") {
  // 3 is likelier than 4 at first; what follows 3 is unsure, what follows 4 is not:
  // p(3) = .6 · .3, p(3 5) = .6 · .35 · .9, p(3 6) = .6 · .35 · .9, p(4) = .4 · 1.
  WordChain chain(4, 1);
  chain.set(0, start_token, {{3, .6F}, {4, .4F}});
  chain.set(0, 3, {{end_token, .3F}, {5, .35F}, {6, .35F}});
  chain.set(0, 4, {{end_token, 1.F}});
  chain.set(0, 5, {{end_token, .9F}, {5, .1F}});
  chain.set(0, 6, {{end_token, .9F}, {6, .1F}});
  const std::vector<std::int64_t> one{0};
  const auto greedy = beam_search(chain, one, {.beam_width = 1});
  CHECK(greedy[0][0].words == std::vector<std::int32_t>{3, 5});  // of equal probabilities the lower number
  CHECK(greedy[0][0].log_probability == Approx(std::log(.6 * .35 * .9)).epsilon(1e-6));
  const auto wide = beam_search(chain, one, {.beam_width = 2});
  CHECK(wide[0][0].words == std::vector<std::int32_t>{4});
  CHECK(wide[0][0].log_probability == Approx(std::log(.4)).epsilon(1e-6));
}

TEST_CASE("an end finishes a caption only where it is among the W best continuations", "[lm][caption][beam]") {
  // The second word: p(3 <eos>) = .3, p(3 5) = .24, p(4 <eos>) = .2, p(4 6) = .12. The caption 4 would be the second
  // best one, but its end is the third.
  WordChain chain(4, 1);
  chain.set(0, start_token, {{3, .6F}, {4, .4F}});
  chain.set(0, 3, {{end_token, .5F}, {5, .4F}, {3, .1F}});
  chain.set(0, 4, {{end_token, .5F}, {6, .3F}, {4, .2F}});
  chain.set(0, 5, {{end_token, .7F}, {5, .3F}});
  chain.set(0, 6, {{end_token, .7F}, {6, .3F}});
  const std::vector<std::int64_t> one{0};
  const auto found = beam_search(chain, one, {.beam_width = 2});
  REQUIRE(found[0].size() == 2);
  CHECK(found[0][0].words == std::vector<std::int32_t>{3});
  CHECK(found[0][1].words == std::vector<std::int32_t>{3, 5});
  CHECK(found[0][1].log_probability == Approx(std::log(.6 * .4 * .7)).epsilon(1e-6));
}

TEST_CASE("a length power prefers longer captions", "[lm][caption][beam]") {
  WordChain chain(2, 1);
  chain.set(0, start_token, {{3, 1.F}});
  chain.set(0, 3, {{end_token, .6F}, {4, .4F}});
  chain.set(0, 4, {{end_token, 1.F}});
  const std::vector<std::int64_t> one{0};
  CHECK(beam_search(chain, one, {.beam_width = 2})[0][0].words == std::vector<std::int32_t>{3});
  // log .6/2² = −.128, log .4/3² = −.102
  CHECK(beam_search(chain, one, {.beam_width = 2, .length_power = 2})[0][0].words == std::vector<std::int32_t>{3, 4});
}

TEST_CASE("a search goes on while a longer caption may be the best", "[lm][caption][beam]") {
  // log .55/2 = −.299 is found first; of the other one log .45/2 = −.399 is known then, and log .45/5 = −.160 in the
  // end.
  WordChain chain(4, 1);
  chain.set(0, start_token, {{3, 1.F}});
  chain.set(0, 3, {{end_token, .55F}, {4, .45F}});
  chain.set(0, 4, {{5, 1.F}});
  chain.set(0, 5, {{6, 1.F}});
  chain.set(0, 6, {{end_token, 1.F}});
  const std::vector<std::int64_t> one{0};
  const auto found = beam_search(chain, one, {.beam_width = 1, .length_power = 1});
  CHECK(found[0][0].words == std::vector<std::int32_t>{3, 4, 5, 6});
  CHECK(found[0][0].score == Approx(std::log(.45) / 5).epsilon(1e-6));
}

TEST_CASE("captions end at the most words, and start and unknown words are in none", "[lm][caption][beam]") {
  WordChain chain(1, 1);
  chain.set(0, start_token, {{start_token, .3F}, {unknown_token, .3F}, {3, .2F}, {end_token, .2F}});
  chain.set(0, 3, {{start_token, .4F}, {unknown_token, .4F}, {3, .19F}, {end_token, .01F}});
  const std::vector<std::int64_t> one{0};
  const auto found = beam_search(chain, one, {.beam_width = 3, .length_power = 1, .max_length = 7});
  for (const DecodedCaption& caption : found[0]) {
    CHECK(caption.words.size() <= 7);
    for (const std::int32_t word : caption.words) CHECK(word == 3);
  }
  const auto drawn = sampled_captions(chain, one, {.max_length = 7});
  for (const std::int32_t word : drawn[0].words) CHECK(word == 3);
}

TEST_CASE("where nothing but an end is possible, the likeliest caption is the one that is found",
          "[lm][caption][beam]") {
  // Behind 3 stands mostly <unk>, which is no word: p(3) = .6 · .1 is less than p(4) = .4 · .9.
  WordChain chain(2, 1);
  chain.set(0, start_token, {{3, .6F}, {4, .4F}});
  chain.set(0, 3, {{end_token, .1F}, {unknown_token, .9F}});
  chain.set(0, 4, {{end_token, .9F}, {unknown_token, .1F}});
  const std::vector<std::int64_t> one{0};
  const auto found = beam_search(chain, one, {.beam_width = 2, .min_length = 3});  // shorter than it should be
  REQUIRE(found[0].size() == 1);
  CHECK(found[0][0].words == std::vector<std::int32_t>{4});
  CHECK(found[0][0].log_probability == Approx(std::log(.4 * .9)).epsilon(1e-6));
}

TEST_CASE("captions have the fewest words that are asked for", "[lm][caption][beam]") {
  const std::int64_t fewest = GENERATE(1, 3);
  WordChain chain = WordChain::random(3, 5, 400);
  const auto found = beam_search(chain, images, {.beam_width = 81, .max_length = 4, .min_length = fewest});
  for (const std::int64_t image : images) {
    CAPTURE(fewest, image);
    std::vector<double> best;
    for (const auto& [words, score] : all_captions(chain, image, 4))
      if (std::ssize(words) >= fewest) best.push_back(score);
    std::ranges::sort(best, std::greater());
    const auto& captions = found[static_cast<std::size_t>(image)];
    for (std::size_t i = 0; i < 40; ++i) CHECK(captions[i].score == Approx(best[i]).epsilon(1e-9));
  }
  for (const DecodedCaption& each : sampled_captions(chain, images, {.max_length = 4, .min_length = fewest}))
    CHECK(std::ssize(each.words) >= fewest);
  CHECK_ERROR(beam_search(chain, images, {.max_length = 2, .min_length = 3}), usage, "min_length <= max_length");
}

TEST_CASE("images are decoded alike side by side and one by one", "[lm][caption][beam]") {
  WordChain chain = WordChain::random(40, 5, 15);  // room for three images at beam 5
  WordChain roomy = chain;
  roomy.room = 100;
  const BeamOptions options{.beam_width = 5, .length_power = 0.7, .max_length = 12};
  const auto three = beam_search(chain, images, options), five = beam_search(roomy, images, options);
  const auto drawn = sampled_captions(roomy, images, {.seed = 3});
  for (const std::int64_t image : images) {
    const auto i = static_cast<std::size_t>(image);
    const std::vector<std::int64_t> one{image};
    const auto alone = beam_search(chain, one, options);
    REQUIRE(alone[0].size() == three[i].size());
    for (std::size_t k = 0; k < alone[0].size(); ++k) {
      CHECK(alone[0][k].words == three[i][k].words);
      CHECK(alone[0][k].log_probability == five[i][k].log_probability);
    }
  }
  WordChain narrow = chain;
  narrow.room = 2;
  const auto again = sampled_captions(narrow, images, {.seed = 3});
  for (std::size_t i = 0; i < drawn.size(); ++i) CHECK(drawn[i].words == again[i].words);
  CHECK(sampled_captions(chain, images, {.seed = 4})[0].words != drawn[0].words);
}

TEST_CASE("captions are drawn as often as they are likely", "[lm][caption][beam]") {
  constexpr std::int64_t draws = 20'000;
  WordChain chain = WordChain::random(2, 1, draws);
  const std::vector<std::int64_t> same(draws, 0);
  const auto drawn = sampled_captions(chain, same, {.max_length = 3, .seed = 1});
  std::map<std::vector<std::int32_t>, std::int64_t> counts;
  for (const DecodedCaption& caption : drawn) ++counts[caption.words];
  // <start> and <unk> are never drawn, so probabilities are those of the chain's tokens that may follow.
  double sum = 0;
  const std::function<void(std::vector<std::int32_t>, double)> check = [&](const std::vector<std::int32_t>& words,
                                                                           double before) {
    const std::span<const float> next = chain.next(0, words.empty() ? start_token : words.back());
    double allowed = 0;
    for (std::size_t k = 0; k < next.size(); ++k)
      if (k != start_token && k != unknown_token) allowed += static_cast<double>(next[k]);
    const double p = words.size() == 3 ? before : before * static_cast<double>(next[end_token]) / allowed;
    sum += p;
    const double deviation = std::sqrt(p * (1 - p) / draws);
    CHECK(std::abs(static_cast<double>(counts[words]) / draws - p) < 6.1 * deviation);
    if (words.size() == 3) return;
    for (std::int32_t token = 3; token < 5; ++token) {
      std::vector<std::int32_t> longer = words;
      longer.push_back(token);
      check(longer, before * static_cast<double>(next[static_cast<std::size_t>(token)]) / allowed);
    }
  };
  check({}, 1);
  CHECK(sum == Approx(1));
}

TEST_CASE("probabilities of words that are drawn are raised to the power of the sharpness", "[lm][caption][beam]") {
  const double sharpness = GENERATE(0.5, 1.0, 8.0);
  constexpr std::int64_t draws = 20'000;
  WordChain chain(2, 1);
  chain.room = draws;
  chain.set(0, start_token, {{3, .5F}, {4, .3F}, {end_token, .2F}});
  chain.set(0, 3, {{end_token, .6F}, {4, .4F}});
  chain.set(0, 4, {{end_token, 1.F}});
  const std::vector<std::int64_t> same(draws, 0);
  std::map<std::vector<std::int32_t>, std::int64_t> counts;
  for (const DecodedCaption& caption : sampled_captions(chain, same, {.sharpness = sharpness, .seed = 1}))
    ++counts[caption.words];
  const auto power = [&](double p) { return std::pow(p, sharpness); };
  const double first = power(.5) + power(.3) + power(.2), behind_3 = power(.6) + power(.4);
  // At 8 the likeliest caption, 3, is drawn in 95 of 100 cases, at 1 in 30, at 1/2 in 23.
  const std::map<std::vector<std::int32_t>, double> expected{{{}, power(.2) / first},
                                                             {{3}, power(.5) / first * power(.6) / behind_3},
                                                             {{3, 4}, power(.5) / first * power(.4) / behind_3},
                                                             {{4}, power(.3) / first}};
  for (const auto& [words, p] : expected) {
    CAPTURE(sharpness, words);
    const double deviation = std::sqrt(p * (1 - p) / draws);
    CHECK(std::abs(static_cast<double>(counts[words]) / draws - p) < 6.1 * deviation);
  }
}

TEST_CASE("the log p of a caption that is drawn is the model's, however sharp the draws", "[lm][caption][beam]") {
  const double sharpness = GENERATE(0.5, 1.0, 8.0);
  const std::int64_t fewest = GENERATE(0, 2);
  WordChain chain = WordChain::random(4, 5, 50);
  std::vector<std::int64_t> often;
  for (int k = 0; k < 40; ++k) often.insert(often.end(), images.begin(), images.end());
  // Some captions end by themselves, others at the most words: the end counts in either case.
  const auto drawn =
      sampled_captions(chain, often, {.max_length = 3, .min_length = fewest, .sharpness = sharpness, .seed = 2});
  REQUIRE(drawn.size() == often.size());
  for (const std::int64_t image : images) {
    CAPTURE(sharpness, fewest, image);
    const auto all = all_captions(chain, image, 3);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if (often[i] != image) continue;
      CHECK(drawn[i].log_probability == Approx(all.at(drawn[i].words)).epsilon(1e-9));
      CHECK(drawn[i].score == drawn[i].log_probability);
    }
  }
}

TEST_CASE("a search without room and a model without numbers are refused", "[lm][caption][beam]") {
  WordChain chain = WordChain::random(3, 5, 4);
  CHECK_ERROR(beam_search(chain, images, {.beam_width = 5}), usage, "5 hypotheses", "room for 4");
  CHECK_ERROR(beam_search(chain, images, {.beam_width = 2, .length_power = -1}), usage, "length_power");
  WordChain broken(3, 1);
  broken.set(0, start_token, {{3, std::nanf("")}, {4, std::nanf("")}, {end_token, std::nanf("")}});
  const std::vector<std::int64_t> one{0};
  CHECK_ERROR(beam_search(broken, one, {}), numeric, "no word of 6");
  CHECK_ERROR(sampled_captions(broken, one, {}), numeric, "no word of 6");
  CHECK_ERROR(sampled_captions(broken, one, {.sharpness = 0}), usage, "sharpness");
}

}  // namespace
}  // namespace stein::lm
