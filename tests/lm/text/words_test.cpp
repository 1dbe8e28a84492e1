// Words of a text: cut at spaces, and counted.
#include <stein/lm/text/words.h>

#include <catch2/catch.hpp>

namespace stein::lm {
namespace {

TEST_CASE("words are what stands between spaces and tabs", "[lm][words]") {
  using Words = std::vector<std::string_view>;
  CHECK(words_between_spaces(" a\tb  c-d. ") == Words{"a", "b", "c-d."});
  CHECK(words_between_spaces("one") == Words{"one"});
  CHECK(words_between_spaces(" \t ").empty());
  CHECK(words_between_spaces("").empty());
}

TEST_CASE("words are ordered by their counts, and equally frequent ones by their first appearance", "[lm][words]") {
  WordCounts counts;
  for (const char* word : {"b", "a", "c", "a", "c", "d"}) counts.add(word);
  std::string found;
  for (const WordCounts::Word& word : counts.by_count()) found += std::string(word.text) + std::to_string(word.count);
  CHECK(found == "a2c2b1d1");
  CHECK(WordCounts().by_count().empty());
}

}  // namespace
}  // namespace stein::lm
