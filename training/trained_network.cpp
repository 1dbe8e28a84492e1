#include <stein/core/error.h>
#include <stein/training/epoch_run.h>
#include <stein/training/trained_network.h>

namespace stein::training {
namespace {

EpochTrainer::Saved saved_of(const runs::SavedRun& run, std::uint64_t seed) {
  const runs::SeedRange seeds = run.experiment->seeds();
  STEIN_CHECK(seeds.contains(seed), "the run has seeds {}:{}, got {}", seeds.first, seeds.end, seed);
  return EpochTrainer::saved_in(run.repetition(seed));
}

}  // namespace

TrainedNetwork::TrainedNetwork(const runs::SavedRun& run, std::uint64_t seed, const WeightMethodOptions& method,
                               const MakeModel& make_model)
    : seed_(seed),
      samples_(EpochRun::sample_folder(run.directory, seed)),
      saved_(saved_of(run, seed)),
      weights_(std::make_unique<NetworkWeights>(method, make_model(saved_.meaning), saved_.facts, seed)) {
  weights_->restore_weights(saved_.weights);
}

void TrainedNetwork::use_best() {
  STEIN_CHECK(saved_.best.has_value(), "the run was not validated: there are no best weights");
  weights_->restore_weights(*saved_.best);
}

WeightDraws TrainedNetwork::draws(const WeightDraws::Options& options) {
  return {*weights_, options, samples_, saved_.stored_samples};
}

}  // namespace stein::training
