#include <stein/supervised/classification/table_class_prediction.h>
#include <stein/supervised/classification/table_rows.h>
#include <stein/supervised/tables/table_service.h>
#include <stein/training/class_answers.h>
#include <stein/training/row_classifier.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace stein::supervised {

using Json = nlohmann::ordered_json;

Json TableClassPrediction::perform_saved(const TableClassExperiment& experiment, const runs::SavedRun& saved,
                                         const std::string&, const runs::Console& console) {
  training::TrainedNetwork network = network_.of(experiment, saved);
  training::WeightDraws draws = network_.draws_of(network);
  const TableClassExperiment::Meaning meaning = TableClassExperiment::Meaning::saved_in(network.meaning());
  const auto answer = [&](inference::Matrix<float> inputs) {
    TableRows rows(std::move(inputs), {});
    return training::class_answers(training::RowClassifier(rows).classify(network.model(), draws).predictive(),
                                   meaning.classes);
  };
  return serve_rows(meaning.inputs, answer, console);
}

std::string TableClassPrediction::readable(const Json& result) const {
  return readable_service(result);
}

}  // namespace stein::supervised
