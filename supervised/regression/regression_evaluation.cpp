#include <stein/core/error.h>
#include <stein/runs/measured.h>
#include <stein/supervised/regression/regression_evaluation.h>
#include <stein/supervised/regression/regression_run.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace stein::supervised {

using Json = nlohmann::ordered_json;

void RegressionEvaluation::describe(OptionTable& table) {
  table("part", part_, "which part of the run's data", {{"test", Part::test}, {"validation", Part::validation}});
  weights_.describe(table);
}

Json RegressionEvaluation::perform_saved(const RegressionExperiment& experiment, const runs::SavedRun& saved,
                                         const std::string& data, const runs::Console& console) {
  const std::unique_ptr<runs::Run> with_data = saved.make_run(data);
  auto& run = dynamic_cast<RegressionRun&>(*with_data);
  console.progress->begin(experiment.name(), "models", static_cast<std::uint64_t>(run.count()));
  std::vector<RegressionResult> results;
  for (std::int64_t i = 0; i < run.count(); ++i) {
    const RegressionTrainer& trainer = run.repetition(i);
    const RegressionParts& parts = trainer.parts();
    const RegressionRows& rows = part_ == Part::test ? parts.test : parts.validation;
    STEIN_CHECK(rows.count() > 0, "the run has no validation part");
    training::TrainedNetwork network = experiment.trained_network(saved, trainer.seed(), weights_.device);
    training::WeightDraws draws = weights_.of(network);
    const SampledNumbers samples =
        RowRegressor(rows, parts.scale, parts.noise_precision).predict(network.model(), draws);
    results.push_back({.rows = rows.count(),
                       .samples = samples.samples(),
                       .single = samples.single(),
                       .averaged = samples.averaged()});
    console.progress->advance(1);
  }
  Json result{{"data", run.facts().data}, {"part", part_ == Part::test ? "test" : "validation"}};
  result.update(regression_json(results, RegressionRun::each));
  result.erase("final_weights");
  return result;
}

std::string RegressionEvaluation::readable(const Json& result) const {
  std::string text =
      fmt::format("{}, {} of {}, averaged over {}\n", result["data"].get<std::string>(),
                  runs::counted(result["rows"].get<std::int64_t>(), "row"), result["part"].get<std::string>(),
                  runs::counted(result["samples"].get<std::int64_t>(), "draw"));
  const auto line = [&](const char* name, const Json& value) {
    text += runs::summary_line(name, runs::text(value, "{:.4g}"));
  };
  line("RMSE", result["rmse"]);
  line("RMSE of one draw", result["single_sample"]["rmse"]);
  line("log-likelihood", result["log_likelihood"]);
  line("coverage of intervals", result["coverage"]);
  line("length of intervals", result["interval_width"]);
  return text;
}

}  // namespace stein::supervised
