#include <stein/core/error.h>
#include <stein/lm/captioning/caption_vocabulary.h>
#include <stein/lm/captions/coco_tokenizer.h>

#include <algorithm>
#include <map>
#include <utility>

namespace stein::lm {
namespace {

std::vector<std::string> tokens_without_words() {
  return {std::string(start_of_caption), std::string(end_of_sentence), std::string(unknown_word)};
}

/// Whether people wrote what stands for no word here: `<unk>` in a caption is an unknown word.
bool is_no_word(const std::string& word) {
  return word == start_of_caption || word == end_of_sentence || word == unknown_word;
}

}  // namespace

Vocabulary caption_vocabulary(std::span<const CaptionedImage> images, std::int64_t min_count) {
  std::map<std::string, std::int64_t> counts;
  for (const CaptionedImage& image : images)
    for (const std::string& caption : image.captions)
      for (const std::string& word : coco_words(caption))
        if (!is_no_word(word)) ++counts[word];
  std::vector<std::pair<std::string, std::int64_t>> words;
  for (const auto& [word, count] : counts)
    if (count >= min_count) words.emplace_back(word, count);
  if (words.empty())
    fail(ErrorKind::data, "no word is {} times in the captions of the {} training images: lower min_count", min_count,
         images.size());
  std::ranges::stable_sort(words, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> tokens = tokens_without_words();
  for (auto& [word, count] : words) tokens.push_back(std::move(word));
  return {TokenUnit::words, std::move(tokens)};
}

std::vector<CaptionSequence> caption_sequences(std::span<const CaptionedImage> images, const Vocabulary& vocabulary,
                                               std::int64_t& unknown) {
  std::vector<CaptionSequence> sequences;
  for (const CaptionedImage& image : images)
    for (const std::string& caption : image.captions) {
      CaptionSequence& sequence = sequences.emplace_back(CaptionSequence{.image_row = image.row});
      for (const std::string& word : coco_words(caption)) {
        const auto number = is_no_word(word) ? std::nullopt : vocabulary.find(word);
        if (!number) ++unknown;
        sequence.tokens.push_back(number.value_or(unknown_token));
      }
      sequence.tokens.push_back(end_token);
    }
  return sequences;
}

std::int64_t token_count(std::span<const CaptionSequence> captions) {
  std::int64_t count = 0;
  for (const CaptionSequence& caption : captions) count += std::ssize(caption.tokens);
  return count;
}

std::string caption_of(std::span<const std::int32_t> tokens, const Vocabulary& vocabulary) {
  std::string text;
  for (const std::int32_t token : tokens) {
    if (token == end_token) break;
    text += (text.empty() ? "" : " ") + vocabulary.token(token);
  }
  return text;
}

}  // namespace stein::lm
