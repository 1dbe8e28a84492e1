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

TextLosses TextTrainer::losses(HeldText& held, TextLosses Found::*part, const Watch& watch) {
  if (const Found* const found = concluded_.after(steps_done())) {
    watch.advance(static_cast<std::uint64_t>(passes()));
    return found->*part;
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
  validation_.forget_draws(), test_.forget_draws();
  concluded_.keep({std::move(validation), std::move(test)}, steps_done());
}

void TextTrainer::forget_draws() {
  validation_.forget_draws(), test_.forget_draws();
  concluded_.forget();
}

void TextTrainer::save_stream(Snapshot& snapshot) const {
  snapshot.put_saved("validation_samples", validation_);
  snapshot.put_saved("test_samples", test_);
  if (concluded_.after(steps_done()) != nullptr) snapshot.put_saved("losses", concluded_);
}

void TextTrainer::restore_stream(const Snapshot& snapshot) {
  validation_.restore(snapshot.part("validation_samples"));
  test_.restore(snapshot.part("test_samples"));
  concluded_.restore(snapshot.part("losses"));
}

}  // namespace stein::lm
