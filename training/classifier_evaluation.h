// What a trained classifier is worth: `stein eval`.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/training/network_experiment.h>
#include <stein/training/predicting_weights.h>

#include <cstdint>
#include <string>

namespace stein::training {

/// Classifies the test or the validation part by averages over draws of the weights.
class ClassifierEvaluation final : public runs::SavedRunAction<NetworkExperiment> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// Which rows.
  enum class Part { test, validation };

  nlohmann::ordered_json perform_saved(const NetworkExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  Part part_ = Part::test;
  PredictingWeights weights_;
};

}  // namespace stein::training
