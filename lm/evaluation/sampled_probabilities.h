// What samples of the weights say of a text's tokens, and what their averages would have said.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/prediction/collector.h>
#include <stein/inference/storage/matrix.h>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stein::lm {

/// Mean −log p of some tokens [nats].
double mean_loss(std::span<const float> log_probability);

/// One float for every sample and token: the log probability of the token that was observed. From it follow the losses
/// of single samples and of averages over any of them, so one run gives the forward, the backward and the thinned curve
/// of Gan et al. 2017, section 4.2, without any weights stored. Probabilities are averaged, never their logarithms.
class SampledProbabilities {
 public:
  explicit SampledProbabilities(std::int64_t tokens) : tokens_(tokens) {}

  /// Adds a sample: log p of every token, in the same order each time.
  void add(std::span<const float> log_probability);
  /// Removes the last samples, those of steps that were taken back.
  void drop_last(std::int64_t count);

  std::int64_t samples() const { return samples_; }
  std::int64_t tokens() const { return tokens_; }

  // Losses are −log p, the mean over tokens, in nats. All throw Error(usage) before the first sample.

  /// The loss of sample k = 0 … samples() − 1 alone.
  double loss(std::int64_t k) const;
  /// The mean over samples of their losses: what one of them loses. Never less than `averaged_loss`.
  double single_loss() const;
  /// The loss of the average over all samples.
  double averaged_loss() const;
  /// The losses of averages over 1, 2, … samples(): the first k, the last k, or k at equal distances.
  /// @param at_most  so many averages
  std::vector<double> curve(inference::Selection selection,
                            std::int64_t at_most = std::numeric_limits<std::int64_t>::max()) const;
  /// log p of every token under the average over all samples.
  std::vector<float> averaged() const;

  /// [tokens, samples()] log p of some of the tokens under every sample, `at_most` at equal distances.
  inference::Matrix<double> traces(std::int64_t at_most) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if it was saved for a text of another length.
  void restore(const Snapshot& snapshot);

 private:
  std::span<const float> sample(std::int64_t k) const;
  /// The loss of the average over the samples whose numbers are given.
  double loss_of(const std::vector<std::int64_t>& chosen) const;

  std::int64_t tokens_, samples_ = 0;
  std::vector<float> log_probability_;  ///< [samples, tokens]
};

}  // namespace stein::lm
