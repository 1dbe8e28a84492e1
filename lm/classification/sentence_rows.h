// Sentences of a part as rows that a recurrent network reads.
#pragma once

#include <stein/lm/text/sentence_parts.h>
#include <stein/training/labelled_rows.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stein::lm {

/// Token numbers of each sentence; behind the words of the shorter ones of a minibatch stand negative numbers, which
/// are no words.
class SentenceRows final : public training::LabelledRows {
 public:
  /// @param vocabulary  whose numbers the words are
  SentenceRows(std::vector<NumberedSentence> sentences, std::shared_ptr<const Vocabulary> vocabulary);

  const std::shared_ptr<const Vocabulary>& vocabulary() const { return vocabulary_; }
  std::int64_t count() const override { return std::ssize(sentences_); }
  std::int64_t label(std::int64_t row) const override { return sentence(row).label; }
  std::int64_t length(std::int64_t row) const override { return std::ssize(sentence(row).words); }
  /// The words with spaces between; those that the vocabulary lacks are `unknown_word`.
  std::string text(std::int64_t row) const override;
  inference::Inputs<float> inputs(std::span<const std::int64_t> rows) override;

 private:
  const NumberedSentence& sentence(std::int64_t row) const { return sentences_[static_cast<std::size_t>(row)]; }

  std::vector<NumberedSentence> sentences_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<std::int32_t> tokens_;
};

}  // namespace stein::lm
