// How a language model is trained and scored, as options.
#pragma once

#include <stein/lm/evaluation/text_protocol.h>
#include <stein/training/epoch_options.h>

#include <cstdint>

namespace stein::lm {

/// Epochs and samples, the length of minibatches, their state, and the protocol.
struct LanguageTrainingOptions {
  /// What a minibatch starts from.
  enum class State { carried, zero };

  training::EpochOptions epochs{.burn_in = 0.5};
  std::int64_t unroll = 35;
  State state = State::carried;
  TextProtocol protocol = TextProtocol::stateful_1;
  std::int64_t report_tokens = 500;

  template <class V>
  void describe(V& v) {
    epochs.describe(v);
    v("unroll", unroll, "tokens of a row in a minibatch, through which gradients go back", between(1, 1e6), "tokens");
    v("state", state, "a minibatch starts where the one before ended, or from zero",
      {{"carried", State::carried}, {"zero", State::zero}});
    v("protocol", protocol,
      "how validation and test are scored: stateful-1 with all of the text before a token, stateful in rows of a "
      "minibatch, zero-state in chunks of one. Perplexities under different protocols do not compare",
      {{"stateful-1", TextProtocol::stateful_1},
       {"stateful", TextProtocol::stateful},
       {"zero-state", TextProtocol::zero_state}});
    v("report_tokens", report_tokens,
      "tokens of the test text that the report shows one by one, with how sure the first seed's samples are of each; "
      "0: none, and no curves of entropy and pruning",
      between(0, 1e5), "tokens")
        .in_older_runs("0");
  }
};

}  // namespace stein::lm
