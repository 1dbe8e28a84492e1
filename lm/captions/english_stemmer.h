// Words without their endings.
#pragma once

#include <stein/lm/captions/coco_tokenizer.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sb_stemmer;

namespace stein::lm {

/// A word and its stem.
struct StemmedWord {
  std::string word, stem;
};

using StemmedWords = std::vector<StemmedWord>;

/// Snowball's stemmer of English ("Porter 2"), by libstemmer. One object serves one thread at a time.
class EnglishStemmer {
 public:
  EnglishStemmer();

  /// The stem of a word in lower case and UTF-8: "riding" and "rides" are both "ride".
  std::string stem(std::string_view word);
  /// Each word with its stem.
  StemmedWords with_stems(const Words& words);

 private:
  struct Delete {
    void operator()(sb_stemmer* stemmer) const;
  };
  std::unique_ptr<sb_stemmer, Delete> stemmer_;
};

}  // namespace stein::lm
