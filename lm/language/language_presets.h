// The settings of published language models by name.
#pragma once

#include <stein/training/published_preset.h>

#include <vector>

namespace stein::lm {

/// Penn Treebank (Gan et al. 2017: small, medium and large LSTMs by SGD and SGLD, without and with dropout; Fortunato
/// et al. 2017: medium by Bayes by Backprop and posterior sharpening, and ours of the small size) and War and Peace
/// (Gan et al. 2017: LSTM, GRU and tanh by RMSprop and pSGLD). One is ours, for a text of one's own.
///
/// Rates and clipping are those of their authors, in the unit of their loss (`rate_unit`). What a chain does is what
/// the authors' released program does: pSGLD goes as far as RMSprop of the same published rate, so its step size h is
/// twice that rate, at a temperature of 2/N for N tokens; SGLD has the noise of temperature 1 beside gradients that are
/// all scaled to one length, so it is at no temperature that could be named.
const std::vector<training::PublishedPreset>& language_presets();

}  // namespace stein::lm
