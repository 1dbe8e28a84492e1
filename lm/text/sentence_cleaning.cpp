#include <stein/lm/text/sentence_cleaning.h>
#include <stein/lm/text/words.h>

#include <algorithm>
#include <array>

namespace stein::lm {
namespace {

bool is_digit_or_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_one_of(char c, std::string_view list) {
  return list.find(c) != std::string_view::npos;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::vector<std::string> cleaned_words(std::string_view sentence, bool lower_case) {
  constexpr std::array<std::string_view, 6> endings{"'s", "'ve", "n't", "'re", "'d", "'ll"};
  std::string cleaned;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const std::string_view rest = sentence.substr(i);
    const bool stands_alone = is_one_of(rest[0], ",!()?");
    const bool begins_ending =
        std::ranges::any_of(endings, [&](std::string_view ending) { return rest.starts_with(ending); });
    if (stands_alone || begins_ending) cleaned += ' ';
    cleaned += stands_alone || is_digit_or_letter(rest[0]) || is_one_of(rest[0], "'`") ? rest[0] : ' ';
    if (stands_alone) cleaned += ' ';
  }
  if (lower_case) std::ranges::transform(cleaned, cleaned.begin(), lower);
  const std::vector<std::string_view> words = words_between_spaces(cleaned);
  return {words.begin(), words.end()};
}

}  // namespace stein::lm
