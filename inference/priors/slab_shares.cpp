#include <stein/core/block_sums.h>
#include <stein/inference/priors/slab_shares.h>

#include <cmath>
#include <cstdint>

namespace stein::inference {

SlabSums slab_sums(std::span<const double> rho, std::span<const double> weights) {
  constexpr std::int64_t least = 8192;
  return sum_of_blocks<SlabSums>(std::ssize(rho), least, [&](std::int64_t begin, std::int64_t end) {
    SlabSums sum;
    for (auto q = static_cast<std::size_t>(begin); q < static_cast<std::size_t>(end); ++q) {
      sum.spikes += (1 - rho[q]) * std::abs(weights[q]);
      sum.slabs += rho[q] * weights[q] * weights[q];
    }
    return sum;
  });
}

template <class Scalar>
void add_spike_and_slab(double spike, double slab, std::span<const double> rho, std::span<const Scalar> weights,
                        std::span<Scalar> gradient) {
  constexpr std::int64_t block = 8192;
  parallel_blocks(std::ssize(rho), block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      const Scalar value = weights[j];
      const double sign = static_cast<double>(value > 0) - static_cast<double>(value < 0);
      gradient[j] -= static_cast<Scalar>((1 - rho[j]) * spike * sign + rho[j] * slab * static_cast<double>(value));
    }
  });
}

template void add_spike_and_slab(double, double, std::span<const double>, std::span<const float>, std::span<float>);
template void add_spike_and_slab(double, double, std::span<const double>, std::span<const double>, std::span<double>);

double reference::move_slab_shares(const SpikeOdds& odds, std::span<const double> weights, double omega,
                                   std::span<double> rho) {
  double sum = 0;
  for (std::size_t j = 0; j < rho.size(); ++j) {
    const double beta = weights[j];
    const double slab = 1 / (1 + std::exp(odds.constant - odds.absolute * std::abs(beta) + odds.square * beta * beta));
    rho[j] += omega * (slab - rho[j]);
    sum += rho[j];
  }
  return sum;
}

}  // namespace stein::inference
