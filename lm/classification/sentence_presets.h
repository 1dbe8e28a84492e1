// Published experiments on sentences by name.
#pragma once

#include <stein/training/published_preset.h>

#include <vector>

namespace stein::lm {

/// "trec-psgld-dropout", …: each set of Gan et al. 2017, table 5, with each of its methods.
///
/// Their embeddings start from word2vec's vectors, which `word_vectors` reads from a file; without one they start at
/// random.
const std::vector<training::PublishedPreset>& sentence_presets();

}  // namespace stein::lm
