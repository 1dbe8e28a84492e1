// Classes of new sentences by a trained classifier: `stein predict`.
#pragma once

#include <stein/lm/classification/sentence_experiment.h>
#include <stein/runs/run_action.h>

#include <cstdint>
#include <string>

namespace stein::lm {

/// A line with a sentence in, a line of JSON out: {"class", "probabilities": {CLASS: p}, "deviations": {CLASS: sd over
/// draws}, "entropy", "mutual_information", "unknown"}, where `unknown` counts words that the run's vocabulary lacks. A
/// line without a word becomes {"error": …}.
class SentencePrediction final : public runs::RunAction {
 public:
  void describe(OptionTable& table) override;
  bool streams() const override { return true; }
  /// {sentences, errors}.
  nlohmann::ordered_json perform(const RunDirectory& directory, const std::string& data,
                                 const runs::Console& console) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  std::int64_t seed_ = -1, draws_ = 10, draw_seed_ = 0;
  bool dropout_ = false;
};

}  // namespace stein::lm
