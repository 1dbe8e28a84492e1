#include <stein/runs/of_each.h>
#include <stein/supervised/regression/regression_prediction.h>
#include <stein/supervised/regression/regression_run.h>
#include <stein/supervised/tables/table_service.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace stein::supervised {

using Json = nlohmann::ordered_json;

Json RegressionPrediction::perform_saved(const RegressionExperiment& experiment, const runs::SavedRun& saved,
                                         const std::string&, const runs::Console& console) {
  training::TrainedNetwork network = network_.of(experiment, saved);
  training::WeightDraws draws = network_.draws_of(network);
  const RegressionExperiment::Meaning meaning = RegressionExperiment::Meaning::saved_in(network.meaning());
  const auto answer = [&](inference::Matrix<float> inputs) {
    const RegressionRows rows{.inputs = std::move(inputs)};
    const SampledNumbers samples =
        RowRegressor(rows, meaning.scale, experiment.noise_precision()).predict(network.model(), draws);
    return runs::of_each(samples.predictions(), prediction_json);
  };
  return serve_rows(meaning.inputs, answer, console);
}

std::string RegressionPrediction::readable(const Json& result) const {
  return readable_service(result);
}

}  // namespace stein::supervised
