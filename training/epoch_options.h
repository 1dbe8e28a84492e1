// Epochs, minibatches, rates and samples of a training, as options: what all trainers of networks share.
#pragma once

#include <stein/core/options.h>

#include <cstdint>

namespace stein::training {

/// How long, in how large pieces, and what is kept.
struct EpochOptions {
  std::int64_t batch_size = 20;
  std::int64_t gradient_chunks = 1;
  std::int64_t epochs = 10;
  double rate_decay = 1;
  std::int64_t full_rate_epochs = 1;
  double burn_in = 0.2;
  std::int64_t samples_per_epoch = 2;
  std::int64_t stored_samples = 10;
  std::int64_t draws = 10;
  std::int64_t validations_per_epoch = 1;
  std::int64_t patience = 0;

  template <class V>
  void describe(V& v) {
    v("batch_size", batch_size, "B: rows of a minibatch", between(1, 1e6), "rows");
    v("gradient_chunks", gradient_chunks,
      "chunks of a minibatch whose gradients are made one after the other and added up (gradient accumulation): less "
      "memory, and MPI ranks beyond the seeds share them; dropout is drawn for each chunk",
      between(1, 1000))
        .in_older_runs("1");
    v("epochs", epochs, "times through the data", between(1, 1e6));
    v("rate_decay", rate_decay, "the step size is multiplied by it at the start of every epoch after full_rate_epochs",
      Range{.low = 0, .high = 1, .low_open = true});
    v("full_rate_epochs", full_rate_epochs, "epochs at the full step size", at_least(1), "epochs");
    v("burn_in", burn_in, "share of the epochs before a chain's first sample",
      Range{.low = 0, .high = 1, .high_open = true});
    v("samples_per_epoch", samples_per_epoch, "samples of a chain in an epoch after the burn-in", between(1, 1e6));
    v("stored_samples", stored_samples,
      "samples of a chain, at equal distances, whose weights are stored for what is done with the run later: a file "
      "each, of 4 bytes a weight",
      between(0, 1e6));
    v("draws", draws, "S: draws from a variational method's Gaussian that predictions are averaged over",
      between(1, 10'000));
    v("validations_per_epoch", validations_per_epoch, "validations in an epoch; the best state so far is kept",
      between(0, 1000));
    v("patience", patience, "validations without a new best after which the training stops early; 0: never",
      between(0, 1e6), "validations");
  }
};

}  // namespace stein::training
