// Feeds of texts, sentences, vocabularies and word vectors.
#pragma once

#include "fuzz/input.h"

namespace stein::test {

/// A text of one's own as words; a second and a third file are for validation and the test.
void read_words(const Input& input);
/// The same as bytes.
void read_bytes(const Input& input);
/// The same as characters.
void read_characters(const Input& input);
/// Sentences of one's own, cut at spaces; a second file is for the test.
void read_sentences(const Input& input);
/// The same with the cleaning of Kim, in lower case.
void read_sentences_as_kim(const Input& input);
/// The same with the cleaning of Kim, with upper case.
void read_sentences_as_kim_with_case(const Input& input);
/// The text of a vocabulary.
void read_vocabulary(const Input& input);
/// A token that is escaped and read back.
void read_token(const Input& input);
/// Word vectors as lines, with or without a header.
void read_word_vectors_of_lines(const Input& input);
/// Word vectors in word2vec's binary format.
void read_binary_word_vectors(const Input& input);

}  // namespace stein::test
