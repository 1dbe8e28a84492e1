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

TextLosses TextTrainer::losses(HeldText& held, const Watch& watch) {
  TextLosses found = held.losses(weights(), options().draws, seed(), steps_done(), watch);
  if (watch.stop_requested()) return found;
  with_best([&] {
    found.chosen = held.loss_of_weights(weights());
    watch.advance();
  });
  return found;
}

void TextTrainer::save_stream(Snapshot& snapshot) const {
  snapshot.put_saved("validation_samples", validation_);
  snapshot.put_saved("test_samples", test_);
}

void TextTrainer::restore_stream(const Snapshot& snapshot) {
  validation_.restore(snapshot.part("validation_samples"));
  test_.restore(snapshot.part("test_samples"));
}

}  // namespace stein::lm
