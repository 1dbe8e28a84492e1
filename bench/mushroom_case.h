// What the benchmarks of the decision and of the update share: the network of the mushroom bandit and data of its
// shape.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/network_posterior.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace stein::bench {

constexpr std::int64_t particle_count = 20;

/// 117-50-50-2: one-hot columns of a mushroom to the rewards of two arms.
inference::MlpSpec mushroom_network();

/// The posterior of `svgd` (or of `s2vgd`, with eight reflectors a side) in fused or in reference arithmetic.
inference::NetworkPosteriorOptions posterior_options(bool structured, inference::Arithmetic arithmetic);

/// 64 rows of random mushrooms: 22 attributes, each a one among five or six columns, a random arm and reward.
class Minibatch {
 public:
  explicit Minibatch(bool one_hot);
  inference::Batch<float> batch() const;

 private:
  bool one_hot_;
  std::vector<std::int32_t> ones_, arms_;
  std::vector<float> dense_, rewards_;
};

/// Gives LibTorch the number of threads, one or two, with which `body` takes less time, and returns it.
int use_best_thread_count(const std::function<void()>& body);

/// Multiply-adds × 2 a second of LibTorch's product of 1,024-square float matrices on one thread: what one core reaches
/// in practice.
double matrix_product_rate();

}  // namespace stein::bench
