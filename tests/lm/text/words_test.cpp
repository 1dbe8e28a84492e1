// Words of a text: cut at spaces, and counted; and what an option `data` means.
#include <stein/lm/text/data_name.h>
#include <stein/lm/text/words.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/temporary_directory.h"

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

TEST_CASE("data are a file where the name is not registered, and has a slash or is one", "[lm][words]") {
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "text") << "text";
  Registry<int> registered("text");
  registered.add("known", 1), registered.add("with/slash", 2);
  CHECK_FALSE(means_file("known", registered));
  CHECK_FALSE(means_file("with/slash", registered));
  CHECK_FALSE(means_file("unknown", registered));
  CHECK(means_file("./unknown", registered));
  CHECK(means_file((folder / "text").string(), registered));
}

}  // namespace
}  // namespace stein::lm
