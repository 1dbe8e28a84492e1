// Images that a report shows, with what samples of a model say of them.
#include <stein/lm/captioning/caption_examples.h>
#include <stein/runs/measured.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "lm/captioning/captioned_images.h"

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("examples show what the first sample says, the last one, and all of them together", "[lm][caption]") {
  const CaptionData data = test::small_images(4);
  const Vocabulary vocabulary = caption_vocabulary(data.train, 1);
  const inference::RecurrentSpec spec = test::small_network(vocabulary.size(), inference::FeatureUse::initial_state);
  inference::ParticleRecurrent model(spec);
  const inference::Matrix<float> weights = test::random_weights(model, 4);
  const CaptionDecoder decoder(model, spec, vocabulary, data.features.view(),
                               {.beam = {.beam_width = 3, .max_length = 6}});
  std::vector<std::int64_t> rows;
  for (const CaptionedImage& image : data.test) rows.push_back(image.row);
  const auto said = [&](std::int64_t first, std::int64_t count) {
    Json of_images = Json::array();
    for (const auto& captions : decoder.decode(weights.view().block(first, count), rows, 0)) {
      Json& list = of_images.emplace_back(Json::array());
      for (const DecodedCaption& each : captions)
        list.push_back({{"caption", caption_of(each.words, vocabulary)},
                        {"log_probability", runs::rounded(each.log_probability)},
                        {"truth", nullptr}});
    }
    return of_images;
  };
  const Json first = said(0, 1), last = said(3, 1), all = said(0, 4);
  const Json examples = caption_examples(decoder, vocabulary, weights.view(), data.test, {});
  REQUIRE(examples.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(examples[i]["id"] == data.test[i].id);
    for (const std::int64_t other : {0, 1, 2}) REQUIRE(last[i] != said(other, 1)[i]);
    CHECK(examples[i]["samples"] == Json::array({first[i], last[i]}));
    Json average = examples[i]["average"];
    for (Json& caption : average) caption.erase("words");
    CHECK(average == all[i]);
  }
  const Json alone = caption_examples(decoder, vocabulary, weights.view().block(0, 1), data.test, {});
  for (const Json& example : alone) CHECK(example["samples"].empty());
}

}  // namespace
}  // namespace stein::lm
