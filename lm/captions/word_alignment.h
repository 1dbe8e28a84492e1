// Which word of a caption stands for which word of a reference.
#pragma once

#include <stein/lm/captions/english_stemmer.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stein::lm {

/// A word of a caption and a word of a reference that are the same, or have the same stem.
struct WordMatch {
  std::size_t caption = 0, reference = 0;  ///< places of the words, from 0
  bool exact = true;                       ///< the words are the same
};

/// Aligns a caption and a reference as METEOR does (Denkowski & Lavie 2011), by two of its matchers, exact and
/// stem: every word is in at most one match, and of all alignments that which
/// - has most exact matches, and with them most matches in all (both can be had at once);
/// - of these has the fewest chunks (`count_chunks`);
/// - of these has the least sum of distances |place in the caption − place in the reference|.
///
/// The search goes through the caption word by word and keeps all partial alignments that may become the best, up to
/// two hundred: beyond that, which takes captions with dozens of equal words, the alignment may have a chunk too many.
/// @return matches by their place in the caption
std::vector<WordMatch> align_words(const StemmedWords& caption, const StemmedWords& reference);

/// Number of chunks: longest series of matches whose words follow one another in the caption and in the reference.
/// @param matches  by their place in the caption
std::int64_t count_chunks(std::span<const WordMatch> matches);

}  // namespace stein::lm
