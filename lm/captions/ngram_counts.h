// How often each sequence of n words stands in a caption.
#pragma once

#include <stein/lm/captions/coco_tokenizer.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace stein::lm {

/// n-grams, their words joined by line ends, with their counts.
using NgramCounts = std::map<std::string, std::int64_t>;

/// The longest n-grams of caption metrics.
inline constexpr std::size_t longest_ngram = 4;

/// The n-grams of `words` (n ≥ 1); none if there are fewer than n words.
NgramCounts count_ngrams(const Words& words, std::size_t n);

}  // namespace stein::lm
