#include <stein/core/atomic_file.h>
#include <stein/runs/area_under_roc.h>
#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/runs/seed_statistics.h>
#include <stein/training/classifier_evaluation.h>
#include <stein/training/classifier_run.h>
#include <stein/training/row_classifier.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace stein::training {
namespace {

using Json = nlohmann::ordered_json;

/// How uncertain averages are of each row [nats].
struct Uncertainty {
  explicit Uncertainty(const inference::Predictive& predictive)
      : entropy(predictive.entropy()), mutual_information(predictive.mutual_information()) {}

  std::vector<double> entropy;             ///< of the averaged probabilities
  std::vector<double> mutual_information;  ///< of class and weights: what more data would lower
};

/// Which share of values lies in each of `histogram_bins` equal parts of [0, log C], over all networks.
class Histogram {
 public:
  explicit Histogram(std::size_t classes) : most_(std::log(static_cast<double>(classes))), counts_(histogram_bins) {}

  void add(const std::vector<double>& values) {
    for (const double value : values) {
      const double place = value / most_ * static_cast<double>(histogram_bins);
      ++counts_[std::min(static_cast<std::size_t>(std::max(place, 0.0)), histogram_bins - 1)];
    }
    all_ += static_cast<double>(values.size());
  }
  Json shares() const {
    return runs::of_each(counts_, [&](double count) { return runs::rounded(count / all_); });
  }

 private:
  static constexpr std::size_t histogram_bins = 40;

  double most_, all_ = 0;
  std::vector<double> counts_;
};

/// Means over rows, of one network after the other, and how well they tell other rows from those of the part.
class Uncertainties {
 public:
  explicit Uncertainties(std::size_t classes) : entropies_(classes), informations_(classes) {}

  void add(const Uncertainty& rows) {
    entropy_.push_back(runs::mean(rows.entropy)), information_.push_back(runs::mean(rows.mutual_information));
    entropies_.add(rows.entropy), informations_.add(rows.mutual_information);
  }
  void add(const Uncertainty& rows, const Uncertainty& of_part) {
    add(rows);
    by_entropy_.push_back(runs::area_under_roc(of_part.entropy, rows.entropy));
    by_information_.push_back(runs::area_under_roc(of_part.mutual_information, rows.mutual_information));
  }
  Json json(const char* each) const {
    Json json{{"entropy", runs::measured(entropy_, each)}, {"mutual_information", runs::measured(information_, each)}};
    if (!by_entropy_.empty())
      json["area_under_roc"] = {{"entropy", runs::measured(by_entropy_, each)},
                                {"mutual_information", runs::measured(by_information_, each)}};
    return json;
  }
  /// Shares of the rows of all networks, by how uncertain they are.
  Json histograms() const { return {{"entropy", entropies_.shares()}, {"mutual_information", informations_.shares()}}; }

 private:
  std::vector<double> entropy_, information_, by_entropy_, by_information_;
  Histogram entropies_, informations_;
};

}  // namespace

void ClassifierEvaluation::describe(OptionTable& table) {
  table("part", part_, "which part of the run's data", {{"test", Part::test}, {"validation", Part::validation}});
  table(
      "other", other_,
      "data of which nothing was learned, a name or a file as `--data` of the run: how uncertain the network is there, "
      "and how well that tells them from the part");
  weights_.describe_with_dropout(table);
}

Json ClassifierEvaluation::perform_saved(const ClassifierExperiment& experiment, const runs::SavedRun& saved,
                                         const std::string& data, const runs::Console& console) {
  experiment.check_dropout(weights_.dropout);
  const std::unique_ptr<runs::Run> with_data = saved.make_run(data);
  auto& run = dynamic_cast<ClassifierRun&>(*with_data);
  console.progress->begin(experiment.name(), "models", static_cast<std::uint64_t>(run.count()));
  std::vector<ClassifierResult> results;
  const std::size_t classes = run.facts().classes.size();
  Uncertainties of_part(classes), of_other(classes);
  std::int64_t other_rows = 0;
  for (std::int64_t i = 0; i < run.count(); ++i) {
    ClassifierTrainer& trainer = run.repetition(i);
    LabelledRows& rows = part_ == Part::test ? trainer.test_rows() : trainer.validation_rows();
    STEIN_CHECK(rows.count() > 0, "the run has no validation part");
    TrainedNetwork network = experiment.trained_network(saved, trainer.seed(), weights_.device);
    WeightDraws draws = weights_.of(network);
    const SampledClasses samples = RowClassifier(rows).classify(network.model(), draws);
    results.push_back({.rows = rows.count(),
                       .samples = samples.samples(),
                       .single = samples.single(),
                       .averaged = samples.averaged()});
    const Uncertainty uncertainty(samples.predictive());
    of_part.add(uncertainty);
    if (!other_.empty()) {
      const std::unique_ptr<LabelledRows> others = experiment.other_rows(other_, network.meaning());
      of_other.add(Uncertainty(RowClassifier(*others).classify(network.model(), draws).predictive()), uncertainty);
      other_rows = others->count();
    }
    console.progress->advance(1);
  }
  Json result{{"data", run.facts().data}, {"part", part_ == Part::test ? "test" : "validation"}};
  result.update(classifier_json(results, run.each()));
  result.erase("final_weights");
  result.update(of_part.json(run.each()));
  if (!other_.empty()) {
    result["other"] = {{"data", other_}, {"rows", other_rows}};
    result["other"].update(of_other.json(run.each()));
    Json kept = result;
    kept["histograms"] = {{"most", runs::rounded(std::log(static_cast<double>(classes)))},
                          {"part", of_part.histograms()},
                          {"other", of_other.histograms()}};
    write_file_atomically(saved.directory.file("other.json"), kept.dump() + "\n");
  }
  return result;
}

std::string ClassifierEvaluation::readable(const Json& result) const {
  const auto samples = result["samples"].get<std::int64_t>();
  std::string text = fmt::format("{}, {} rows of {}, averaged over {} {}\n", result["data"].get<std::string>(),
                                 result["rows"].get<std::int64_t>(), result["part"].get<std::string>(), samples,
                                 samples == 1 ? "draw" : "draws");
  const auto line = [&](const char* name, const Json& value, const char* format) {
    text += runs::summary_line(name, runs::text(value, format));
  };
  line("error", result["error"], "{:.4f}");
  line("error of one draw", result["single_sample"]["error"], "{:.4f}");
  line("log-likelihood", result["log_likelihood"], "{:.4f}");
  line("calibration error", result["ece"], "{:.4f}");
  line("Brier score", result["brier"], "{:.4f}");
  line("entropy", result["entropy"], "{:.4f}");
  line("mutual information", result["mutual_information"], "{:.4f}");
  if (!result.contains("other")) return text;
  const Json& other = result["other"];
  text += fmt::format("{}, {} rows of which nothing was learned\n", other["data"].get<std::string>(),
                      other["rows"].get<std::int64_t>());
  line("entropy", other["entropy"], "{:.4f}");
  line("mutual information", other["mutual_information"], "{:.4f}");
  line("told apart by entropy", other["area_under_roc"]["entropy"], "{:.4f}");
  line("  mutual information", other["area_under_roc"]["mutual_information"], "{:.4f}");
  text += "  (told apart: area under the ROC curve, 0.5 by chance)\n";
  return text;
}

}  // namespace stein::training
