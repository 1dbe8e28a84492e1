// Sentences with classes, to learn to classify them.
#pragma once

#include <stein/core/options.h>
#include <stein/core/registry.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stein::lm {

/// A sentence as words, and the number of its class.
struct Sentence {
  std::vector<std::string> words;
  std::int32_t label = 0;
};

/// All sentences of a data set, in the order of its files: most files have one class after the other, so minibatches
/// are to be drawn at random.
struct SentenceSet {
  std::string name;
  std::vector<std::string> classes;  ///< names, by number
  std::vector<Sentence> sentences;
  std::optional<std::size_t> given_test{};         ///< the first sentence of the test part, where the set has one
  std::int64_t empty = 0;                          ///< sentences that are kept and have no word
  std::int64_t skipped = 0;                        ///< sentences without a word that were left out
  std::map<std::string, std::string> checksums{};  ///< file name → SHA-256 of what was read
};

/// Which sentences, and how they are parted.
struct SentenceOptions {
  /// How a sentence is cut into words.
  enum class Cleaning { automatic, none, kim, kim_with_case };
  /// Whose words are in the vocabulary.
  enum class VocabularyOf { all, training };

  std::string data = "trec";  ///< a registered name, or a file
  std::filesystem::path data_folder{};
  std::filesystem::path test_data{};
  Cleaning cleaning = Cleaning::automatic;
  std::int64_t folds = 10;
  std::int64_t fold = 0;  ///< which of them is the test, from 0
  std::int64_t split_seed = 0;
  double validation_share = 0.1;
  VocabularyOf vocabulary = VocabularyOf::all;
  std::int64_t min_count = 1;

  bool is_file() const;
  /// Whether the test part is one fold of all sentences; else it is given.
  bool is_cross_validated() const;

  /// The options that mean something for `data` and `test_data`, which are to be set before.
  template <class V>
  void describe(V& v) {
    v("data", data,
      "sentences with classes: trec, mr, subj, cr, mpqa, or a file of your own with `label sentence` a line");
    if (is_file())
      v("test_data", test_data, "a file of the same form for the test; empty: folds of cross-validation");
    else
      v("data_folder", data_folder, "folder with data sets; empty: $STEIN_DATA, then the user's cache");
    v("cleaning", cleaning,
      "words: none, what stands between spaces; kim, as Kim (2014) cleans and in lower case; kim-with-case; auto: kim, "
      "of "
      "trec kim-with-case, of your own files none",
      {{"auto", Cleaning::automatic},
       {"none", Cleaning::none},
       {"kim", Cleaning::kim},
       {"kim-with-case", Cleaning::kim_with_case}});
    if (is_cross_validated())
      v("folds", folds,
        "K: parts of cross-validation, drawn at random and not stratified, as Kim (2014) does; seed s is tested on "
        "part s mod K",
        between(2, 1e6));
    v("split_seed", split_seed, "seed of what is drawn: folds, and the sentences for validation", at_least(0));
    v("validation_share", validation_share, "share of the sentences that are not for the test which is for validation",
      Range{.low = 0, .high = 0.5});
    v("vocabulary", vocabulary,
      "whose words have a number of their own: all, which is what published work with word vectors does, or training",
      {{"all", VocabularyOf::all}, {"training", VocabularyOf::training}});
    v("min_count", min_count, "words that occur fewer times are `<unk>`", at_least(1));
  }
};

/// A registered set: its line in `stein list`, and how it is read.
struct SentenceSetEntry {
  std::string description;
  std::function<SentenceSet(const SentenceOptions&)> read;
};

/// All sets of sentences that are linked in.
Registry<SentenceSetEntry>& sentence_sets();

/// The words of a sentence, cut as those of the set that `options` name.
std::vector<std::string> words_of(std::string_view sentence, const SentenceOptions& options);

/// Reads what the options say.
///
/// Registered sets are the files of the data set "sentences", in ISO-8859-1: a class by its number, a space, the
/// sentence. `trec` has the question types DESC, ENTY, ABBR, HUM, LOC and NUM and a test part; `mr`, `cr` and `mpqa`
/// are negative or positive, `subj` subjective or objective. The few sentences of `cr` and `mpqa` that have no word are
/// kept, since the published sizes count them.
///
/// A file of one's own is in UTF-8, plain or in a file `.gz`: a label, which is any word, a space or a tab, the
/// sentence. Its classes are its labels in the order of the alphabet, or of their values if all are whole numbers.
/// Sentences without a word are left out and counted.
/// @throws Error(usage) for a name that is neither registered nor a file, suggesting the nearest; Error(data) for a set
///         that is missing or damaged; Error(data) naming file and line for a line without a label, with a label that
///         the set does not have, or that is no UTF-8; Error(data) for fewer than two classes, a class of the test file
///         that the training file does not have, and a file without sentences
SentenceSet read_sentence_set(const SentenceOptions& options);

}  // namespace stein::lm
