// The settings of published captioning models by name.
#pragma once

#include <stein/training/published_preset.h>

#include <vector>

namespace stein::lm {

/// Flickr8k, Flickr30k and COCO by RMSprop and pSGLD, without and with dropout (Gan et al. 2017, section 5.2; COCO with
/// their settings for Flickr30k), COCO by Bayes by Backprop (Fortunato et al. 2017, section 6.2, on the model of
/// Vinyals et al. 2016), and the same five methods at the size of `scenes`.
///
/// The captions of Flickr30k and COCO are a file of one's own in Karpathy's form. Temperatures are about 2/N for a
/// posterior of N captions, as the authors' released programs have them on other data: far below 1. Rates and clipping
/// of Gan et al. are told for a loss per caption (`rate_unit=sequence`).
const std::vector<training::PublishedPreset>& caption_presets();

}  // namespace stein::lm
