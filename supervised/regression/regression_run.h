// Regressions of one table, one a seed, and what their summary says.
#pragma once

#include <stein/supervised/regression/regression_trainer.h>
#include <stein/training/epoch_run.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stein::supervised {

/// What a regression is worth as JSON: {rows, samples, rmse, log_likelihood, coverage, interval_width} of all samples
/// together, the last four of `single_sample`, `final_weights` and, where there was one, `validation_chosen`.
/// @param each  what there is a result of: "per_split", "per_seed"
nlohmann::ordered_json regression_json(const std::vector<RegressionResult>& results, const char* each);

/// {mean, deviation, model_deviation, low, high} of a row.
nlohmann::ordered_json prediction_json(const PredictedNumber& predicted);

/// What `stein regress` carries out.
class RegressionRun final : public training::EpochRunOf<RegressionTrainer> {
 public:
  /// What a run is of besides its rows.
  struct Facts {
    std::string data;     ///< "boston"
    std::string source;   ///< where the data come from, for the first line of the log
    std::string target;   ///< name of the column that is predicted
    std::string network;  ///< "mlp 13-50-1"
    std::string method;   ///< "s2vgd"
    std::int64_t epochs = 0;
    std::vector<std::string> inputs{};  ///< names of the columns that are read
    bool synthetic = false;
    std::vector<std::string> notices{};
    std::map<std::string, std::string> data_options{};
    std::map<std::string, std::string> checksums{};  ///< file name → SHA-256 of what was read
  };
  RegressionRun(runs::SeedRange seeds, Facts facts,
                const std::function<std::unique_ptr<RegressionTrainer>(std::uint64_t seed)>& make_trainer);

  const Facts& facts() const { return facts_; }
  /// Under what name the numbers of the repetitions stand.
  static constexpr const char* each = "per_split";

  std::string source() const override { return facts_.source; }
  std::vector<std::string> notices() const override;
  nlohmann::ordered_json protocol() const override;
  std::map<std::string, std::string> data_checksums() const override { return facts_.checksums; }
  /// Those of the repetitions, and once it was summarised whether nothing was learned, and whether intervals hold
  /// clearly fewer of the test targets than they say or are clearly longer than the errors.
  std::vector<std::string> warnings() const override;
  nlohmann::ordered_json summarize(const Watch& watch) override;
  /// curves.json: −log density of averages over 1, 2, … samples; predictions.json: of every test row its target, the
  /// predicted mean, the sd of the target and of the means alone, the central 90 % interval, and F(target), and its
  /// place where the table has one column of numbers; there `line` has the same predictions over its range.
  void write_results(const RunDirectory& directory) override;

 private:
  std::vector<RegressionResult> test_results() const;
  /// Of those that have one.
  std::vector<RegressionResult> validation_results() const;

  Facts facts_;
  std::vector<RegressionOutcome> outcomes_;  ///< one a seed, once it was summarised
};

/// A few aligned lines with the numbers of a regression's summary.
std::string readable_regression_summary(const nlohmann::ordered_json& summary);

}  // namespace stein::supervised
