// One update of SVGD and of S2VGD (gradients of all particles, kernel, Adam) against the same update on LibTorch
// autograd, batched over particles.
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/core/error.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/torch/matrix_gaussian_reference.h>
#include <stein/torch/particle_mlp_reference.h>
#include <stein/torch/tensor_view.h>

#include <ATen/Functions.h>
#include <algorithm>
#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;

/// The update in tensor operations: autograd for the likelihood, a few matrix products for the rest.
class ReferenceUpdate {
 public:
  ReferenceUpdate(const NetworkPosteriorOptions& options, const Particles<float>& start)
      : model_(mushroom_network()), particles_(start) {
    if (options.parameterization == WeightForm::matrix_gaussian) {
      structure_ = std::make_unique<MatrixGaussianReference<float>>(model_.layout(), options.structure);
      trace_ = structure_->make_trace();
      weights_ = std::make_unique<Particles<float>>(model_.layout(), particle_count);
    }
    mean_ = at::zeros({particle_count, particles_.size()});
    square_ = at::zeros_like(mean_);
  }

  void step(const Batch<float>& batch) {
    evaluate(batch);
    const c10::NoGradGuard no_gradient;
    at::Tensor values = tensor_view(particles_.values()), gradients = tensor_view(particles_.gradients());
    gradients.sub_(values);  // the prior: every coordinate has precision 1 by default
    const at::Tensor products = values.mm(values.t()), squares = products.diag();
    const at::Tensor distances = (squares.unsqueeze(0) + squares.unsqueeze(1) - 2 * products).clamp_min_(0);
    const at::Tensor sorted = std::get<0>(distances.flatten().sort());
    const std::int64_t middle = sorted.numel() / 2;
    const float* const numbers = sorted.data_ptr<float>();
    const double bandwidth = 0.5 * (numbers[middle - 1] + numbers[middle]) / std::log(particle_count + 1.0);
    const at::Tensor kernel = (distances * (-1 / bandwidth)).exp_().mul_(1.0 / particle_count);
    const double push = 2 / bandwidth;
    const at::Tensor direction = at::addmm(values * (push * kernel.sum(1, true)), kernel, gradients.sub_(values, push));
    adam(values, direction);
  }

  const Particles<float>& particles() const { return particles_; }

 private:
  void evaluate(const Batch<float>& batch) {
    if (structure_ == nullptr)
      return model_.log_likelihood(particles_.coordinates(), batch, {}, {.gradient = particles_.gradients()});
    structure_->forward(particles_.coordinates(), {}, weights_->values(), *trace_);
    model_.log_likelihood(weights_->coordinates(), batch, {}, {.gradient = weights_->gradients()});
    structure_->pullback(particles_.coordinates(), {}, weights_->gradients(), particles_.gradients(), *trace_);
  }

  void adam(at::Tensor& values, const at::Tensor& direction) {
    const OptimizerOptions options;
    ++updates_;
    mean_.mul_(options.momentum).add_(direction, 1 - options.momentum);
    square_.mul_(options.square_decay).addcmul_(direction, direction, 1 - options.square_decay);
    const at::Tensor root =
        square_.sqrt().mul_(1 / std::sqrt(1 - std::pow(options.square_decay, updates_))).add_(options.epsilon);
    values.addcdiv_(mean_, root, options.step.step_size / (1 - std::pow(options.momentum, updates_)));
  }

  ParticleMlpReference<float> model_;
  std::unique_ptr<MatrixGaussianReference<float>> structure_;
  std::unique_ptr<ForwardTrace> trace_;
  Particles<float> particles_;
  std::unique_ptr<Particles<float>> weights_;
  at::Tensor mean_, square_;
  double updates_ = 0;
};

/// Multiplications and additions that the mathematics asks for, whatever the implementation.
double operations(const MushroomCase& which, std::int64_t coordinates) {
  const MlpSpec network = mushroom_network();
  const double rows = minibatch_rows, ones = mushroom_attributes, reflectors = reflector_count;
  double each = 0;
  for (std::int64_t l = 0; l < network.layers(); ++l) {
    const auto in = static_cast<double>(network.layer_inputs(l)), out = static_cast<double>(network.layer_outputs(l));
    if (l == 0)
      each += which.one_hot ? 2 * rows * ones * out : 4 * rows * in * out;
    else
      each += 6 * rows * in * out;
    if (which.structured) each += 12 * in * out * (std::min(reflectors, in) + std::min(reflectors, out));
  }
  const auto particles = static_cast<double>(particle_count), size = static_cast<double>(coordinates);
  const double distances = particles * particles * size, direction = 2 * particles * particles * size;
  return particles * each + distances + direction + 12 * particles * size;
}

/// Throws Error(numeric) unless both moved by the same, to 1 % of how far they went: float sums in another order, and
/// Adam magnifies what is nearly zero.
void check_same(const Particles<float>& start, const Particles<float>& ours, const Particles<float>& reference) {
  double moved = 0, apart = 0;
  for (std::int64_t i = 0; i < particle_count; ++i) {
    for (std::int64_t q = 0; q < start.size(); ++q) {
      moved += std::pow(double{reference.values()(i, q)} - start.values()(i, q), 2);
      apart += std::pow(double{reference.values()(i, q)} - ours.values()(i, q), 2);
    }
  }
  const double error = std::sqrt(apart / moved);
  if (!(moved > 0 && error < 0.01))
    fail(ErrorKind::numeric, "benchmark update: ours and the reference differ by {:.2g} of their way", error);
}

/// The update as `svgd` and `s2vgd` make it.
class FusedUpdate {
 public:
  explicit FusedUpdate(const NetworkPosteriorOptions& options)
      : posterior_(make_network_posterior(options, mushroom_network())),
        particles_(posterior_->initial_particles(particle_count, 1, 1)),
        sampler_({}, particles_.ensemble(1)) {}

  void step(const Batch<float>& batch) { sampler_.step(particles_, *posterior_, batch); }
  const Particles<float>& particles() const { return particles_; }

 private:
  std::unique_ptr<Posterior<float>> posterior_;
  Particles<float> particles_;
  Svgd<float> sampler_;
};

constexpr PairSettings settings{.round_seconds = 0.1, .warm_up_seconds = 0.2};

Row measure_case(const MushroomCase& which, double peak) {
  const NetworkPosteriorOptions options = posterior_options(which.structured);
  FusedUpdate update(options);
  const Particles<float> start = update.particles();
  ReferenceUpdate reference(options, start);
  const Minibatch data(which.one_hot);
  const Batch<float> batch = data.batch();
  for (int i = 0; i < 3; ++i) {
    update.step(batch);
    reference.step(batch);
  }
  check_same(start, update.particles(), reference.particles());

  const TensorPair pair = measure_tensor_pair([&] { update.step(batch); }, [&] { reference.step(batch); }, settings);
  const double rate = operations(which, start.size()) / pair.seconds.ours;
  Row row = tensor_row(which.name, pair, "LibTorch autograd, batched over particles");
  row.extra.emplace_back("gflops", rate / 1e9);
  row.extra.emplace_back("share_of_matrix_product_rate", rate / peak);
  if (which.structured) {
    FusedUpdate direct(posterior_options(false));
    const Pair both = measure_pair([&] { update.step(batch); }, [&] { direct.step(batch); }, settings);
    row.extra.emplace_back("times_svgd", both.ours / both.reference);
  }
  return row;
}

std::vector<Row> measure(const NoOptions&) {
  const double peak = matrix_product_rate();
  std::vector<Row> rows;
  for (const MushroomCase& which : mushroom_cases()) rows.push_back(measure_case(which, peak));
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("update", Measure::of(measure));

}  // namespace
}  // namespace stein::bench
