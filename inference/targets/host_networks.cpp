#include <stein/inference/storage/host_copy.h>
#include <stein/inference/targets/host_networks.h>
#include <stein/inference/targets/network_posterior.h>

namespace stein::inference {

HostNetworks::HostNetworks(Posterior<float>& posterior, const MlpSpec& network, std::int64_t rows)
    : posterior_(&posterior),
      here_(posterior.model().device() == Device{} ? nullptr : make_network_posterior({.flat_prior = true}, network)),
      weights_(rows, layout().size()) {}

void HostNetworks::refresh(const Particles<float>& particles) {
  first_row_ = particles.first_row();
  if (!here_) return posterior_->effective_weights(particles.coordinates(), {}, weights_.view());
  const Matrix<float> home =
      host_copy<float>(posterior_->weights_of(particles.coordinates(), {}, made_there_), particles.device());
  here_->effective_weights({.values = home.view(), .first_row = first_row_}, {}, weights_.view());
}

void HostNetworks::predict(std::int64_t i, MatrixView<const float> inputs, MatrixView<float> outputs) const {
  networks().model().predict({weights_.view().block(i, 1), first_row_ + i}, {.dense = inputs}, outputs);
}

}  // namespace stein::inference
