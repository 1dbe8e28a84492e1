#include <stein/lm/captions/ngram_counts.h>

namespace stein::lm {

NgramCounts count_ngrams(const Words& words, std::size_t n) {
  NgramCounts counts;
  for (std::size_t begin = 0; begin + n <= words.size(); ++begin) {
    std::string ngram;
    for (std::size_t i = begin; i < begin + n; ++i) ngram += words[i] + '\n';
    ++counts[ngram];
  }
  return counts;
}

}  // namespace stein::lm
