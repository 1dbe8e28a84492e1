#include <stein/core/error.h>
#include <stein/core/median.h>
#include <stein/inference/diagnostics/chain_diagnostics.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unsupported/Eigen/SpecialFunctions>
#include <vector>

namespace stein::inference {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

using Chains = std::vector<std::vector<double>>;

Chains copy(MatrixView<const double> draws) {
  Chains chains;
  for (std::int64_t i = 0; i < draws.rows; ++i) chains.emplace_back(draws.row(i).begin(), draws.row(i).end());
  return chains;
}

/// First and second half of every chain; of an odd number of draws the middle one is dropped.
Chains halves(MatrixView<const double> draws) {
  const std::int64_t half = draws.columns / 2;
  Chains chains;
  for (std::int64_t i = 0; i < draws.rows; ++i) {
    const auto row = draws.row(i);
    chains.emplace_back(row.begin(), row.begin() + half);
    chains.emplace_back(row.end() - half, row.end());
  }
  return chains;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// With divisor size − 1.
double variance(const std::vector<double>& values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size() - 1);
}

/// Every draw's normal score Φ⁻¹((rank − 3/8)/(S + 1/4)), ranks of equal draws averaged.
Chains normal_scores(const Chains& chains) {
  std::vector<std::pair<double, std::pair<std::size_t, std::size_t>>> sorted;
  for (std::size_t c = 0; c < chains.size(); ++c)
    for (std::size_t t = 0; t < chains[c].size(); ++t) sorted.push_back({chains[c][t], {c, t}});
  std::ranges::sort(sorted);
  Chains scores = chains;
  const auto count = static_cast<double>(sorted.size());
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t last = first;
    while (last < sorted.size() && sorted[last].first == sorted[first].first) ++last;
    const double rank = (static_cast<double>(first + last) + 1) / 2;
    const double score = Eigen::numext::ndtri((rank - 0.375) / (count + 0.25));
    for (std::size_t i = first; i < last; ++i) scores[sorted[i].second.first][sorted[i].second.second] = score;
    first = last;
  }
  return scores;
}

bool all_finite(MatrixView<const double> draws) {
  for (std::int64_t i = 0; i < draws.rows; ++i)
    if (!std::ranges::all_of(draws.row(i), [](double x) { return std::isfinite(x); })) return false;
  return true;
}

double r_hat(const Chains& chains) {
  const auto n = static_cast<double>(chains.front().size());
  std::vector<double> means;
  double within = 0;
  for (const auto& chain : chains) {
    means.push_back(mean(chain));
    within += variance(chain) / static_cast<double>(chains.size());
  }
  return std::sqrt((n - 1) / n + variance(means) / within);
}

double geyer(const Chains& chains) {
  const std::size_t n = chains.front().size();
  const auto length = static_cast<double>(n), count = static_cast<double>(chains.size());
  std::vector<double> means;
  double within = 0;
  for (const auto& chain : chains) {
    means.push_back(mean(chain));
    const double own = variance(chain);
    if (!(own > 0)) return nothing;
    within += own / count;
  }
  double total = within * (length - 1) / length;
  if (chains.size() > 1) total += variance(means);
  const auto correlation = [&](std::size_t lag) {
    double covariance = 0;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      double sum = 0;
      for (std::size_t t = 0; t + lag < n; ++t) sum += (chains[c][t] - means[c]) * (chains[c][t + lag] - means[c]);
      covariance += sum / (length - 1) / count;  // scaled so that lag 0 is the variance within
    }
    return 1 - (within - covariance) / total;
  };
  // Sums of neighbours at lags 2k and 2k + 1: positive, then made to fall.
  double time = -1, smallest = std::numeric_limits<double>::infinity();
  for (std::size_t lag = 0; lag + 5 < n; lag += 2) {
    const double even = lag == 0 ? 1 : correlation(lag), pair = even + correlation(lag + 1);
    if (!(pair > 0)) {
      if (even > 0) time += even;  // the odd tail that Stan keeps
      break;
    }
    smallest = std::min(smallest, pair);
    time += 2 * smallest;
  }
  const double size = length * count;
  return size / std::max(time, 1 / std::log10(size));
}

}  // namespace

double effective_sample_size(MatrixView<const double> draws) {
  STEIN_CHECK(draws.rows >= 1 && draws.columns >= 4, "effective sample size: expected at least 4 draws a chain, got {}",
              draws.columns);
  return all_finite(draws) ? geyer(copy(draws)) : nothing;
}

double bulk_effective_sample_size(MatrixView<const double> draws) {
  STEIN_CHECK(draws.rows >= 1 && draws.columns >= 8, "effective sample size: expected at least 8 draws a chain, got {}",
              draws.columns);
  return all_finite(draws) ? geyer(normal_scores(halves(draws))) : nothing;
}

double split_r_hat(MatrixView<const double> draws) {
  STEIN_CHECK(draws.rows >= 1 && draws.columns >= 4, "R-hat: expected at least 4 draws a chain, got {}", draws.columns);
  if (!all_finite(draws)) return nothing;
  const Chains chains = halves(draws);
  std::vector<double> all;
  for (const auto& chain : chains) all.insert(all.end(), chain.begin(), chain.end());
  const double middle = median(all);
  Chains folded = chains;
  for (auto& chain : folded)
    for (double& value : chain) value = std::abs(value - middle);
  return std::max(r_hat(normal_scores(chains)), r_hat(normal_scores(folded)));
}

}  // namespace stein::inference
