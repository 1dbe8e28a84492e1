#include <stein/core/flush_denormals.h>
#include <stein/lm/evaluation/text_trainer.h>

#include <utility>

namespace stein::lm {

TextTrainer::TextTrainer(const training::EpochOptions& options, const training::WeightMethodOptions& method,
                         std::unique_ptr<inference::Model<float>> model, const Epoch& epoch, std::uint64_t seed,
                         HeldText validation, HeldText test)
    : EpochTrainer(options, method, std::move(model), epoch, seed),
      validation_(std::move(validation)),
      test_(std::move(test)) {}

void TextTrainer::take_sample() {
  for (HeldText* held : {&validation_, &test_}) held->take_sample(weights());
}

void TextTrainer::drop_samples(std::int64_t count) {
  for (HeldText* held : {&validation_, &test_}) held->drop_samples(count);
}

TextLosses TextTrainer::losses(HeldText& held, const std::optional<TextLosses>& found, const Watch& watch) {
  if (found && found_step_ == steps_done()) {
    watch.advance(static_cast<std::uint64_t>(passes()));
    return *found;
  }
  const FlushDenormals flush;  // the same bits inside a task, as where ranks conclude, and outside of one
  TextLosses losses = held.losses(weights(), options().draws, seed(), steps_done(), watch);
  if (watch.stop_requested()) return losses;
  with_best([&] {
    losses.chosen = held.loss_of_weights(weights());
    watch.advance();
  });
  return losses;
}

void TextTrainer::conclude(const StopToken& stop) {
  TextLosses validation = validation_losses(stop);
  if (stop.stop_requested()) return;
  TextLosses test = test_losses(stop);
  if (stop.stop_requested()) return;
  forget_draws();
  found_validation_ = std::move(validation), found_test_ = std::move(test);
  found_step_ = steps_done();
}

void TextTrainer::forget_draws() {
  validation_.forget_draws(), test_.forget_draws();
  found_validation_.reset(), found_test_.reset();
}

void TextTrainer::save_stream(Snapshot& snapshot) const {
  snapshot.put_saved("validation_samples", validation_);
  snapshot.put_saved("test_samples", test_);
  if (!found_validation_ || !found_test_ || found_step_ != steps_done()) return;
  snapshot.put_saved("found_validation", *found_validation_);
  snapshot.put_saved("found_test", *found_test_);
  snapshot.put("found_step", found_step_);
}

void TextTrainer::restore_stream(const Snapshot& snapshot) {
  validation_.restore(snapshot.part("validation_samples"));
  test_.restore(snapshot.part("test_samples"));
  found_validation_.reset(), found_test_.reset();
  if (!snapshot.contains("found_step")) return;
  found_step_ = snapshot.get_scalar<std::int64_t>("found_step");
  found_validation_.emplace().restore(snapshot.part("found_validation"));
  found_test_.emplace().restore(snapshot.part("found_test"));
}

}  // namespace stein::lm
