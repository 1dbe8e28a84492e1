// What the benchmarks of the decision and of the update share: the network of the mushroom bandit and data of its
// shape.
#pragma once

#include <stein/bench/benchmark.h>
#include <stein/inference/batch.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stein::bench {

constexpr std::int64_t particle_count = 20, reflector_count = 8, minibatch_rows = 64, mushroom_attributes = 22;

/// What is timed: a policy and the form of its inputs.
struct MushroomCase {
  std::string name;
  bool structured, one_hot;
};

/// `svgd` and `s2vgd`, each with one-hot and with dense inputs.
std::vector<MushroomCase> mushroom_cases();

/// 117-50-50-2: one-hot columns of a mushroom to the rewards of two arms.
inference::MlpSpec mushroom_network();

/// The posterior of `svgd`, or of `s2vgd` with `reflector_count` reflectors a side.
inference::NetworkPosteriorOptions posterior_options(bool structured);

/// Rows of random mushrooms, 64 unless more are wanted: 22 attributes, each a one among five or six columns, a random
/// arm and reward.
class Minibatch {
 public:
  explicit Minibatch(bool one_hot, std::int64_t rows = minibatch_rows);
  inference::Batch<float> batch() const;
  /// The same as a policy is given them, drawn from a window of 4,096.
  policies::InteractionBatch interactions() const;

 private:
  bool one_hot_;
  std::int64_t rows_;
  std::vector<std::int32_t> ones_, arms_;
  std::vector<float> dense_, rewards_;
};

/// One call of ours and of LibTorch's, whose threads are as many, one or two, as take less time.
struct TensorPair {
  Pair seconds;
  int threads = 1;
  double ratio_to_one_thread = 0;  ///< how many times better ours is than LibTorch with one thread
};

/// Measures with one LibTorch thread and with two: two of them spin when the other core is busy.
TensorPair measure_tensor_pair(const std::function<void()>& ours, const std::function<void()>& reference,
                               const PairSettings& settings = {});

/// The row of such a pair in µs, with the number of threads and the ratio to one.
Row tensor_row(std::string name, const TensorPair& pair, std::string reference_is);

/// Multiply-adds × 2 a second of LibTorch's product of 1,024-square float matrices: what so many cores reach in
/// practice.
double matrix_product_rate(int threads = 1);

}  // namespace stein::bench
