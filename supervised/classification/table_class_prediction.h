// Classes of new rows of a table by a trained classifier: `stein predict`.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/supervised/classification/table_classes.h>
#include <stein/training/predicting_network.h>

#include <string>

namespace stein::supervised {

/// Comma-separated values under a header in, a line of JSON for each row out: {"class", "probabilities": {CLASS: p},
/// "deviations": {CLASS: sd over draws}, "entropy", "mutual_information"} [nats]; where there are any, "unknown":
/// [columns with a category that no training row has]. Columns that the run does not read may be there. A row that
/// cannot be read becomes {"error": …}. It needs nothing but the run's directory.
class TableClassPrediction final : public runs::SavedRunAction<TableClassExperiment> {
 public:
  void describe(OptionTable& table) override { network_.describe(table); }
  bool streams() const override { return true; }
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// {rows, errors}.
  nlohmann::ordered_json perform_saved(const TableClassExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  training::PredictingNetwork network_;
};

}  // namespace stein::supervised
