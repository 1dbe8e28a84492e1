// How a language model is trained and scored, as options.
#pragma once

#include <stein/core/options.h>
#include <stein/lm/evaluation/text_protocol.h>

#include <cstdint>

namespace stein::lm {

/// Minibatches, epochs, rates, samples and the protocol.
struct LanguageTrainingOptions {
  /// What a minibatch starts from.
  enum class State { carried, zero };

  std::int64_t batch_size = 20;
  std::int64_t unroll = 35;
  State state = State::carried;
  std::int64_t epochs = 10;
  double rate_decay = 1;
  std::int64_t rate_decay_after = 0;
  double burn_in = 0.2;
  std::int64_t samples_per_epoch = 2;
  std::int64_t stored_samples = 10;
  std::int64_t draws = 10;
  std::int64_t validations_per_epoch = 1;
  std::int64_t patience = 0;
  TextProtocol protocol = TextProtocol::stateful_1;

  template <class V>
  void describe(V& v) {
    v("batch_size", batch_size, "B: rows of a minibatch, each a text of its own", between(1, 1e6), "rows");
    v("unroll", unroll, "tokens of a row in a minibatch, through which gradients go back", between(1, 1e6), "tokens");
    v("state", state, "a minibatch starts where the one before ended, or from zero",
      {{"carried", State::carried}, {"zero", State::zero}});
    v("epochs", epochs, "times through the text", between(1, 1e6));
    v("rate_decay", rate_decay, "the step size is multiplied by it at the start of every epoch after rate_decay_after",
      Range{.low = 0, .high = 1, .low_open = true});
    v("rate_decay_after", rate_decay_after, "epochs at the full step size", at_least(0), "epochs");
    v("burn_in", burn_in, "share of the epochs before a chain's first sample",
      Range{.low = 0, .high = 1, .high_open = true});
    v("samples_per_epoch", samples_per_epoch, "samples of a chain in an epoch after the burn-in", between(1, 1e6));
    v("stored_samples", stored_samples,
      "samples of a chain, at equal distances, whose weights are stored for `eval` and `sample`: a file each, of 4 "
      "bytes a "
      "weight",
      between(0, 1e6));
    v("draws", draws, "S: draws from a variational method's Gaussian that predictions are averaged over",
      between(1, 10'000));
    v("validations_per_epoch", validations_per_epoch, "validations in an epoch; the best state so far is kept",
      between(0, 1000));
    v("patience", patience, "validations without a new best after which the training stops early; 0: never",
      between(0, 1e6), "validations");
    v("protocol", protocol,
      "how validation and test are scored: stateful-1 with all of the text before a token, stateful in rows of a "
      "minibatch, zero-state in chunks of one. Perplexities under different protocols do not compare",
      {{"stateful-1", TextProtocol::stateful_1},
       {"stateful", TextProtocol::stateful},
       {"zero-state", TextProtocol::zero_state}});
  }
};

}  // namespace stein::lm
