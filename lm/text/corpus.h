// A text to learn from, cut into a training, a validation and a test part.
#pragma once

#include <stein/core/options.h>
#include <stein/core/registry.h>
#include <stein/lm/text/markov_source.h>
#include <stein/lm/text/vocabulary.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::lm {

/// Pieces of text, each contiguous: what a model remembers goes on within one, and not from one to the next.
using Stretches = std::vector<std::vector<std::int32_t>>;

/// Tokens of all stretches together.
std::int64_t token_count(const Stretches& stretches);

/// How many tokens a character takes: 1 of characters; of bytes those of UTF-8 characters, whose later bytes are known
/// by themselves; nothing for words.
std::optional<double> tokens_per_character(const Stretches& stretches, const Vocabulary& vocabulary);

/// A text as numbers of tokens, with what they stand for.
struct Corpus {
  std::string name;
  bool synthetic = false;  ///< made up, its truth is known
  Vocabulary vocabulary;
  Stretches train, validation, test;
  /// Words that are not in the vocabulary: rare ones of the training part, and what that part does not have.
  std::int64_t unknown_train = 0, unknown_validation = 0, unknown_test = 0;
  std::map<std::string, std::string> checksums{};  ///< file name → SHA-256 of what was read
  std::shared_ptr<const MarkovSource> truth{};     ///< of a synthetic text
};

/// Which text, and how it is cut.
struct CorpusOptions {
  /// What a token is, where the text may say it.
  enum class Unit { automatic, words, bytes, characters };

  std::string data = "text-synthetic";  ///< a registered name, or a file
  std::filesystem::path data_folder{};
  Unit tokens = Unit::automatic;
  std::int64_t min_count = 0;
  double validation_share = 0.1, test_share = 0.1;
  std::filesystem::path validation_text{}, test_text{};
  std::int64_t synthetic_words = 20, synthetic_tokens = 100'000;
  double synthetic_spread = 2;

  bool is_file() const;
  bool is_synthetic() const { return data == "text-synthetic"; }

  /// The options that mean something for `data`, which is to be set before.
  template <class V>
  void describe(V& v) {
    v("data", data,
      "text: ptb, war-and-peace, tiny-shakespeare, text-synthetic (its truth is known), or a file of your own");
    v("tokens", tokens, "what a token is; auto: words of ptb and of a made-up text, bytes of everything else",
      {{"auto", Unit::automatic}, {"words", Unit::words}, {"bytes", Unit::bytes}, {"characters", Unit::characters}});
    if (is_synthetic()) {
      v("synthetic_words", synthetic_words, "V: words of the Markov chain", between(2, 10'000));
      v("synthetic_tokens", synthetic_tokens, "words of the training part; validation and test have a fifth each",
        between(100, 1e9), "tokens");
      v("synthetic_spread", synthetic_spread, "s: how unequal the chances of the next word are; 0: all alike",
        between(0, 20));
      return;
    }
    v("data_folder", data_folder, "folder with data sets; empty: $STEIN_DATA, then the user's cache");
    v("min_count", min_count,
      "words that occur fewer times in the training part are `<unk>`; 0: 2, or 1 where the text has `<unk>` itself",
      at_least(0));
    if (!is_file()) return;
    v("validation_text", validation_text, "a file for validation; empty: cut from the text");
    v("test_text", test_text, "a file for the test; empty: cut from the text");
    v("validation_share", validation_share, "share of the whole text that is for validation",
      Range{.low = 0, .high = 0.5, .low_open = true});
    v("test_share", test_share, "share at the end of the text that is for the test",
      Range{.low = 0, .high = 0.5, .low_open = true});
  }
};

/// A registered text: its line in `stein list`, and how it is read.
struct CorpusEntry {
  std::string description;
  std::function<Corpus(const CorpusOptions&)> read;
};

/// All texts that are linked in.
Registry<CorpusEntry>& corpora();

/// Reads what the options say. Throws Error(usage) for a name that is neither registered nor a file, suggesting the
/// nearest; Error(data) for a data set that is missing or damaged, and text that cannot be read as its tokens.
Corpus read_corpus(const CorpusOptions& options);

}  // namespace stein::lm
