// Vectors of words that others have trained, for the words of a vocabulary.
#pragma once

#include <stein/core/progress.h>
#include <stein/lm/text/vocabulary.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace stein::lm {

/// The vectors of the words of a vocabulary, as far as a file has them.
struct WordVectors {
  std::int64_t dimension = 0;   ///< D
  std::vector<float> values{};  ///< [V, D], row v for word v of the vocabulary; 0 where the file lacks the word
  std::vector<bool> found{};    ///< [V] whether the file has the word

  /// How many of the words the file has.
  std::int64_t found_count() const;
};

/// Reads the vectors of the words of `vocabulary` from a file in one of three formats, plain or gzip-compressed:
///
/// - named `.bin` or `.bin.gz`: word2vec's binary format (Mikolov et al. 2013): a line "COUNT DIMENSION", then for each
///   word its bytes, a space, DIMENSION little-endian floats and, in some files, a line end
/// - any other name: a line for each word, with the word and its numbers between spaces; with a first line "COUNT
///   DIMENSION", as word2vec and fastText write it, or without, as GloVe does (Pennington et al. 2014)
///
/// Words are compared byte by byte; of a word that is there twice the first vector is taken. A word of several parts,
/// as GloVe has a few, belongs to no vocabulary and is passed over. Every number of the file is checked, also those of
/// words that nobody asked for. Memory: the vectors that are found, and a buffer for one word of the file; nothing is
/// asked for on the word of a header before it is compared with the size of the file.
/// @param progress  is told of the bytes of the file that were read
/// @throws Error(usage) unless the vocabulary is of words; Error(data) naming the file and its line or record, counted
///         from 1: the file is missing, truncated, damaged or empty; COUNT or DIMENSION is no number from 1 on, or more
///         than a file of this size can hold; the dimension is above 65,536; there are fewer or more words than COUNT
///         says; a line has another number of numbers; a number is none, or not finite as a float; a word has no
///         bytes or more than 1,000. Error(io)
WordVectors read_word_vectors(const std::filesystem::path& path, const Vocabulary& vocabulary, Progress& progress);

}  // namespace stein::lm
