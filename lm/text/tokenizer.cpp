#include <simdjson.h>
#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/lm/text/tokenizer.h>
#include <stein/lm/text/words.h>

#include <algorithm>
#include <map>

namespace stein::lm {
namespace {

/// The text up to its next line end, without it, which is taken off `text`.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void check_utf8(std::string_view text, std::string_view source) {
  if (simdjson::validate_utf8(text.data(), text.size())) return;
  for (std::int64_t number = 1;; ++number)
    if (const std::string_view line = take_line(text); !simdjson::validate_utf8(line.data(), line.size()))
      fail(ErrorKind::data,
           "'{}', line {}: expected UTF-8, found '{}' (models of bytes, tokens = bytes, read any text)", source, number,
           escaped(line.substr(0, 60)));
}

template <class Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    for (const std::string_view word : words_between_spaces(take_line(text))) visit(word);
    visit(end_of_sentence);
  }
}

/// Bytes of the character that begins with `first`, in valid UTF-8.
std::size_t character_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// The number of the line that holds token `index` of the text.
std::int64_t line_of(std::int64_t index, std::string_view text, TokenUnit unit, std::string_view source) {
  const std::string_view line_end = unit == TokenUnit::words ? end_of_sentence : "\n";
  std::int64_t line = 1, seen = 0;
  for_each_token(text, unit, source, [&](std::string_view token) {
    if (seen++ < index && token == line_end) ++line;
  });
  return line;
}

}  // namespace

void for_each_token(std::string_view text, TokenUnit unit, std::string_view source,
                    const std::function<void(std::string_view token)>& visit) {
  if (unit != TokenUnit::bytes) check_utf8(text, source);
  if (unit == TokenUnit::words) return for_each_word(text, visit);
  while (!text.empty()) {
    const std::size_t size = unit == TokenUnit::bytes ? 1 : character_size(text.front());
    visit(text.substr(0, size));
    text.remove_prefix(size);
  }
}

Vocabulary make_vocabulary(std::string_view text, TokenUnit unit, std::string_view source, std::int64_t min_count) {
  if (text.empty()) fail(ErrorKind::data, "'{}' has no text: a vocabulary needs at least one token", source);
  if (unit != TokenUnit::words) {
    std::map<std::string, int, std::less<>> found;
    for_each_token(text, unit, source, [&](std::string_view token) {
      if (!found.contains(token)) found.emplace(token, 0);
    });
    std::vector<std::string> tokens;
    tokens.reserve(found.size());
    for (const auto& [token, ignored] : found) tokens.push_back(token);
    return {unit, std::move(tokens)};
  }
  WordCounts words;
  for_each_token(text, unit, source, [&](std::string_view token) { words.add(token); });
  std::vector<std::string> tokens;
  bool rare = false, has_unknown = false;
  for (const WordCounts::Word& word : words.by_count()) {
    const bool kept = word.count >= min_count || word.text == end_of_sentence || word.text == unknown_word;
    if (kept) tokens.emplace_back(word.text);
    rare |= !kept;
    has_unknown |= word.text == unknown_word;
  }
  if (rare && !has_unknown) tokens.emplace_back(unknown_word);
  return {unit, std::move(tokens)};
}

TokenizedText tokenize(std::string_view text, const Vocabulary& vocabulary, std::string_view source) {
  TokenizedText result;
  const auto unknown = vocabulary.unit() == TokenUnit::words ? vocabulary.unknown() : std::nullopt;
  std::optional<std::int64_t> first_unknown;
  std::string first_token;
  for_each_token(text, vocabulary.unit(), source, [&](std::string_view token) {
    const auto number = vocabulary.find(token);
    if (!number && token == end_of_sentence) return;  // a text that has no ends
    if (!number) {
      ++result.unknown;
      if (!first_unknown) first_unknown = std::ssize(result.tokens), first_token = token;
    }
    result.tokens.push_back(number.value_or(unknown.value_or(0)));
  });
  if (result.unknown > 0 && !unknown)
    fail(ErrorKind::data, "'{}', line {}: '{}' is not in the vocabulary of {} {} (unknown: {} of its {} tokens){}",
         source, line_of(*first_unknown, text, vocabulary.unit(), source), escaped(first_token), vocabulary.size(),
         unit_name(vocabulary.unit()), result.unknown, result.tokens.size(),
         vocabulary.unit() == TokenUnit::words ? "; a vocabulary with min_count of 2 or more has a word for them" : "");
  return result;
}

}  // namespace stein::lm
