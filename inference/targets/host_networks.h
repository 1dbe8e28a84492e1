// Perceptrons of particles as the host asks them, wherever the particles are.
#pragma once

#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/particles.h>
#include <stein/inference/posterior.h>
#include <stein/inference/storage/matrix.h>

#include <cstdint>
#include <memory>

namespace stein::inference {

/// Weights of the networks that M rows of particles stand for, one network a row, and their predictions. Where the
/// posterior is on a device, weights come home and a network of the host has them; else it is the posterior's own.
class HostNetworks {
 public:
  /// @param posterior  of the particles; must outlive this object
  /// @param network    its perceptron
  HostNetworks(Posterior<float>& posterior, const MlpSpec& network, std::int64_t rows);

  /// Makes the weights from the particles: to be called after they have moved. Waits for their device.
  void refresh(const Particles<float>& particles);

  const Layout& layout() const { return networks().weight_layout(); }
  /// [M, P] in the order of `layout()`.
  MatrixView<const float> weights() const { return weights_.view(); }
  /// Outputs of network i for dense inputs [n, D]. @param outputs  [n, K]
  void predict(std::int64_t i, MatrixView<const float> inputs, MatrixView<float> outputs) const;

 private:
  Posterior<float>& networks() const { return here_ ? *here_ : *posterior_; }

  Posterior<float>* posterior_;
  std::unique_ptr<Posterior<float>> here_;  ///< networks of the host, where those of the posterior are not
  Matrix<float> weights_;
  Matrix<float> made_there_;  ///< [M, P] on a device, of factors
  std::int64_t first_row_ = 0;
};

}  // namespace stein::inference
