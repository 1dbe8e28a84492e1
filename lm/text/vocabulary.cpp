#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/lm/text/vocabulary.h>

#include <fmt/format.h>

namespace stein::lm {
namespace {

constexpr std::string_view first_words = "tokens: ";

TokenUnit unit_called(std::string_view name, std::string_view source) {
  for (const TokenUnit unit : {TokenUnit::words, TokenUnit::bytes, TokenUnit::characters})
    if (name == unit_name(unit)) return unit;
  fail(ErrorKind::data, "'{}' is no vocabulary: tokens are words, bytes or characters, got '{}'", source,
       escaped(name));
}

}  // namespace

Vocabulary::Vocabulary(TokenUnit unit, std::vector<std::string> tokens) : unit_(unit), tokens_(std::move(tokens)) {
  if (tokens_.empty()) fail(ErrorKind::data, "a vocabulary needs at least one token");
  for (const std::string& token : tokens_)
    if (!numbers_.emplace(token, static_cast<std::int32_t>(numbers_.size())).second)
      fail(ErrorKind::data, "the token '{}' is in the vocabulary twice", escaped(token));
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  const auto place = numbers_.find(token);
  if (place == numbers_.end()) return std::nullopt;
  return place->second;
}

const std::string& Vocabulary::token(std::int32_t number) const {
  STEIN_CHECK(number >= 0 && number < size(), "vocabulary: expected a token from 0 to {}, got {}", size() - 1, number);
  return tokens_[static_cast<std::size_t>(number)];
}

std::string Vocabulary::text() const {
  std::string lines = fmt::format("{}{}\n", first_words, unit_name(unit_));
  for (const std::string& token : tokens_) lines += escaped(token) + "\n";
  return lines;
}

Vocabulary Vocabulary::parse(std::string_view text, std::string_view source) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos)
      fail(ErrorKind::data, "'{}' is no whole vocabulary: its last line has no end", source);
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  if (lines.empty() || !lines.front().starts_with(first_words))
    fail(ErrorKind::data, "'{}' is no vocabulary: its first line is not '{}…'", source, first_words);
  const TokenUnit unit = unit_called(lines.front().substr(first_words.size()), source);
  lines.erase(lines.begin());
  try {
    for (std::string& line : lines) line = unescaped(line);
    return {unit, std::move(lines)};
  } catch (const Error& error) {
    fail(ErrorKind::data, "'{}' is no vocabulary: {}", source, error.what());
  }
}

Vocabulary Vocabulary::saved_in(const Snapshot& snapshot) {
  return parse(snapshot.get_text("text"), "the vocabulary of the checkpoint");
}

Vocabulary saved_vocabulary(const Snapshot& meaning) {
  return Vocabulary::saved_in(meaning.part("vocabulary"));
}

}  // namespace stein::lm
