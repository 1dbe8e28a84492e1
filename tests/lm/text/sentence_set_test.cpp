#include <stein/core/data/manifest.h>
#include <stein/lm/text/sentence_cleaning.h>
#include <stein/lm/text/sentence_set.h>

#include <catch2/catch.hpp>
#include <set>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"

namespace stein::lm {
namespace {

using stein::test::write;
using Cleaning = SentenceOptions::Cleaning;
using Words = std::vector<std::string>;

std::size_t distinct_words(const SentenceSet& set) {
  std::set<std::string> words;
  for (const Sentence& sentence : set.sentences) words.insert(sentence.words.begin(), sentence.words.end());
  return words.size();
}

std::vector<int> class_sizes(const SentenceSet& set) {
  std::vector<int> sizes(set.classes.size(), 0);
  for (const Sentence& sentence : set.sentences) ++sizes[static_cast<std::size_t>(sentence.label)];
  return sizes;
}

TEST_CASE("the published sets have the published sizes", "[lm][sentences][data-set]") {
  if (!find_data_set("sentences")) test::skip("no data set sentences");
  const SentenceSet trec = read_sentence_set({.data = "trec"});
  CHECK(trec.sentences.size() == 5'952);
  CHECK(trec.given_test == 5'452);
  CHECK(trec.classes == Words{"DESC", "ENTY", "ABBR", "HUM", "LOC", "NUM"});
  CHECK(class_sizes(trec) == std::vector<int>{1'162 + 138, 1'250 + 94, 86 + 9, 1'223 + 65, 835 + 81, 896 + 113});
  CHECK(trec.sentences[0].words ==
        Words{"How", "did", "serfdom", "develop", "in", "and", "then", "leave", "Russia", "?"});
  CHECK(trec.sentences[0].label == 0);
  CHECK(trec.checksums.size() == 2);
  // Numbers of words by Kim (2014), table 1, for MR, MPQA and TREC; by Gan et al. (2017), table 7, for SUBJ and CR, of
  // which Kim has one more each.
  CHECK(distinct_words(trec) == 9'592);
  const auto check = [](const char* name, std::size_t sentences, std::size_t words, std::int64_t empty,
                        std::vector<int> sizes) {
    CAPTURE(name);
    const SentenceSet set = read_sentence_set({.data = name});
    CHECK(set.sentences.size() == sentences);
    CHECK(distinct_words(set) == words);
    CHECK(set.empty == empty);
    CHECK(class_sizes(set) == sizes);
    CHECK_FALSE(set.given_test);
  };
  check("mr", 10'662, 18'765, 0, {5'331, 5'331});
  check("subj", 10'000, 21'322, 0, {5'000, 5'000});
  check("cr", 3'775, 5'339, 5, {1'368, 2'407});
  check("mpqa", 10'606, 6'246, 3, {7'294, 3'312});
}

TEST_CASE("published sets are read in ISO-8859-1, by line ends only", "[lm][sentences][data-set]") {
  if (!find_data_set("sentences")) test::skip("no data set sentences");
  const SentenceSet mr = read_sentence_set({.data = "mr", .cleaning = Cleaning::none});
  CHECK(mr.sentences.size() == 10'662);  // the byte 0x85, a line end to some, stands inside sentences
  std::set<std::string> words;
  for (const Sentence& sentence : mr.sentences) words.insert(sentence.words.begin(), sentence.words.end());
  CHECK(words.contains("café"));
  CHECK(words.contains("it's"));
}

TEST_CASE("Kim's cleaning keeps letters, digits and some signs, and cuts endings", "[lm][sentences]") {
  CHECK(cleaned_words("It's what they've (not) said: \"don't!\", they'd, he'll & we're?", true) ==
        Words{"it", "'s", "what", "they", "'ve", "(",  "not", ")",  "said", "do", "n't",
              "!",  ",",  "they", "'d",   ",",   "he", "'ll", "we", "'re",  "?"});
  CHECK(cleaned_words("A well-known `café`, U.S. 1,000.5", false) ==
        Words{"A", "well", "known", "`caf", "`", ",", "U", "S", "1", ",", "000", "5"});
  CHECK(cleaned_words(" - . : ", true).empty());
}

TEST_CASE("a file of one's own has its labels as classes, sorted", "[lm][sentences]") {
  const stein::test::TemporaryDirectory folder;
  const auto path = write(folder / "own.txt", "news A b.\nfun\tC  d\nnews \nfun\nnews é f\r\n");
  const SentenceSet set = read_sentence_set({.data = path.string()});
  CHECK(set.name == "own");
  CHECK(set.classes == Words{"fun", "news"});
  REQUIRE(set.sentences.size() == 3);
  CHECK(set.skipped == 2);
  CHECK(set.empty == 0);
  CHECK(set.sentences[0].words == Words{"A", "b."});
  CHECK(set.sentences[0].label == 1);
  CHECK(set.sentences[1].words == Words{"C", "d"});
  CHECK(set.sentences[1].label == 0);
  CHECK(set.sentences[2].words == Words{"é", "f"});
  CHECK_FALSE(set.given_test);
  CHECK(set.checksums.at("own.txt").size() == 64);
  CHECK(read_sentence_set({.data = path.string(), .cleaning = Cleaning::kim}).sentences[0].words == Words{"a", "b"});
  CHECK(read_sentence_set({.data = path.string(), .cleaning = Cleaning::kim_with_case}).sentences[0].words ==
        Words{"A", "b"});
}

TEST_CASE("labels that are whole numbers are sorted by value", "[lm][sentences]") {
  const stein::test::TemporaryDirectory folder;
  CHECK(read_sentence_set({.data = write(folder / "a", "10 x\n9 x\n-1 x\n").string()}).classes ==
        Words{"-1", "10", "9"});
  CHECK(read_sentence_set({.data = write(folder / "b", "10 x\n9 x\n1 x\n").string()}).classes == Words{"1", "9", "10"});
}

TEST_CASE("a test file of one's own has the classes of the training file", "[lm][sentences]") {
  const stein::test::TemporaryDirectory folder;
  const auto train = write(folder / "train.txt", "b x\na y\n"), test = write(folder / "test.txt", "a z\nb\nb w\n");
  const SentenceSet set = read_sentence_set({.data = train.string(), .test_data = test});
  CHECK(set.sentences.size() == 4);
  CHECK(set.given_test == 2);
  CHECK(set.skipped == 1);
  CHECK(set.sentences[2].label == 0);
  CHECK(set.sentences[3].label == 1);
  CHECK(set.checksums.size() == 2);
  write(test, "a z\nc w\n");
  CHECK_ERROR(read_sentence_set({.data = train.string(), .test_data = test}), data, "test.txt', line 2", "class 'c'",
              "not in the training file");
}

TEST_CASE("files of one's own that cannot be read are refused by line and reason", "[lm][sentences]") {
  const stein::test::TemporaryDirectory folder;
  const auto read = [&](const std::string& text) {
    return read_sentence_set({.data = write(folder / "own.txt", text).string()});
  };
  CHECK_ERROR(read("a x\n\nb y\n"), data, "own.txt', line 2", "expected a label and a sentence", "found ''");
  CHECK_ERROR(read("a x\n b y\n"), data, "own.txt', line 2", "found ' b y'");
  CHECK_ERROR(read("a x\nb na\xefve\n"), data, "own.txt', line 2", "expected UTF-8", "na\\xefve");
  CHECK_ERROR(read("a x\n\xe9 y\n"), data, "own.txt', line 2", "expected UTF-8");
  CHECK_ERROR(read("a x\na y\n"), data, "own.txt'", "at least two classes", "only 'a'");
  CHECK_ERROR(read(""), data, "own.txt' has no sentence");
  CHECK_ERROR(read("a\nb\n"), data, "own.txt' has no sentence");
  CHECK_ERROR(read_sentence_set({.data = (folder / "none.txt").string()}), data, "none.txt' does not exist");
}

TEST_CASE("sets that are not there are named, with what to do", "[lm][sentences]") {
  const stein::test::TemporaryDirectory folder;
  CHECK_ERROR(read_sentence_set({.data = "trecc"}), usage, "unknown set of sentences 'trecc'", "'trec'");
  for (const char* name : {"trec", "mr", "subj", "cr", "mpqa"})
    CHECK_ERROR(read_sentence_set({.data = name, .data_folder = folder.path()}), data, "data set sentences",
                "stein data fetch sentences", "file of your own");
}

TEST_CASE("options are those that mean something for the data", "[lm][sentences]") {
  const auto has = [](SentenceOptions options, const char* name) { return OptionTable::of(options).contains(name); };
  CHECK_FALSE(has({.data = "trec"}, "folds"));
  CHECK(has({.data = "mr"}, "folds"));
  CHECK(has({.data = "mr"}, "data_folder"));
  CHECK_FALSE(has({.data = "mr"}, "test_data"));
  CHECK(has({.data = "./own.txt"}, "test_data"));
  CHECK(has({.data = "./own.txt"}, "folds"));
  CHECK_FALSE(has({.data = "./own.txt", .test_data = "test.txt"}, "folds"));
  CHECK(has({.data = "mr", .test_data = "test.txt"}, "folds"));
}

}  // namespace
}  // namespace stein::lm
