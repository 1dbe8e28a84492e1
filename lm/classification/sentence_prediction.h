// Classes of new sentences by a trained classifier: `stein predict`.
#pragma once

#include <stein/lm/classification/sentence_experiment.h>
#include <stein/runs/run_action.h>
#include <stein/training/predicting_network.h>

#include <string>

namespace stein::lm {

/// A line with a sentence in, a line of JSON out: {"class", "probabilities": {CLASS: p}, "deviations": {CLASS: sd over
/// draws}, "entropy", "mutual_information", "unknown"}, where `unknown` counts words that the run's vocabulary lacks. A
/// line without a word becomes {"error": …}. It needs nothing but the run's directory.
class SentencePrediction final : public runs::SavedRunAction<SentenceExperiment> {
 public:
  void describe(OptionTable& table) override;
  bool streams() const override { return true; }
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// {sentences, errors}.
  nlohmann::ordered_json perform_saved(const SentenceExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  training::PredictingNetwork network_;
};

}  // namespace stein::lm
