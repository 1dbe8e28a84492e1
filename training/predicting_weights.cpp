#include <stein/training/epoch_run.h>
#include <stein/training/predicting_weights.h>

namespace stein::training {

WeightDraws PredictingWeights::of(EpochTrainer& trainer, const RunDirectory& directory) const {
  if (by == By::best) trainer.restore_best();
  return {trainer.weights(),
          {.draws = draws, .mean = by != By::draws, .dropout = dropout, .seed = static_cast<std::uint64_t>(seed)},
          EpochRun::sample_folder(directory, trainer.seed()),
          trainer.stored_samples()};
}

}  // namespace stein::training
