#include <stein/supervised/regression/regression_result.h>

#include <cstddef>

namespace stein::supervised {
namespace {

std::vector<double> numbers_of(const RegressionScore& score) {
  return {score.rmse, score.log_likelihood, score.coverage, score.interval_width};
}

RegressionScore score_in(const Snapshot& snapshot, const char* name) {
  const auto numbers = snapshot.get_vector<double>(name);
  return {.rmse = numbers.at(0),
          .log_likelihood = numbers.at(1),
          .coverage = numbers.at(2),
          .interval_width = numbers.at(3)};
}

std::vector<double> numbers_of(const std::vector<PredictedNumber>& predicted) {
  std::vector<double> numbers;
  for (const PredictedNumber& each : predicted)
    numbers.insert(numbers.end(), {each.mean, each.deviation, each.model_deviation, each.low, each.high});
  return numbers;
}

std::vector<PredictedNumber> predictions_in(const Snapshot& snapshot, const char* name) {
  const auto numbers = snapshot.get_vector<double>(name);
  std::vector<PredictedNumber> predicted;
  for (std::size_t k = 0; k + 5 <= numbers.size(); k += 5)
    predicted.push_back({.mean = numbers[k],
                         .deviation = numbers[k + 1],
                         .model_deviation = numbers[k + 2],
                         .low = numbers[k + 3],
                         .high = numbers[k + 4]});
  return predicted;
}

}  // namespace

void RegressionResult::save(Snapshot& snapshot) const {
  snapshot.put("counts", std::vector<std::int64_t>{rows, samples});
  snapshot.put("constant_rmse", constant_rmse);
  snapshot.put("single", numbers_of(single));
  snapshot.put("averaged", numbers_of(averaged));
  snapshot.put("final_weights", numbers_of(final_weights));
  if (chosen) snapshot.put("chosen", numbers_of(*chosen));
  snapshot.put_saved("curves", curves);
  if (agreement) snapshot.put_saved("agreement", *agreement);
}

void RegressionResult::restore(const Snapshot& snapshot) {
  const auto counts = snapshot.get_vector<std::int64_t>("counts");
  *this = {.rows = counts.at(0),
           .samples = counts.at(1),
           .constant_rmse = snapshot.get_scalar<double>("constant_rmse"),
           .single = score_in(snapshot, "single"),
           .averaged = score_in(snapshot, "averaged"),
           .final_weights = score_in(snapshot, "final_weights")};
  if (snapshot.contains("chosen")) chosen = score_in(snapshot, "chosen");
  curves.restore(snapshot.part("curves"));
  if (snapshot.contains("agreement/counts")) agreement.emplace().restore(snapshot.part("agreement"));
}

void RegressionOutcome::save(Snapshot& snapshot) const {
  if (validation) snapshot.put_saved("validation", *validation);
  snapshot.put_saved("test", test);
  snapshot.put("predicted", numbers_of(predicted));
  snapshot.put("probabilities", probabilities);
  snapshot.put("line", numbers_of(line));
}

void RegressionOutcome::restore(const Snapshot& snapshot) {
  validation.reset();
  if (snapshot.contains("validation/counts")) validation.emplace().restore(snapshot.part("validation"));
  test.restore(snapshot.part("test"));
  predicted = predictions_in(snapshot, "predicted");
  probabilities = snapshot.get_vector<double>("probabilities");
  line = predictions_in(snapshot, "line");
}

}  // namespace stein::supervised
