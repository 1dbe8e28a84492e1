// Some images with what samples of a model say of them, for a report.
#pragma once

#include <stein/lm/captioning/caption_decoder.h>
#include <stein/lm/scenes/scene.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace stein::lm {

/// A few of `images`, at equal distances: [{id, references, picture, samples, average}]. `samples` are the first and
/// the last row of weights, each a list of its three best captions [{caption, log_probability, truth}]; there are none
/// where there is one row only. `average` are those under all rows, each with `words` [[word, probability, sd over
/// rows], …], its end last. `picture` is that of a scene, 32 × 32 RGB bytes in hexadecimal digits row by row; null for
/// other images, as is `truth`: "true", "false" or "no caption".
nlohmann::ordered_json caption_examples(const CaptionDecoder& decoder, const Vocabulary& vocabulary,
                                        inference::MatrixView<const float> weights,
                                        std::span<const CaptionedImage> images,
                                        const std::map<std::string, Scene>& scenes);

/// [[word, probability, sd], …] of a caption, its end last.
nlohmann::ordered_json sure_words_json(std::span<const CaptionDecoder::SureWord> words, const Vocabulary& vocabulary);

}  // namespace stein::lm
