// The settings of published language models by name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stein::lm {

/// A published experiment: its text and method, and the settings that differ from the defaults.
struct LanguagePreset {
  std::string name;
  std::string source;   ///< one line: where the settings are from
  std::string data;     ///< "ptb"
  std::string sampler;  ///< "sgld"
  std::map<std::string, std::string> settings;
};

/// Penn Treebank (Gan et al. 2017: small, medium and large LSTMs by SGD and SGLD, without and with dropout; Fortunato
/// et al. 2017: medium by Bayes by Backprop and posterior sharpening, and ours of the small size) and War and Peace
/// (Gan et al. 2017: LSTM, GRU and tanh by RMSprop and pSGLD).
///
/// Rates and clipping are those of their authors, in the unit of their loss (`rate_unit`). Temperatures are those that
/// the authors' released programs amount to, about 1/N and 2/N for a posterior of N tokens: far below 1.
const std::vector<LanguagePreset>& language_presets();

/// The preset called `name`, or null.
const LanguagePreset* find_language_preset(std::string_view name);

}  // namespace stein::lm
