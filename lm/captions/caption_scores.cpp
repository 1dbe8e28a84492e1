#include <stein/lm/captions/bleu.h>
#include <stein/lm/captions/caption_scores.h>
#include <stein/lm/captions/cider_d.h>
#include <stein/lm/captions/meteor.h>
#include <stein/lm/captions/rouge_l.h>

#include <array>

namespace stein::lm {

std::vector<TokenizedCaption> tokenize_captions(std::span<const CandidateCaption> images) {
  std::vector<TokenizedCaption> captions;
  for (const CandidateCaption& image : images) {
    TokenizedCaption& caption =
        captions.emplace_back(TokenizedCaption{.caption = coco_words(image.caption), .references = {}});
    for (const std::string& reference : image.references) caption.references.push_back(coco_words(reference));
  }
  return captions;
}

std::vector<NamedMetric> score_captions(std::span<const CandidateCaption> images) {
  constexpr std::array<std::string_view, longest_ngram> bleu_names{"BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4"};
  const std::vector<TokenizedCaption> captions = tokenize_captions(images);
  const BleuScores bleu_scores = bleu(captions);
  std::vector<NamedMetric> metrics;
  for (std::size_t n = 0; n < longest_ngram; ++n) {
    CaptionMetric metric{.corpus = bleu_scores.corpus[n], .images = {}};
    for (const Bleu& image : bleu_scores.images) metric.images.push_back(image[n]);
    metrics.push_back({bleu_names[n], std::move(metric)});
  }
  metrics.push_back({"ROUGE-L", rouge_l(captions)});
  metrics.push_back({"CIDEr-D", cider_d(captions)});
  metrics.push_back({meteor_name, meteor_exact_stem(captions)});
  return metrics;
}

}  // namespace stein::lm
