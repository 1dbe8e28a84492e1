#include <simdjson.h>
#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/lm/captions/coco_tokenizer.h>
#include <stein/lm/captions/ptb_rules.h>

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stein::lm {
namespace {

constexpr char32_t soft_hyphen = 0xad;

std::u32string code_points(std::string_view text) {
  std::u32string result;
  const auto* next = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (auto left = static_cast<utf8proc_ssize_t>(text.size()); left > 0;) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t bytes = utf8proc_iterate(next, left, &c);
    next += bytes, left -= bytes;
    if (c != soft_hyphen) result += static_cast<char32_t>(c);
  }
  return result;
}

std::string utf8(std::u32string_view text) {
  std::string result;
  for (const char32_t c : text) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
    result.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(count));
  }
  return result;
}

using Spelling = std::pair<std::u32string_view, std::u32string_view>;

/// Tokens that are written in another way. An empty one is punctuation.
constexpr auto spellings = std::to_array<Spelling>({
    {U"(", U"-lrb-"}, {U")", U"-rrb-"}, {U"[", U"-lsb-"}, {U"]", U"-rsb-"}, {U"{", U"-lcb-"}, {U"}", U"-rcb-"},
    {U"½", U"1/2"},   {U"¼", U"1/4"},   {U"¾", U"3/4"},   {U"⅓", U"1/3"},   {U"⅔", U"2/3"},   {U"£", U"#"},
    {U"€", U"$"},     {U"¤", U"$"},     {U"¢", U"cents"}, {U"&amp;", U"&"}, {U"&lt;", U"<"},  {U"&gt;", U">"},
    {U"&quot;", U""}, {U"&apos;", U""}, {U"&nbsp;", U""}, {U"’s", U"'s"},   {U"’m", U"'m"},   {U"’d", U"'d"},
    {U"’ll", U"'ll"}, {U"’re", U"'re"}, {U"’ve", U"'ve"}, {U"n’t", U"n't"},
});

/// Punctuation, of which any number may follow one another in a token.
constexpr std::u32string_view punctuation = U".,:;`'\"‘’“”‛«»‹›–—―…";

/// A token as it is scored; empty for punctuation.
std::u32string written(std::u32string token) {
  const auto place = std::ranges::find(spellings, std::u32string_view(token), &Spelling::first);
  if (place != spellings.end()) return std::u32string(place->second);
  if (token == U"!" || token == U"?" || (token.size() < 5 && token.find_first_not_of(U'-') == std::u32string::npos))
    return {};
  if (token.find_first_not_of(punctuation) == std::u32string::npos) return {};
  return token;
}

}  // namespace

Words coco_words(std::string_view caption) {
  if (!simdjson::validate_utf8(caption.data(), caption.size()))
    fail(ErrorKind::data, "expected a caption in UTF-8, found '{}'", escaped(caption));
  const std::u32string text = code_points(caption);
  Words words;
  for (std::u32string_view rest = text; !rest.empty();) {
    const bool is_token = !ptb::separates(rest[0]);
    const std::size_t length = is_token ? ptb::token_length(rest) : 1;
    const std::u32string word = is_token ? written(ptb::lower(rest.substr(0, length))) : std::u32string();
    if (!word.empty()) words.push_back(utf8(word));
    rest.remove_prefix(length);
  }
  return words;
}

}  // namespace stein::lm
