#include <stein/lm/captioning/caption_examples.h>
#include <stein/lm/scenes/caption_truth.h>
#include <stein/lm/scenes/scene_image.h>
#include <stein/lm/scenes/scene_set.h>
#include <stein/runs/measured.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// Images and captions of each that are shown.
constexpr std::size_t most_images = 6, most_captions = 3;

Json truth_json(const std::string& caption, const Scene* scene) {
  if (scene == nullptr) return nullptr;
  switch (judge_caption(caption, *scene).truth) {
    case Truth::is_true: return "true";
    case Truth::is_false: return "false";
    case Truth::no_caption: break;
  }
  return "no caption";
}

/// The picture of a scene that its features are of.
std::string picture_of(const std::string& id, const Scene& scene) {
  const auto index = static_cast<std::uint32_t>(std::stoul(id.substr(id.find('-') + 1)));
  const std::vector<std::uint8_t> bytes = draw_picture(scene, SceneSetOptions{}.seed, index);
  constexpr std::size_t pixels = picture_pixels * picture_pixels;
  std::string digits;
  for (std::size_t pixel = 0; pixel < pixels; ++pixel)
    for (std::size_t colour = 0; colour < 3; ++colour) digits += fmt::format("{:02x}", bytes[colour * pixels + pixel]);
  return digits;
}

}  // namespace

Json sure_words_json(std::span<const CaptionDecoder::SureWord> words, const Vocabulary& vocabulary) {
  Json list = Json::array();
  for (const CaptionDecoder::SureWord& word : words)
    list.push_back({vocabulary.token(word.token), runs::rounded(word.probability), runs::rounded(word.deviation)});
  return list;
}

Json caption_examples(const CaptionDecoder& decoder, const Vocabulary& vocabulary,
                      inference::MatrixView<const float> weights, std::span<const CaptionedImage> images,
                      const std::map<std::string, Scene>& scenes) {
  std::vector<CaptionedImage> chosen;
  std::vector<std::int64_t> rows;
  const std::size_t count = std::min(most_images, images.size());
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(images[i * images.size() / count]);
    rows.push_back(chosen.back().row);
  }
  const auto scene_of = [&](const CaptionedImage& image) {
    const auto place = scenes.find(image.id);
    return place == scenes.end() ? nullptr : &place->second;
  };
  const auto best = [&](inference::MatrixView<const float> of) {
    auto captions = decoder.decode(of, rows, 0);
    for (auto& of_image : captions) of_image.resize(std::min(of_image.size(), most_captions));
    return captions;
  };
  const auto captions_json = [&](const std::vector<DecodedCaption>& captions, const Scene* scene) {
    Json list = Json::array();
    for (const DecodedCaption& caption : captions) {
      const std::string text = caption_of(caption.words, vocabulary);
      list.push_back({{"caption", text},
                      {"log_probability", runs::rounded(caption.log_probability)},
                      {"truth", truth_json(text, scene)}});
    }
    return list;
  };
  std::vector<std::vector<std::vector<DecodedCaption>>> samples;
  if (weights.rows > 1) samples = {best(weights.block(0, 1)), best(weights.block(weights.rows - 1, 1))};
  const auto average = best(weights);
  Json examples = Json::array();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Scene* const scene = scene_of(chosen[i]);
    Json each{{"id", chosen[i].id},
              {"references", chosen[i].captions},
              {"picture", scene == nullptr ? Json(nullptr) : Json(picture_of(chosen[i].id, *scene))},
              {"samples", Json::array()},
              {"average", captions_json(average[i], scene)}};
    for (const auto& sample : samples) each["samples"].push_back(captions_json(sample[i], scene));
    const std::vector<std::int64_t> same(average[i].size(), rows[i]);
    const auto sure = decoder.certainty(weights, same, average[i]);
    for (std::size_t k = 0; k < sure.size(); ++k) each["average"][k]["words"] = sure_words_json(sure[k], vocabulary);
    examples.push_back(std::move(each));
  }
  return examples;
}

}  // namespace stein::lm
