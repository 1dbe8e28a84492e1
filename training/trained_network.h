// A network of a run, for predictions.
#pragma once

#include <stein/runs/saved_run.h>
#include <stein/training/epoch_trainer.h>
#include <stein/training/weight_draws.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace stein::training {

/// What an option says that names the device of predictions.
inline constexpr const char* predicting_device_help =
    "where it predicts: cpu, cuda or cuda:INDEX; empty: where the run was trained";

/// A network as the newest checkpoint of its run left it, with the samples that were stored: all that predictions need,
/// and none of the data that it learned from.
class TrainedNetwork {
 public:
  /// Makes a network for inputs and outputs of this meaning (EpochTrainer).
  using MakeModel = std::function<std::unique_ptr<inference::Model<float>>(const Snapshot& meaning)>;

  /// @param make_model  the network that was trained, on any device
  /// @throws Error(usage) unless the run has this seed; Error(data) where what was saved does not fit
  TrainedNetwork(const runs::SavedRun& run, std::uint64_t seed, const WeightMethodOptions& method,
                 const MakeModel& make_model);

  std::uint64_t seed() const { return seed_; }
  const Snapshot& meaning() const { return saved_.meaning; }
  NetworkWeights& weights() { return *weights_; }
  inference::Model<float>& model() { return weights_->posterior().model(); }

  /// From here on it has the weights with the best validation score. Throws Error(usage) where there are none.
  void use_best();
  /// What predictions are averaged over. Throws Error(data) where a stored sample is missing.
  WeightDraws draws(const WeightDraws::Options& options);

 private:
  std::uint64_t seed_;
  std::filesystem::path samples_;
  EpochTrainer::Saved saved_;
  std::unique_ptr<NetworkWeights> weights_;
};

}  // namespace stein::training
