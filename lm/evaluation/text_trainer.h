// What training of language and captioning models has in common: two texts that are kept from it.
#pragma once

#include <stein/lm/evaluation/held_text.h>
#include <stein/training/conclusion.h>
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

  TextLosses validation_losses(const Watch& watch = {}) { return losses(validation_, &Found::validation, watch); }
  TextLosses test_losses(const Watch& watch = {}) { return losses(test_, &Found::test, watch); }
  /// Finds both, which are then there until `forget_draws`.
  void conclude(const StopToken& stop) override;
  /// Once both are known: drops what a checkpoint has of them, to go on after an interruption.
  virtual void forget_draws();
  /// How often each of them reads its text, so often it tells the watch.
  std::int64_t passes() const { return HeldText::passes(weights(), options().draws) + (has_best() ? 1 : 0); }

 protected:
  TextTrainer(const training::EpochOptions& options, const training::WeightMethodOptions& method,
              std::unique_ptr<inference::Model<float>> model, const Epoch& epoch, std::uint64_t seed,
              HeldText validation, HeldText test);

  void save_stream(Snapshot& snapshot) const override;
  void restore_stream(const Snapshot& snapshot) override;

 private:
  /// Of both texts.
  using Found = training::HeldOutParts<TextLosses>;
  void take_sample() final;
  void drop_samples(std::int64_t count) final;
  double validate() final { return validation_.loss_of_weights(weights()); }
  /// @param part  of what was found before
  TextLosses losses(HeldText& held, TextLosses Found::*part, const Watch& watch);

  HeldText validation_, test_;
  training::Conclusion<Found> concluded_;
};

}  // namespace stein::lm
