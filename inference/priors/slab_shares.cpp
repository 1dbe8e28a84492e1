#include <stein/inference/priors/slab_shares.h>

#include <cmath>

namespace stein::inference {

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
