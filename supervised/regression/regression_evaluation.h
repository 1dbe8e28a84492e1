// What a trained regression is worth: `stein eval`.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/supervised/regression/regression_experiment.h>
#include <stein/training/predicting_weights.h>

#include <string>

namespace stein::supervised {

/// Predicts the test or the validation part by averages over draws of the weights.
class RegressionEvaluation final : public runs::SavedRunAction<RegressionExperiment> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// Which rows.
  enum class Part { test, validation };

  nlohmann::ordered_json perform_saved(const RegressionExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  Part part_ = Part::test;
  training::PredictingWeights weights_;
};

}  // namespace stein::supervised
