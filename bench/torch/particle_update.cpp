#include <stein/bench/torch/particle_update.h>
#include <stein/core/error.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/torch/tensor_view.h>

#include <ATen/Functions.h>
#include <algorithm>
#include <cmath>

namespace stein::bench {

using namespace stein::inference;

FusedParticleUpdate::FusedParticleUpdate(const NetworkPosteriorOptions& options, const MlpSpec& network,
                                         std::int64_t particles)
    : posterior_(make_network_posterior(options, network)),
      particles_(posterior_->initial_particles(particles, 1, 1)),
      sampler_({}, particles_.ensemble(1)) {}

TensorParticleUpdate::TensorParticleUpdate(const NetworkPosteriorOptions& options, const MlpSpec& network,
                                           const Particles<float>& start)
    : model_(network), particles_(start), adam_(start) {
  STEIN_CHECK(start.rows() >= 2, "the median of distances needs at least two particles, got {}", start.rows());
  if (options.parameterization == WeightForm::matrix_gaussian) {
    structure_ = std::make_unique<MatrixGaussianReference<float>>(model_.layout(), options.structure);
    trace_ = structure_->make_trace();
    weights_ = std::make_unique<Particles<float>>(model_.layout(), start.rows());
  }
}

void TensorParticleUpdate::step(const Batch<float>& batch) {
  evaluate(batch);
  const c10::NoGradGuard no_gradient;
  at::Tensor values = tensor_view(particles_.values()), gradients = tensor_view(particles_.gradients());
  gradients.sub_(values);  // the prior
  double bandwidth = 0;
  const at::Tensor kernel = median_kernel(values, bandwidth);
  const double push = 2 / bandwidth;
  const at::Tensor direction = at::addmm(values * (push * kernel.sum(1, true)), kernel, gradients.sub_(values, push));
  adam_.step(values, direction);
}

void TensorParticleUpdate::evaluate(const Batch<float>& batch) {
  if (structure_ == nullptr)
    return model_.log_likelihood(particles_.coordinates(), batch, {}, {.gradient = particles_.gradients()});
  structure_->forward(particles_.coordinates(), {}, weights_->values(), *trace_);
  model_.log_likelihood(weights_->coordinates(), batch, {}, {.gradient = weights_->gradients()});
  structure_->pullback(particles_.coordinates(), {}, weights_->gradients(), particles_.gradients(), *trace_);
}

at::Tensor median_kernel(const at::Tensor& values, double& bandwidth) {
  const auto count = static_cast<double>(values.size(0));
  const at::Tensor products = values.mm(values.t()), squares = products.diag();
  const at::Tensor distances = (squares.unsqueeze(0) + squares.unsqueeze(1) - 2 * products).clamp_min_(0);
  const at::Tensor sorted = std::get<0>(distances.flatten().sort());
  const std::int64_t middle = sorted.numel() / 2;
  const float* const numbers = sorted.data_ptr<float>();
  bandwidth = 0.5 * (numbers[middle - 1] + numbers[middle]) / std::log(count + 1);
  return (distances * (-1 / bandwidth)).exp_().mul_(1 / count);
}

TensorAdam::TensorAdam(const Particles<float>& particles)
    : mean_(at::zeros({particles.rows(), particles.size()})), square_(at::zeros_like(mean_)) {}

void TensorAdam::step(at::Tensor& values, const at::Tensor& direction) {
  const OptimizerOptions options;
  ++updates_;
  mean_.mul_(options.momentum).add_(direction, 1 - options.momentum);
  square_.mul_(options.square_decay).addcmul_(direction, direction, 1 - options.square_decay);
  const at::Tensor root =
      square_.sqrt().mul_(1 / std::sqrt(1 - std::pow(options.square_decay, updates_))).add_(options.epsilon);
  values.addcdiv_(mean_, root, options.step.step_size / (1 - std::pow(options.momentum, updates_)));
}

void check_same_way(std::string_view benchmark, const Particles<float>& start, const Particles<float>& ours,
                    const Particles<float>& reference) {
  double moved = 0, apart = 0;
  for (std::int64_t i = 0; i < start.rows(); ++i) {
    for (std::int64_t q = 0; q < start.size(); ++q) {
      moved += std::pow(double{reference.values()(i, q)} - start.values()(i, q), 2);
      apart += std::pow(double{reference.values()(i, q)} - ours.values()(i, q), 2);
    }
  }
  const double error = std::sqrt(apart / moved);
  if (!(moved > 0 && error < 0.01))
    fail(ErrorKind::numeric, "benchmark {}: ours and the reference differ by {:.2g} of their way", benchmark, error);
}

double gradient_operations(const MlpSpec& network, std::int64_t rows, std::int64_t ones) {
  const auto n = static_cast<double>(rows);
  double sum = 0;
  for (std::int64_t l = 0; l < network.layers(); ++l) {
    const auto in = static_cast<double>(network.layer_inputs(l)), out = static_cast<double>(network.layer_outputs(l));
    if (l == 0)
      sum += ones > 0 ? 2 * n * static_cast<double>(ones) * out : 4 * n * in * out;
    else
      sum += 6 * n * in * out;
  }
  return sum;
}

double update_operations(const NetworkPosteriorOptions& options, const MlpSpec& network, std::int64_t particles,
                         std::int64_t coordinates, double gradient_operations) {
  double each = gradient_operations;
  if (options.parameterization == WeightForm::matrix_gaussian) {
    const auto reflectors = static_cast<double>(options.structure.reflectors);
    for (std::int64_t l = 0; l < network.layers(); ++l) {
      const auto in = static_cast<double>(network.layer_inputs(l)), out = static_cast<double>(network.layer_outputs(l));
      each += 12 * in * out * (std::min(reflectors, in) + std::min(reflectors, out));
    }
  }
  const auto count = static_cast<double>(particles), size = static_cast<double>(coordinates);
  const double distances = count * count * size, direction = 2 * count * count * size;
  return count * each + distances + direction + 12 * count * size;
}

}  // namespace stein::bench
