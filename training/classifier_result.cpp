#include <stein/training/classifier_result.h>

namespace stein::training {
namespace {

using runs::ClassifierScore;

std::vector<double> numbers_of(const ClassifierScore& score) {
  return {score.error, score.log_likelihood, score.ece, score.brier};
}

ClassifierScore score_in(const Snapshot& snapshot, const char* name) {
  const auto numbers = snapshot.get_vector<double>(name);
  return {.error = numbers.at(0), .log_likelihood = numbers.at(1), .ece = numbers.at(2), .brier = numbers.at(3)};
}

}  // namespace

void ClassifierResult::save(Snapshot& snapshot) const {
  snapshot.put("counts", std::vector<std::int64_t>{rows, samples});
  snapshot.put("single", numbers_of(single));
  snapshot.put("averaged", numbers_of(averaged));
  snapshot.put("final_weights", numbers_of(final_weights));
  if (chosen) snapshot.put("chosen", numbers_of(*chosen));
  snapshot.put_saved("curves", curves);
  snapshot.put("sample_errors", sample_errors);
  if (agreement) snapshot.put_saved("agreement", *agreement);
}

void ClassifierResult::restore(const Snapshot& snapshot) {
  const auto counts = snapshot.get_vector<std::int64_t>("counts");
  *this = {.rows = counts.at(0),
           .samples = counts.at(1),
           .single = score_in(snapshot, "single"),
           .averaged = score_in(snapshot, "averaged"),
           .final_weights = score_in(snapshot, "final_weights"),
           .sample_errors = snapshot.get_vector<double>("sample_errors")};
  if (snapshot.contains("chosen")) chosen = score_in(snapshot, "chosen");
  curves.restore(snapshot.part("curves"));
  if (snapshot.contains("agreement/counts")) agreement.emplace().restore(snapshot.part("agreement"));
}

void ClassifierOutcome::save(Snapshot& snapshot) const {
  if (validation) snapshot.put_saved("validation", *validation);
  snapshot.put_saved("test", test);
  snapshot.put_saved("predicted", predicted);
}

void ClassifierOutcome::restore(const Snapshot& snapshot) {
  validation.reset();
  if (snapshot.contains("validation/counts")) validation.emplace().restore(snapshot.part("validation"));
  test.restore(snapshot.part("test"));
  predicted.restore(snapshot.part("predicted"));
}

}  // namespace stein::training
