// Numbers for new rows by a trained regression: `stein predict`.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/supervised/regression/regression_experiment.h>
#include <stein/training/predicting_network.h>

#include <string>

namespace stein::supervised {

/// Comma-separated values under a header in, a line of JSON for each row out: {"mean", "deviation", "model_deviation",
/// "low", "high"} in the target's units, where low and high end the central 90 % interval; where there are any,
/// "unknown": [columns with a category that no training row has]. Columns that the run does not read may be there. A
/// row that cannot be read becomes {"error": …}. It needs nothing but the run's directory.
class RegressionPrediction final : public runs::SavedRunAction<RegressionExperiment> {
 public:
  void describe(OptionTable& table) override { network_.describe(table); }
  bool streams() const override { return true; }
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// {rows, errors}.
  nlohmann::ordered_json perform_saved(const RegressionExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  training::PredictingNetwork network_;
};

}  // namespace stein::supervised
