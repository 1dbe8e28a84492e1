#include <stein/lm/classification/sentence_rows.h>

#include <algorithm>

namespace stein::lm {

SentenceRows::SentenceRows(std::vector<NumberedSentence> sentences, std::shared_ptr<const Vocabulary> vocabulary)
    : sentences_(std::move(sentences)), vocabulary_(std::move(vocabulary)) {}

std::string SentenceRows::text(std::int64_t row) const {
  std::string words;
  for (const std::int32_t word : sentence(row).words) words += (words.empty() ? "" : " ") + vocabulary_->token(word);
  return words;
}

inference::Inputs<float> SentenceRows::inputs(std::span<const std::int64_t> rows) {
  std::int64_t longest = 0;
  for (const std::int64_t row : rows) longest = std::max(longest, length(row));
  tokens_.assign(rows.size() * static_cast<std::size_t>(longest), -1);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(sentence(rows[i]).words, tokens_.begin() + static_cast<std::ptrdiff_t>(i) * longest);
  inference::Inputs<float> inputs;
  inputs.tokens = {tokens_.data(), std::ssize(rows), longest};
  return inputs;
}

}  // namespace stein::lm
