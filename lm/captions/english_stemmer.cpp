#include <stein/core/error.h>
#include <stein/lm/captions/english_stemmer.h>

#include <libstemmer.h>

namespace stein::lm {

void EnglishStemmer::Delete::operator()(sb_stemmer* stemmer) const {
  ::sb_stemmer_delete(stemmer);
}

EnglishStemmer::EnglishStemmer() : stemmer_(::sb_stemmer_new("english", "UTF_8")) {
  if (!stemmer_) fail(ErrorKind::io, "libstemmer has no stemmer of English, or no memory for it");
}

std::string EnglishStemmer::stem(std::string_view word) {
  const sb_symbol* stem =
      ::sb_stemmer_stem(stemmer_.get(), reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
  if (stem == nullptr) fail(ErrorKind::io, "out of memory for the stem of a word");
  return {reinterpret_cast<const char*>(stem), static_cast<std::size_t>(::sb_stemmer_length(stemmer_.get()))};
}

StemmedWords EnglishStemmer::with_stems(const Words& words) {
  StemmedWords stemmed;
  for (const std::string& word : words) stemmed.push_back({word, stem(word)});
  return stemmed;
}

}  // namespace stein::lm
