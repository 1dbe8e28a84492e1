#include <stein/runs/validated_repetition.h>

#include <algorithm>

namespace stein::runs {

void ValidatedRepetition::advance(std::int64_t until, const StopToken& stop, Records& records) {
  learn(std::min(until, validation_.next_due(steps_done())), stop, records);
  if (!validation_.due(steps_done())) return;
  const double score = validate();
  Snapshot state;
  save_model(state);
  validation_.add(steps_done(), score, state);
  records.number(steps_done(), "validation", score);
}

void ValidatedRepetition::save(Snapshot& snapshot) const {
  Snapshot model, training;
  save_model(model);
  save_training(training);
  snapshot.put_part("model", model);
  snapshot.put_part("training", training);
  snapshot.put_saved("validation", validation_);
}

void ValidatedRepetition::restore(const Snapshot& snapshot) {
  restore_model(saved_model(snapshot));
  restore_training(saved_training(snapshot));
  validation_.restore(snapshot.part("validation"));
}

void ValidatedRepetition::restore_best() {
  if (validation_.best()) restore_model(validation_.best_state());
}

}  // namespace stein::runs
