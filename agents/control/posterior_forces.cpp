#include <stein/agents/control/posterior_forces.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/host_copy.h>

#include <cstdint>
#include <vector>

namespace stein::agents {

using inference::Matrix;
using inference::MatrixView;

namespace {

/// Leaves a posterior with its prior alone.
class NoReturn final : public inference::OutputScore<float> {
  bool has_value() const override { return false; }
  double score(std::int64_t, std::int64_t, MatrixView<const float>, std::span<const float>, MatrixView<float>,
               std::span<float>) const override {
    return 0;
  }
};

}  // namespace

/// The gradient of the prior alone is that of a batch of one row without a return.
PosteriorForces::PosteriorForces(inference::Target<float>& target, const inference::Particles<float>& particles,
                                 const inference::Batch<float>& batch)
    : positions_(inference::host_copy<float>(particles.values(), particles.device())) {
  const NoReturn nothing;
  Matrix<float> priors(particles.rows(), particles.size(), particles.device());
  target.evaluate(particles.coordinates(),
                  {.inputs = {.dense = batch.inputs.dense.block(0, 1)}, .rows = 1, .data_size = 1, .score = &nothing},
                  {}, {.gradient = priors.view()});
  priors_ = priors.to({});
}

void PosteriorForces::take_repulsion(inference::Target<float>& target, const inference::Particles<float>& particles,
                                     const inference::Batch<float>& batch,
                                     const inference::OutputScore<float>& repulsion) {
  repulsions_ = Matrix<float>(particles.rows(), particles.size());
  inference::Batch<float> repelled = batch;
  repelled.score = &repulsion;
  target.evaluate(particles.coordinates(), repelled, {}, {.gradient = repulsions_.view()});
  for (std::int64_t i = 0; i < particles.rows(); ++i)  // the prior has come along
    for (std::int64_t q = 0; q < particles.size(); ++q) repulsions_.view()(i, q) -= priors_.view()(i, q);
}

void PosteriorForces::take_gradients(const inference::Particles<float>& particles) {
  gradients_ = inference::host_copy<float>(particles.gradients(), particles.device());
}

PosteriorParts PosteriorForces::parts(const inference::SvgdKernelOptions* kernel) const {
  if (kernel == nullptr) return posterior_parts(gradients_.view(), priors_.view(), repulsions_.view());
  const auto m = static_cast<std::size_t>(positions_.rows());
  std::vector<double> pairs(m * m);
  const auto& host = inference::driver<float>({});
  const bool linear = kernel->kernel == inference::SvgdKernel::linear;
  (linear ? host.inner_products : host.squared_distances)(positions_.view(), pairs);
  inference::KernelWeights weights;
  inference::kernel_weights(*kernel, pairs, positions_.rows(), weights);
  return posterior_parts(weights, positions_.view(), gradients_.view(), priors_.view());
}

}  // namespace stein::agents
