#include <stein/lm/captioning/caption_worth.h>

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace stein::lm {
namespace {

void save_quality(Snapshot& snapshot, const std::string& name, const CaptionQuality& quality) {
  Snapshot part;
  std::vector<double> metrics;
  for (std::size_t k = 0; k < quality.metrics.size(); ++k) {
    part.put_text(fmt::format("metric{}", k), quality.metrics[k].first);
    metrics.push_back(quality.metrics[k].second);
  }
  part.put("metrics", metrics);
  if (quality.truth)
    part.put("truth", std::vector<double>{quality.truth->is_true, quality.truth->is_false, quality.truth->no_caption});
  snapshot.put_part(name, part);
}

CaptionQuality quality_in(const Snapshot& snapshot, const std::string& name) {
  const Snapshot part = snapshot.part(name);
  CaptionQuality quality;
  const auto metrics = part.get_vector<double>("metrics");
  for (std::size_t k = 0; k < metrics.size(); ++k)
    quality.metrics.emplace_back(part.get_text(fmt::format("metric{}", k)), metrics[k]);
  if (!part.contains("truth")) return quality;
  const auto truth = part.get_vector<double>("truth");
  quality.truth = {.is_true = truth.at(0), .is_false = truth.at(1), .no_caption = truth.at(2)};
  return quality;
}

/// Captions one after the other, with how many there are of each image and how many words each has.
void save_captions(Snapshot& snapshot, const Captions& captions) {
  std::vector<std::int64_t> of_image, lengths;
  std::vector<std::int32_t> words;
  std::vector<double> log_probabilities, scores;
  for (const auto& image : captions) {
    of_image.push_back(std::ssize(image));
    for (const DecodedCaption& caption : image) {
      lengths.push_back(std::ssize(caption.words));
      words.insert(words.end(), caption.words.begin(), caption.words.end());
      log_probabilities.push_back(caption.log_probability);
      scores.push_back(caption.score);
    }
  }
  snapshot.put("of_image", of_image);
  snapshot.put("lengths", lengths);
  snapshot.put("words", words);
  snapshot.put("log_probabilities", log_probabilities);
  snapshot.put("scores", scores);
}

Captions captions_in(const Snapshot& snapshot) {
  const auto lengths = snapshot.get_vector<std::int64_t>("lengths");
  const auto words = snapshot.get_vector<std::int32_t>("words");
  const auto log_probabilities = snapshot.get_vector<double>("log_probabilities");
  const auto scores = snapshot.get_vector<double>("scores");
  Captions captions;
  std::size_t next = 0;
  auto word = words.begin();
  for (const std::int64_t count : snapshot.get_vector<std::int64_t>("of_image")) {
    auto& image = captions.emplace_back();
    for (std::int64_t k = 0; k < count; ++k, ++next) {
      const auto end = word + lengths.at(next);
      image.push_back({.words = {word, end}, .log_probability = log_probabilities.at(next), .score = scores.at(next)});
      word = end;
    }
  }
  return captions;
}

}  // namespace

void CaptionWorth::save(Snapshot& snapshot) const {
  snapshot.put("samples", samples);
  Snapshot captions;
  save_captions(captions, decoded);
  snapshot.put_part("decoded", captions);
  save_quality(snapshot, "single", single);
  save_quality(snapshot, "averaged", averaged);
  save_quality(snapshot, "final_weights", final_weights);
  if (chosen) save_quality(snapshot, "chosen", *chosen);
}

void CaptionWorth::restore(const Snapshot& snapshot) {
  *this = {.samples = snapshot.get_scalar<std::int64_t>("samples"),
           .decoded = captions_in(snapshot.part("decoded")),
           .single = quality_in(snapshot, "single"),
           .averaged = quality_in(snapshot, "averaged"),
           .final_weights = quality_in(snapshot, "final_weights")};
  if (snapshot.contains("chosen/metrics")) chosen = quality_in(snapshot, "chosen");
}

}  // namespace stein::lm
