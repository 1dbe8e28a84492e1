#include <stein/lm/captioning/caption_corpus.h>
#include <stein/lm/captioning/caption_quality.h>

#include <utility>

namespace stein::lm {

CaptionCorpus make_caption_corpus(CaptionData data, std::int64_t min_count) {
  Vocabulary vocabulary = caption_vocabulary(data.train, min_count);
  CaptionCorpus made{.data = std::move(data), .vocabulary = std::move(vocabulary)};
  made.train = caption_sequences(made.data.train, made.vocabulary, made.unknown_train);
  made.validation = caption_sequences(made.data.validation, made.vocabulary, made.unknown_validation);
  made.test = caption_sequences(made.data.test, made.vocabulary, made.unknown_test);
  if (made.data.synthetic) made.scenes = scenes_by_id();
  return made;
}

std::vector<std::int64_t> rows_of(std::span<const CaptionedImage> images) {
  std::vector<std::int64_t> rows;
  for (const CaptionedImage& image : images) rows.push_back(image.row);
  return rows;
}

}  // namespace stein::lm
