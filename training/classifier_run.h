// Classifiers of one data set, one a seed, and what their summary says.
#pragma once

#include <stein/training/classifier_trainer.h>
#include <stein/training/epoch_run.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace stein::training {

/// What a classifier is worth as JSON: {rows, samples, error, log_likelihood, ece, brier} of the averages, the same
/// four of `single_sample`, `final_weights` and, where there was one, `validation_chosen`.
/// @param each  what there is a result of: "per_seed", "per_fold"
nlohmann::ordered_json classifier_json(const std::vector<ClassifierResult>& results, const char* each);

/// A grid on the plane of two columns: place i lies at x[i mod |x|], y[i / |x|].
struct ClassPlane {
  std::string x_name, y_name;
  std::vector<double> x, y;
};

/// What `stein classify` carries out.
class ClassifierRun : public EpochRunOf<ClassifierTrainer> {
 public:
  /// What a run is of besides its rows.
  struct Facts {
    std::string data;     ///< "trec"
    std::string source;   ///< where the data come from, for the first line of the log
    std::string datum;    ///< "sentence"
    std::string network;  ///< "bi-lstm 1x200"
    std::string method;   ///< "psgld"
    std::int64_t epochs = 0;
    std::vector<std::string> classes{};
    std::optional<ClassPlane> plane{};  ///< where the trainers' places on a plane lie
    bool synthetic = false;
    bool folds = false;  ///< each seed is tested on a part of its own
    std::vector<std::string> notices{};
    std::map<std::string, std::string> data_options{};
    std::map<std::string, std::string> checksums{};  ///< file name → SHA-256 of what was read
  };
  ClassifierRun(runs::SeedRange seeds, Facts facts,
                const std::function<std::unique_ptr<ClassifierTrainer>(std::uint64_t seed)>& make_trainer);

  const Facts& facts() const { return facts_; }
  /// Under what name the numbers of the repetitions stand: "per_seed" or "per_fold".
  const char* each() const { return facts_.folds ? "per_fold" : "per_seed"; }

  std::string source() const override { return facts_.source; }
  std::vector<std::string> notices() const override;
  nlohmann::ordered_json protocol() const override;
  std::map<std::string, std::string> data_checksums() const override { return facts_.checksums; }
  /// Those of the repetitions, and once it was summarised whether it is worse than equal chances for all classes.
  std::vector<std::string> warnings() const override;
  /// Where training began with the weights of another run, `error_before` is the share of test rows that these
  /// mistook, `error_after` that of the averages at the end, means over seeds.
  nlohmann::ordered_json summarize(const Watch& watch) override;
  /// curves.json: errors of averages over 1, 2, … samples, and of every sample alone; predictions.json: of every test
  /// row its class, the probabilities of all classes with their sd over samples, the entropy of the average and the
  /// mutual information of class and weights [nats]; and where rows lie on a plane the first seed's probabilities and
  /// mutual information on a grid.
  void write_results(const RunDirectory& directory) override;

 private:
  std::vector<ClassifierResult> test_results() const;
  /// Of those that have one.
  std::vector<ClassifierResult> validation_results() const;

  Facts facts_;
  std::vector<ClassifierOutcome> outcomes_;  ///< one a seed, once it was summarised
};

/// "12.40 % ± 0.31": a measured share of errors.
std::string error_text(const nlohmann::ordered_json& error);

/// A few aligned lines with the numbers of a classifier's summary.
std::string readable_classifier_summary(const nlohmann::ordered_json& summary);

}  // namespace stein::training
