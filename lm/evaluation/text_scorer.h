// The probability of every token of a text under a network.
#pragma once

#include <stein/inference/model.h>
#include <stein/lm/evaluation/text_protocol.h>
#include <stein/lm/text/token_batches.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stein::lm {

/// Scores one text under one protocol, with any weights. Memory is that of the logits of one batch, not of the text.
class TextScorer {
 public:
  /// @param text   outlives the scorer
  /// @param rows, steps  of a batch, for the protocols that have one
  /// @param what   "validation": what an error calls the text
  /// @throws Error(data) if the text is too short for the protocol
  TextScorer(const Stretches& text, TextProtocol protocol, std::int64_t rows, std::int64_t steps,
             const std::string& what);

  /// Tokens that are scored.
  std::int64_t tokens() const { return batches_.tokens(); }
  std::string protocol() const { return name_; }

  /// Writes log p of every scored token, batch by batch, row by row.
  /// @param weights  one row [1, P]
  /// @param dropout  draws the network's dropout with this key; empty: without
  /// @param log_probability  [tokens()]
  void score(inference::Model<float>& model, const inference::ParticleRows<const float>& weights,
             const std::optional<NoiseKey>& dropout, std::span<float> log_probability);
  /// Calls `visit` for every scored token in the order of `score`, with the token before it.
  void for_each(const std::function<void(std::int32_t before, std::int32_t token)>& visit) const;

 private:
  TextProtocol protocol_;
  std::string name_;
  TokenBatches batches_;
  std::vector<float> logits_;
};

}  // namespace stein::lm
