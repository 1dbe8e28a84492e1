// Text drawn from a trained language model: `stein lm sample`.
#pragma once

#include <stein/lm/language/language_experiment.h>
#include <stein/runs/run_action.h>

#include <cstdint>
#include <string>

namespace stein::lm {

/// Draws token after token from the average of what the draws of the weights predict, or with one draw for the whole
/// text. It needs nothing but the run's directory.
class LanguageSampling final : public runs::SavedRunAction<LanguageExperiment> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// What draws a token.
  enum class By { average, one };

  nlohmann::ordered_json perform_saved(const LanguageExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  std::int64_t length_ = 100, texts_ = 1, draws_ = 10, seed_ = 0;
  std::string prompt_, device_;
  double sharpness_ = 1;
  By by_ = By::average;
};

/// Tokens as a person reads them: words with spaces between them and a line for every sentence; bytes and characters as
/// they are.
std::string readable_text(std::span<const std::int32_t> tokens, const Vocabulary& vocabulary);

}  // namespace stein::lm
