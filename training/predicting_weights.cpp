#include <stein/training/predicting_weights.h>

namespace stein::training {

WeightDraws PredictingWeights::of(TrainedNetwork& network) const {
  if (by == By::best) network.use_best();
  return network.draws(
      {.draws = draws, .mean = by != By::draws, .dropout = dropout, .seed = static_cast<std::uint64_t>(seed)});
}

}  // namespace stein::training
