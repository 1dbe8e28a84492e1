// Neural-linear as a user of LibTorch and Eigen writes it: what `stein bench neural-linear` is measured against.
#pragma once

#include <stein/bench/eigen_regressions.h>
#include <stein/bench/torch/particle_update.h>

#include <memory>
#include <random>
#include <vector>

namespace stein::bench {

/// A network with ReLU and one-hot contexts of two arms or more, trained by Adam on LibTorch autograd under a prior of
/// precision 1; on its last hidden layer a regression of every arm with an intercept, in Eigen, whose noise variance
/// has an inverse gamma prior.
class TensorNeuralLinear {
 public:
  /// Of the regressions; the prior rate is in the unit of the rewards.
  struct Prior {
    double precision, shape, rate;
  };
  /// @param start  one row of weights
  TensorNeuralLinear(const inference::MlpSpec& network, const inference::Particles<float>& start, const Prior& prior);

  /// The arm of the largest of one draw an arm, for a context with ones at `active`.
  std::int64_t decide(const at::Tensor& active);
  /// One step of Adam.
  void learn(const inference::Batch<float>& batch);
  /// Adds an interaction to the regression of its arm.
  void observe(const at::Tensor& active, std::int64_t arm, double reward);
  /// Makes the regressions anew from contexts [n, D] as dense rows, arms [n] and rewards [n] (double).
  void revisit(const at::Tensor& contexts, const at::Tensor& arms, const at::Tensor& rewards);

  /// What the regression of an arm says of a context: Student-t as LinTS has it.
  struct Posterior {
    double degrees, location, scale;
  };
  Posterior posterior(const at::Tensor& active, std::int64_t arm);
  /// The last hidden layer of a context.
  std::vector<float> features(const at::Tensor& active);
  const inference::Particles<float>& particles() const { return particles_; }

 private:
  /// Writes the features of a context, and 1, to row_.
  void load_features(const at::Tensor& active);
  at::Tensor hidden(const at::Tensor& first) const;
  Posterior posterior_of_row(std::int64_t arm);

  inference::Particles<float> particles_;
  inference::ParticleMlpReference<float> model_;
  std::vector<at::Tensor> weights_;  ///< [rows, columns] views of particles_: weight, bias, weight, bias, …
  TensorAdam adam_;
  Prior prior_;
  std::vector<std::unique_ptr<EigenNormalEquations>> regressions_;  ///< [arms]
  std::vector<double> counts_, row_;
  std::mt19937_64 generator_{1};
  std::normal_distribution<double> normal_;
};

}  // namespace stein::bench
