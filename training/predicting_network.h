// Which network of a run predicts new data, and with which weights, as options of `stein predict`.
#pragma once

#include <stein/core/options.h>
#include <stein/training/network_experiment.h>

#include <cstdint>
#include <string>

namespace stein::training {

/// A seed of the run, with all that stands for its posterior.
struct PredictingNetwork {
  std::int64_t seed = -1, draws = 10, draw_seed = 0;
  bool dropout = false;
  std::string device{};

  template <class V>
  void describe(V& v) {
    v("seed", seed, "whose network: a seed of the run; -1: its first", between(-1, 9e15));
    v("draws", draws, "draws of a variational method, and of dropout", between(1, 10'000));
    v("draw_seed", draw_seed, "seed of draws", at_least(0));
    v("device", device, predicting_device_help);
  }
  /// The same, of networks that can predict with their dropout.
  template <class V>
  void describe_with_dropout(V& v) {
    describe(v);
    v("dropout", dropout, "predict with the network's dropout, averaged over draws of it");
  }

  /// As NetworkExperiment::trained_network. Throws Error(usage) also for dropout that it does not have.
  TrainedNetwork of(const NetworkExperiment& experiment, const runs::SavedRun& saved) const {
    experiment.check_dropout(dropout);
    const std::uint64_t own = seed < 0 ? experiment.seeds().first : static_cast<std::uint64_t>(seed);
    return experiment.trained_network(saved, own, device);
  }
  WeightDraws draws_of(TrainedNetwork& network) const {
    return network.draws({.draws = draws, .dropout = dropout, .seed = static_cast<std::uint64_t>(draw_seed)});
  }
};

}  // namespace stein::training
