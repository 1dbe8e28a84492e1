// What training of language and captioning models has in common: two texts that are kept from it.
#pragma once

#include <stein/lm/evaluation/held_text.h>
#include <stein/training/epoch_trainer.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace stein::lm {

/// A chain's samples are scored on validation and test as they come; of the other methods the weights at the end are.
class TextTrainer : public training::EpochTrainer {
 public:
  // To be asked after the last step; the trainer then holds the weights of the end. What is returned after a stop was
  // requested is not complete.

  TextLosses validation_losses(const Watch& watch = {}) { return losses(validation_, found_validation_, watch); }
  TextLosses test_losses(const Watch& watch = {}) { return losses(test_, found_test_, watch); }
  /// Finds both, which are then there until `forget_draws`.
  void conclude(const StopToken& stop) final;
  /// Once both are known: drops what a checkpoint has of them, to go on after an interruption.
  void forget_draws();
  /// How often each of them reads its text, so often it tells the watch.
  std::int64_t passes() const { return HeldText::passes(weights(), options().draws) + (has_best() ? 1 : 0); }

 protected:
  TextTrainer(const training::EpochOptions& options, const training::WeightMethodOptions& method,
              std::unique_ptr<inference::Model<float>> model, const Epoch& epoch, std::uint64_t seed,
              HeldText validation, HeldText test);

  void save_stream(Snapshot& snapshot) const override;
  void restore_stream(const Snapshot& snapshot) override;

 private:
  void take_sample() final;
  void drop_samples(std::int64_t count) final;
  double validate() final { return validation_.loss_of_weights(weights()); }
  /// @param found  what was found of that text before
  TextLosses losses(HeldText& held, const std::optional<TextLosses>& found, const Watch& watch);

  HeldText validation_, test_;
  std::optional<TextLosses> found_validation_, found_test_;  ///< by `conclude`, after `found_step_` steps
  std::int64_t found_step_ = 0;
};

}  // namespace stein::lm
