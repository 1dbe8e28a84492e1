// Captions as numbers of words, and their minibatches.
#include <stein/lm/captioning/caption_batch.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

const std::vector<CaptionedImage> captioned_images{{.id = "a", .row = 1, .captions = {"A dog runs.", "A dog, a cat!"}},
                                                   {.id = "b", .row = 0, .captions = {"a cat sits"}}};

TEST_CASE("the vocabulary of captions has words that are frequent enough, the most frequent first", "[lm][caption]") {
  // a 4, cat 2, dog 2, runs 1, sits 1; punctuation is no word.
  const Vocabulary all = caption_vocabulary(captioned_images, 1);
  REQUIRE(all.size() == 8);
  CHECK(all.token(start_token) == "<start>");
  CHECK(all.token(end_token) == "<eos>");
  CHECK(all.token(unknown_token) == "<unk>");
  CHECK(all.token(3) == "a");
  CHECK(all.token(4) == "cat");
  CHECK(all.token(5) == "dog");
  CHECK(all.token(7) == "sits");
  CHECK(caption_vocabulary(captioned_images, 2).size() == 6);
  CHECK_ERROR(caption_vocabulary(captioned_images, 5), data, "no word is 5 times", "min_count");
}

TEST_CASE("captions become words and an end, unknown words are counted", "[lm][caption]") {
  const Vocabulary vocabulary = caption_vocabulary(captioned_images, 2);
  std::int64_t unknown = 0;
  const auto captions = caption_sequences(captioned_images, vocabulary, unknown);
  REQUIRE(captions.size() == 3);
  CHECK(unknown == 2);
  CHECK(captions[0].tokens == std::vector<std::int32_t>{3, 5, unknown_token, end_token});
  CHECK(captions[1].tokens == std::vector<std::int32_t>{3, 5, 3, 4, end_token});
  CHECK(captions[0].image_row == 1);
  CHECK(captions[2].image_row == 0);
  CHECK(token_count(captions) == 13);
  CHECK(caption_of(captions[1].tokens, vocabulary) == "a dog a cat");
  CHECK(caption_of(std::vector<std::int32_t>{end_token}, vocabulary).empty());
}

TEST_CASE("what stands for no word is an unknown word in a caption", "[lm][caption]") {
  const std::vector<CaptionedImage> odd{{.id = "a", .row = 0, .captions = {"a <unk> b", "a <eos> b"}}};
  const Vocabulary vocabulary = caption_vocabulary(odd, 1);
  std::int64_t unknown = 0;
  for (const CaptionSequence& caption : caption_sequences(odd, vocabulary, unknown)) {
    CHECK(std::ranges::count(caption.tokens, end_token) == 1);
    CHECK(std::ranges::count(caption.tokens, start_token) == 0);
  }
}

TEST_CASE("a minibatch has the image of each caption, and negative numbers behind shorter ones", "[lm][caption]") {
  std::int64_t unknown = 0;
  const auto captions = caption_sequences(captioned_images, caption_vocabulary(captioned_images, 2), unknown);
  const std::vector<float> features{0, 1, 10, 11};  // rows 0 and 1
  CaptionBatch made;
  const std::vector<std::int64_t> chosen{2, 1};
  made.fill(captions, chosen, {features.data(), 2, 2});
  CHECK(made.rows == 2);
  CHECK(made.steps == 5);
  CHECK(made.size == 4 + 5);
  CHECK(made.tokens == std::vector<std::int32_t>{0, 3, 4, 2, -1, 0, 3, 5, 3, 4});
  CHECK(made.targets == std::vector<float>{3, 4, 2, 1, -1, 3, 5, 3, 4, 1});
  CHECK(made.features == std::vector<float>{0, 1, 10, 11});
  const inference::Batch<float> batch = made.batch(3);
  CHECK(batch.likelihood_scale() == 1.5);  // 3 captions, 2 of them here
  CHECK(batch.inputs.dense.columns == 2);
  made.fill(captions, chosen, {});
  CHECK(made.inputs().dense.data == nullptr);
}

}  // namespace
}  // namespace stein::lm
