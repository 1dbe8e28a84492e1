#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/diagnostics/chain_agreement.h>
#include <stein/lm/evaluation/sampled_probabilities.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stein::lm {
namespace {

/// Tokens whose losses one task adds up.
constexpr std::int64_t block = 4096;

/// log(eᵃ + eᵇ).
double log_add(double a, double b) {
  const double most = std::max(a, b);
  return std::isinf(most) ? most : most + std::log1p(std::exp(-std::abs(a - b)));
}

}  // namespace

double mean_loss(std::span<const float> log_probability) {
  return -std::accumulate(log_probability.begin(), log_probability.end(), 0.0) /
         static_cast<double>(log_probability.size());
}

std::span<const float> SampledProbabilities::sample(std::int64_t k) const {
  STEIN_CHECK(k >= 0 && k < samples_, "expected a sample from 0 to {}, got {}", samples_ - 1, k);
  return std::span(log_probability_).subspan(static_cast<std::size_t>(k * tokens_), static_cast<std::size_t>(tokens_));
}

void SampledProbabilities::add(std::span<const float> log_probability) {
  STEIN_CHECK(std::ssize(log_probability) == tokens_, "expected log probabilities of {} tokens, got {}", tokens_,
              log_probability.size());
  log_probability_.insert(log_probability_.end(), log_probability.begin(), log_probability.end());
  ++samples_;
}

void SampledProbabilities::drop_last(std::int64_t count) {
  STEIN_CHECK(count >= 0 && count <= samples_, "cannot drop {} of {} samples", count, samples_);
  samples_ -= count;
  log_probability_.resize(static_cast<std::size_t>(samples_ * tokens_));
}

double SampledProbabilities::loss(std::int64_t k) const {
  return mean_loss(sample(k));
}

double SampledProbabilities::single_loss() const {
  double sum = 0;
  for (std::int64_t k = 0; k < samples_; ++k) sum += loss(k);
  STEIN_CHECK(samples_ > 0, "there is no sample yet");
  return sum / static_cast<double>(samples_);
}

double SampledProbabilities::averaged_loss() const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(samples_));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return loss_of(all);
}

double SampledProbabilities::loss_of(const std::vector<std::int64_t>& chosen) const {
  STEIN_CHECK(!chosen.empty(), "there is no sample yet");
  std::vector<double> sums(static_cast<std::size_t>((tokens_ + block - 1) / block));
  parallel_blocks(tokens_, block, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t t = begin; t < end; ++t) {
      double log_total = sample(chosen.front())[static_cast<std::size_t>(t)];
      for (std::size_t j = 1; j < chosen.size(); ++j)
        log_total = log_add(log_total, sample(chosen[j])[static_cast<std::size_t>(t)]);
      sum += log_total - std::log(static_cast<double>(chosen.size()));
    }
    sums[static_cast<std::size_t>(begin / block)] = sum;
  });
  return -std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(tokens_);
}

std::vector<double> SampledProbabilities::curve(inference::Selection selection, std::int64_t at_most) const {
  std::vector<double> losses;
  const std::int64_t length = std::min(samples_, at_most);
  if (selection == inference::Selection::thinned) {
    for (std::int64_t count = 1; count <= length; ++count)
      losses.push_back(loss_of(inference::selected(selection, count, samples_)));
    return losses;
  }
  std::vector<double> log_total(static_cast<std::size_t>(tokens_));
  for (std::int64_t count = 1; count <= length; ++count) {
    const std::span<const float> own =
        sample(selection == inference::Selection::forward ? count - 1 : samples_ - count);
    double sum = 0;
    for (std::size_t t = 0; t < log_total.size(); ++t) {
      log_total[t] = count == 1 ? double{own[t]} : log_add(log_total[t], own[t]);
      sum += log_total[t] - std::log(static_cast<double>(count));
    }
    losses.push_back(-sum / static_cast<double>(tokens_));
  }
  return losses;
}

std::vector<float> SampledProbabilities::averaged() const {
  STEIN_CHECK(samples_ > 0, "there is no sample yet");
  std::vector<float> result(static_cast<std::size_t>(tokens_));
  parallel_blocks(tokens_, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      double log_total = sample(0)[static_cast<std::size_t>(t)];
      for (std::int64_t k = 1; k < samples_; ++k)
        log_total = log_add(log_total, sample(k)[static_cast<std::size_t>(t)]);
      result[static_cast<std::size_t>(t)] = static_cast<float>(log_total - std::log(static_cast<double>(samples_)));
    }
  });
  return result;
}

inference::Matrix<double> SampledProbabilities::traces(std::int64_t at_most) const {
  return inference::traces_of(tokens_, samples_, at_most, [&](std::int64_t k, std::int64_t token) {
    return static_cast<double>(sample(k)[static_cast<std::size_t>(token)]);
  });
}

void SampledProbabilities::save(Snapshot& snapshot) const {
  snapshot.put("samples", std::vector<std::int64_t>{samples_, tokens_});
  snapshot.put("log_probability", log_probability_);
}

void SampledProbabilities::restore(const Snapshot& snapshot) {
  const auto counts = snapshot.get_vector<std::int64_t>("samples");
  if (counts.size() != 2 || counts[1] != tokens_)
    fail(ErrorKind::data, "the checkpoint holds samples of a text of {} scored tokens, this one has {}",
         counts.empty() ? 0 : counts.back(), tokens_);
  samples_ = counts[0];
  log_probability_ = snapshot.get_vector<float>("log_probability");
  if (std::ssize(log_probability_) != samples_ * tokens_)
    fail(ErrorKind::data, "the checkpoint holds {} log probabilities, expected {} samples of {}",
         log_probability_.size(), samples_, tokens_);
}

}  // namespace stein::lm
