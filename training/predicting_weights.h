// Which weights a trained network predicts with when it is evaluated, as options.
#pragma once

#include <stein/core/options.h>
#include <stein/training/trained_network.h>

#include <cstdint>
#include <string>

namespace stein::training {

/// All that stands for the posterior, or one set of weights; with dropout on demand.
struct PredictingWeights {
  /// Which weights: all that stands for the posterior, the mean or the last ones, or the best by validation.
  enum class By { draws, mean, best };

  By by = By::draws;
  std::int64_t draws = 10, seed = 0;
  bool dropout = false;
  std::string device{};

  template <class V>
  void describe(V& v) {
    v("by", by,
      "draws: averaged over what stands for the posterior; mean: of a variational method, of others where training "
      "ended; best: the weights with the best validation score",
      {{"draws", By::draws}, {"mean", By::mean}, {"best", By::best}});
    v("draws", draws, "draws of a variational method, and of dropout", between(1, 10'000));
    v("seed", seed, "of whatever is drawn, not of the run", at_least(0));
    v("device", device, predicting_device_help);
  }
  /// The same, of networks that can predict with their dropout.
  template <class V>
  void describe_with_dropout(V& v) {
    describe(v);
    v("dropout", dropout, "predict with the network's dropout, averaged over draws of it");
  }

  /// Draws of the weights of a network, which has its best weights from here on if it is to predict by them. Throws
  /// Error(data) where a stored sample is missing, Error(usage) where there are no best weights.
  WeightDraws of(TrainedNetwork& network) const;
};

}  // namespace stein::training
