// The words of a text: cut at spaces, and counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stein::lm {

/// What stands between spaces and tabs, as views of `text`.
std::vector<std::string_view> words_between_spaces(std::string_view text);

/// How often each word occurs.
class WordCounts {
 public:
  /// A word, and how often it was added.
  struct Word {
    std::string_view text;
    std::int64_t count = 0;
  };

  /// @param word  a view that stays valid as long as the counts
  void add(std::string_view word);
  /// The most frequent word first; equally frequent ones in the order in which they were first added.
  std::vector<Word> by_count() const;

 private:
  std::vector<Word> words_;  ///< in the order in which they were first added
  std::unordered_map<std::string_view, std::size_t> places_;
};

}  // namespace stein::lm
