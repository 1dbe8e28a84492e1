// The weights of a network under one method: all that a prediction needs of a trained one.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/posterior.h>
#include <stein/training/weight_method.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stein::training {

/// A posterior, and the particles that stand for it; they lie where the model wants its weights (Model::device).
class NetworkWeights {
 public:
  /// The weights that training begins with, until others are restored.
  /// @throws Error(usage) naming the option that is out of range or does not go with another
  NetworkWeights(const WeightMethodOptions& options, std::unique_ptr<inference::Model<float>> model,
                 const DataFacts& data, std::uint64_t seed);
  NetworkWeights(const NetworkWeights&) = delete;
  NetworkWeights& operator=(const NetworkWeights&) = delete;
  ~NetworkWeights() = default;

  MethodKind kind() const { return method_.kind; }
  /// Rows of weights that a step evaluates, and that carried state has a row for: M · S.
  std::int64_t weight_rows() const { return particles_.rows() * posterior_->weight_samples(); }
  /// Whether a weight is a coordinate of its own, or the mean of one: not so where coordinates are factors of matrices.
  bool holds_plain_weights() const {
    const inference::WeightForm form = method_.posterior.parameterization;
    return form == inference::WeightForm::direct || form == inference::WeightForm::mean_field;
  }
  /// Weights of the network: no padding, and no precision that is sampled with them.
  std::int64_t parameter_count() const;
  /// P: numbers of a row of weights, padding and what a method adds included.
  std::int64_t weight_count() const { return posterior_->weight_layout().size(); }
  inference::Posterior<float>& posterior() { return *posterior_; }
  const inference::Posterior<float>& posterior() const { return *posterior_; }
  inference::Particles<float>& particles() { return particles_; }
  const inference::Particles<float>& particles() const { return particles_; }

  /// Weights for predictions [M, P]: the particles' own, or of a variational method M = 1 draw, however many a step
  /// takes.
  /// @param key     tells draws apart
  /// @param memory  where they go unless the particles are the weights themselves
  inference::MatrixView<const float> draw_weights(const NoiseKey& key, inference::Matrix<float>& memory);
  /// The same at the mean of a variational method's Gaussian.
  inference::MatrixView<const float> mean_weights(inference::Matrix<float>& memory);
  /// The weights as they are [M, P]: the mean of a variational method, of others the particles' own.
  inference::MatrixView<const float> weights_now(inference::Matrix<float>& memory) {
    return kind() == MethodKind::variational ? mean_weights(memory) : draw_weights({}, memory);
  }

  /// State of the network that is not sampled (batch normalisation) [M, B], of each particle; empty where it has none.
  inference::MatrixView<const float> buffers() const { return particles_.buffers(); }

  /// Names of the parameters that are made sparse; empty where none is.
  std::vector<std::string> sparse_layers() const;

  /// Of those of the first particle a copy on the host [1, P].
  inference::Matrix<float> host_weights_now();

  /// KL(q ‖ p) of a variational method's Gaussian from the prior [nats], by one draw where it has no closed form; of
  /// sharpening that of φ. @param key  of the draw
  double divergence(const NoiseKey& key);

  /// The weights and what belongs to them: all that predictions need.
  void save_weights(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore_weights(const Snapshot& snapshot);

 protected:
  const WeightMethodOptions& method() const { return method_; }

 private:
  void widen_outer_weights();

  WeightMethodOptions method_;
  std::unique_ptr<inference::Posterior<float>> posterior_;
  inference::Particles<float> particles_;
};

}  // namespace stein::training
