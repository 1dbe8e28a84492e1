#include <stein/lm/captions/word_alignment.h>

#include <catch2/catch.hpp>

#include "caption_words.h"

namespace stein::lm {
namespace {

using Matches = std::vector<std::string>;

/// "0-2" for an exact match of the caption's word 0 and the reference's word 2, "0~2" for one of stems.
Matches align(const std::string& caption, const std::string& reference) {
  EnglishStemmer stemmer;
  Matches result;
  for (const WordMatch& match :
       align_words(stemmer.with_stems(test::words(caption)), stemmer.with_stems(test::words(reference))))
    result.push_back(std::to_string(match.caption) + (match.exact ? "-" : "~") + std::to_string(match.reference));
  return result;
}

std::int64_t chunks(const std::string& caption, const std::string& reference) {
  EnglishStemmer stemmer;
  return count_chunks(
      align_words(stemmer.with_stems(test::words(caption)), stemmer.with_stems(test::words(reference))));
}

TEST_CASE("Snowball's stemmer cuts English endings", "[lm][captions][alignment]") {
  EnglishStemmer stemmer;
  for (const char* word : {"ride", "rides", "riding"}) CHECK(stemmer.stem(word) == "ride");
  CHECK(stemmer.stem("happily") == "happili");
  CHECK(stemmer.stem("generously") == "generous");  // the first Porter stemmer says "gener"
  CHECK(stemmer.stem("café") == "café");
  CHECK(stemmer.stem("").empty());
}

TEST_CASE("equal words match, and words of equal stem", "[lm][captions][alignment]") {
  CHECK(align("a man rides a horse", "a man riding a horse") == Matches{"0-0", "1-1", "2~2", "3-3", "4-4"});
  CHECK(align("dog", "cat").empty());
  CHECK(align("", "cat").empty());
  CHECK(align("cat", "").empty());
}

TEST_CASE("a word is in one match only", "[lm][captions][alignment]") {
  CHECK(align("the the the", "the cat").size() == 1);
  CHECK(align("the", "the the the") == Matches{"0-0"});
}

TEST_CASE("of many alignments that with fewest chunks is taken", "[lm][captions][alignment]") {
  CHECK(align("a b", "c a b x y a b z") == Matches{"0-1", "1-2"});  // and of two with one chunk the nearer
  CHECK(align("a b", "a x y a b") == Matches{"0-3", "1-4"});        // not 0-0, which is nearer
  CHECK(align("x x x a b", "a b y a b") == Matches{"3-3", "4-4"});
  CHECK(align("x a b a c", "a c x a b") == Matches{"0-2", "1-3", "2-4", "3-0", "4-1"});
  CHECK(chunks("the cat sat on the mat", "on the mat sat the cat") == 3);  // "the cat", "sat", "on the mat"
  CHECK(chunks("a cat", "a cat") == 1);
  CHECK(chunks("a b c", "c b a") == 3);
  CHECK(chunks("a x b", "a b") == 2);  // a gap in the caption ends a chunk
  CHECK(chunks("a b", "a x b") == 2);  // and so does one in the reference
}

TEST_CASE("exact matches come before those of stems, and as many words match as can", "[lm][captions][alignment]") {
  // "run" has its like at place 3, though "runs" at place 1 would make one chunk.
  CHECK(align("the run", "the runs x run") == Matches{"0-0", "1-3"});
  CHECK(align("runs", "run runs") == Matches{"0-1"});
  // runs-runs is exact, and "run" is left for "running", though they cross.
  CHECK(align("run runs", "runs running") == Matches{"0~1", "1-0"});
  CHECK(align("cat cat", "cats cats") == Matches{"0~0", "1~1"});
}

TEST_CASE("captions of one word over and over are aligned in bounded time", "[lm][captions][alignment]") {
  std::string caption, reference;
  for (int i = 0; i < 40; ++i) caption += "a ", reference += i % 2 == 0 ? "a " : "b ";
  CHECK(align(caption, reference).size() == 20);
}

}  // namespace
}  // namespace stein::lm
