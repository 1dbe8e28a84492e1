#include <stein/agents/control/posterior_forces.h>

#include <algorithm>

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

Matrix<float> copied(MatrixView<const float> rows) {
  Matrix<float> copy(rows.rows, rows.columns);
  for (std::int64_t i = 0; i < rows.rows; ++i) std::ranges::copy(rows.row(i), copy.row(i).begin());
  return copy;
}

}  // namespace

/// The gradient of the prior alone is that of a batch of one row without a return.
PosteriorForces::PosteriorForces(inference::Target<float>& target, const inference::Particles<float>& particles,
                                 const inference::Batch<float>& batch)
    : positions_(copied(particles.values())), priors_(particles.rows(), particles.size()) {
  const NoReturn nothing;
  target.evaluate(particles.coordinates(),
                  {.inputs = {.dense = batch.inputs.dense.block(0, 1)}, .rows = 1, .data_size = 1, .score = &nothing},
                  {}, {.gradient = priors_.view()});
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
  gradients_ = copied(particles.gradients());
}

PosteriorParts PosteriorForces::parts(const inference::KernelWeights* kernel) const {
  if (kernel != nullptr) return posterior_parts(*kernel, positions_.view(), gradients_.view(), priors_.view());
  return posterior_parts(gradients_.view(), priors_.view(), repulsions_.view());
}

}  // namespace stein::agents
