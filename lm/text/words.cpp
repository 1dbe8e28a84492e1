#include <stein/lm/text/words.h>

#include <algorithm>
#include <functional>

namespace stein::lm {

std::vector<std::string_view> words_between_spaces(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(" \t", begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

void WordCounts::add(std::string_view word) {
  const auto [place, is_new] = places_.emplace(word, words_.size());
  if (is_new) words_.push_back({word});
  ++words_[place->second].count;
}

std::vector<WordCounts::Word> WordCounts::by_count() const {
  std::vector<Word> sorted = words_;
  std::ranges::stable_sort(sorted, std::ranges::greater(), &Word::count);
  return sorted;
}

}  // namespace stein::lm
