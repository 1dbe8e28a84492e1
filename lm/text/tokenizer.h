// From text to the numbers of its tokens.
#pragma once

#include <stein/lm/text/vocabulary.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stein::lm {

/// The numbers of a text's tokens, and how many of them stand for a word that the vocabulary does not have.
struct TokenizedText {
  std::vector<std::int32_t> tokens;
  std::int64_t unknown = 0;
};

/// Calls `visit` for every token of `text` in order. Words are what stands between spaces and tabs, and
/// `end_of_sentence` behind every line (a line ends with "\n", "\r\n" or the text; one without words is an
/// `end_of_sentence` only).
/// @param source  what an error calls the text
/// @throws Error(data) naming `source` and the line of text that is no UTF-8; not for bytes, which may be anything
void for_each_token(std::string_view text, TokenUnit unit, std::string_view source,
                    const std::function<void(std::string_view token)>& visit);

/// The vocabulary of `text`. Bytes and characters are in the order of their codes; words in that of their counts, of
/// equal ones by first appearance.
/// @param min_count  words that occur fewer times are left out, and stand as `unknown_word`, which is then a token
/// @throws Error(data) naming `source` if there is no token, and as for_each_token
Vocabulary make_vocabulary(std::string_view text, TokenUnit unit, std::string_view source, std::int64_t min_count = 1);

/// The tokens of `text` by their numbers. Words that the vocabulary does not have are `unknown_word` where it has that;
/// ends of sentences are left out where it has none.
/// @throws Error(data) naming `source`, the first token that is not in the vocabulary, its line, and how many there
/// are;
///         and as for_each_token
TokenizedText tokenize(std::string_view text, const Vocabulary& vocabulary, std::string_view source);

}  // namespace stein::lm
