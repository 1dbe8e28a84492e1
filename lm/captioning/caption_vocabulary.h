// Captions as numbers of words: what a captioning model reads and writes.
#pragma once

#include <stein/lm/captions/caption_data.h>
#include <stein/lm/text/vocabulary.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein::lm {

/// Stands before every caption.
inline constexpr std::string_view start_of_caption = "<start>";
/// Numbers of the tokens that are no words, in every vocabulary of captions: `<start>`, `<eos>`, `<unk>`.
inline constexpr std::int32_t start_token = 0, end_token = 1, unknown_token = 2;

/// A caption of one image as a model is to predict it.
struct CaptionSequence {
  std::int64_t image_row = 0;          ///< of the features
  std::vector<std::int32_t> tokens{};  ///< its words, then `end_token`; at least the latter
};

/// The words that `coco_words` finds at least `min_count` times in the captions of `images`, the most frequent first,
/// words of equal counts in alphabetical order, behind the three tokens that are no words.
/// Throws Error(data) if no word is left.
Vocabulary caption_vocabulary(std::span<const CaptionedImage> images, std::int64_t min_count);

/// All captions of `images` in their order. Words that the vocabulary lacks become `unknown_token`.
/// @param unknown  is raised by the number of such words
std::vector<CaptionSequence> caption_sequences(std::span<const CaptionedImage> images, const Vocabulary& vocabulary,
                                               std::int64_t& unknown);

/// Tokens that a model predicts in all of them: words, and an end each.
std::int64_t token_count(std::span<const CaptionSequence> captions);

/// Words with single spaces between them; `end_token` and what stands behind it are left out.
std::string caption_of(std::span<const std::int32_t> tokens, const Vocabulary& vocabulary);

}  // namespace stein::lm
