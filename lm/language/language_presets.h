// The settings of published language models by name.
#pragma once

#include <stein/training/published_preset.h>

#include <vector>

namespace stein::lm {

/// Penn Treebank (Gan et al. 2017: small, medium and large LSTMs by SGD and SGLD, without and with dropout; Fortunato
/// et al. 2017: medium by Bayes by Backprop and posterior sharpening, and ours of the small size) and War and Peace
/// (Gan et al. 2017: LSTM, GRU and tanh by RMSprop and pSGLD).
///
/// Rates and clipping are those of their authors, in the unit of their loss (`rate_unit`). Temperatures are those that
/// the authors' released programs amount to, about 1/N and 2/N for a posterior of N tokens: far below 1.
const std::vector<training::PublishedPreset>& language_presets();

}  // namespace stein::lm
