// What a trained classifier is worth: `stein eval`.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/training/classifier_experiment.h>
#include <stein/training/predicting_weights.h>

#include <cstdint>
#include <string>

namespace stein::training {

/// Classifies the test or the validation part by averages over draws of the weights; other data, of which nothing was
/// learned, beside it: how uncertain the network is there, and how well that tells them from the part. What it found
/// of other data is kept in the run as other.json, which reports draw.
class ClassifierEvaluation final : public runs::SavedRunAction<ClassifierExperiment> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// Which rows.
  enum class Part { test, validation };

  nlohmann::ordered_json perform_saved(const ClassifierExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  Part part_ = Part::test;
  std::string other_;
  PredictingWeights weights_;
};

}  // namespace stein::training
