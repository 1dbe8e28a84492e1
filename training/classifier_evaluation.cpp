#include <stein/runs/measured.h>
#include <stein/training/classifier_evaluation.h>
#include <stein/training/classifier_run.h>
#include <stein/training/row_classifier.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace stein::training {

using Json = nlohmann::ordered_json;

void ClassifierEvaluation::describe(OptionTable& table) {
  table("part", part_, "which part of the run's data", {{"test", Part::test}, {"validation", Part::validation}});
  weights_.describe_with_dropout(table);
}

Json ClassifierEvaluation::perform_saved(const NetworkExperiment& experiment, const runs::SavedRun& saved,
                                         const std::string& data, const runs::Console& console) {
  experiment.check_dropout(weights_.dropout);
  const std::unique_ptr<runs::Run> with_data = saved.make_run(data);
  auto& run = dynamic_cast<ClassifierRun&>(*with_data);
  console.progress->begin(experiment.name(), "models", static_cast<std::uint64_t>(run.count()));
  std::vector<ClassifierResult> results;
  std::vector<double> entropies, informations;
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
    const inference::Predictive predictive = samples.predictive();
    const auto mean_of = [](const std::vector<double>& values) {
      double sum = 0;
      for (const double value : values) sum += value;
      return sum / static_cast<double>(values.size());
    };
    entropies.push_back(mean_of(predictive.entropy()));
    informations.push_back(mean_of(predictive.mutual_information()));
    console.progress->advance(1);
  }
  Json result{{"data", run.facts().data}, {"part", part_ == Part::test ? "test" : "validation"}};
  result.update(classifier_json(results, run.each()));
  result.erase("final_weights");
  result["entropy"] = runs::measured(entropies, run.each());
  result["mutual_information"] = runs::measured(informations, run.each());
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
  return text;
}

}  // namespace stein::training
