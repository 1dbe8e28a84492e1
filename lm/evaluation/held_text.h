// A text that is kept from training, and what samples of the weights say of it.
#pragma once

#include <stein/core/watch.h>
#include <stein/inference/diagnostics/chain_agreement.h>
#include <stein/lm/evaluation/sampled_probabilities.h>
#include <stein/training/average_curves.h>
#include <stein/training/network_weights.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stein::lm {

/// Mean −log p of a text's tokens [nats].
struct TextLosses {
  std::string protocol;
  std::int64_t tokens = 0;           ///< that were scored
  std::int64_t samples = 1;          ///< of which averages were taken
  double single = 0;                 ///< one sample alone, averaged over the samples
  double averaged = 0;               ///< the average of the samples' probabilities
  double final_weights = 0;          ///< the weights where training ended; of a variational method the mean
  std::optional<double> chosen{};    ///< the weights with the best validation score
  training::AverageCurves curves{};  ///< losses
  std::optional<inference::ChainAgreement> agreement{};  ///< of a chain's predictions

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
};

/// Collects a chain's samples as they come; of the other methods it scores what they end with.
class HeldText {
 public:
  /// Writes log p of every token under one row of weights, in the same order each time.
  using Score = std::function<void(inference::Model<float>& model, const inference::ParticleRows<const float>& weights,
                                   std::span<float> log_probability)>;

  HeldText(std::int64_t tokens, std::string protocol, Score score)
      : protocol_(std::move(protocol)), score_(std::move(score)), samples_(tokens), draws_(tokens) {}

  /// The weights as they are now are a sample.
  void take_sample(training::NetworkWeights& weights);
  /// The last samples were of steps that were taken back.
  void drop_samples(std::int64_t count) { samples_.drop_last(count); }

  /// Mean −log p under the weights as they are: the mean of a variational method, the average of several particles.
  double loss_of_weights(training::NetworkWeights& weights);
  /// All losses but that of the chosen weights; of fewer draws than asked for where it is told to stop. What the draws
  /// said is kept (`Watch::keep`): asked again for the same weights it goes on behind them.
  /// @param draws, seed  of a variational method
  /// @param step         of the training that led to these weights
  TextLosses losses(training::NetworkWeights& weights, std::int64_t draws, std::uint64_t seed, std::int64_t step,
                    const Watch& watch);
  /// Drops what `losses` kept.
  void forget_draws() { draws_.drop_last(draws_.samples()); }
  /// How often `losses` reads the text.
  static std::int64_t passes(const training::NetworkWeights& weights, std::int64_t draws);

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if it was saved for a text of another length.
  void restore(const Snapshot& snapshot);

 private:
  /// Averages log p over the rows of weights, as probabilities, into `log_probability_`.
  void score_rows(inference::Model<float>& model, inference::MatrixView<const float> rows);

  std::string protocol_;
  Score score_;
  SampledProbabilities samples_;  ///< of a chain
  SampledProbabilities draws_;    ///< of what it ended with at `draws_step_`, as far as they are scored
  std::int64_t draws_step_ = 0;
  std::vector<float> log_probability_{}, row_probability_{};
};

}  // namespace stein::lm
