// Updates of networks of tables and images: ensembles of perceptrons against LibTorch autograd, batched over particles,
// the rate of their products alone, and a step of chains on a convolutional network against plain SGD in LibTorch.
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/bench/torch/particle_update.h>
#include <stein/core/parallel.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/storage/matrix.h>
#include <stein/torch/image_network.h>
#include <stein/torch/tensor_view.h>
#include <stein/training/weight_sampler.h>
#include <torch/nn.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::bench {
namespace {

using namespace stein::inference;
using namespace stein::training;

struct SupervisedOptions {
  std::vector<std::int64_t> hidden{400, 400};
  std::int64_t particles = 20, reflectors = 10;
  std::vector<std::string> chains{"sgd", "sgld", "sghmc", "sghmc-sa"};
  double round_seconds = 0.5;

  template <class V>
  void describe(V& v) {
    v("hidden", hidden, "units of the hidden layers of the network of images", between(1, 10'000));
    v("particles", particles, "M of the ensembles", between(2, 1'000));
    v("reflectors", reflectors, "K of s2vgd", between(1, 1'000));
    v("chains", chains, "methods that train the convolutional network");
    v("round_seconds", round_seconds, "how long each is measured in a round", positive, "seconds");
  }
};

constexpr std::int64_t pixels = 784, classes = 10, batch_rows = 100;

/// Rows of a minibatch: inputs in [0, 1), four fifths of them zero as those of MNIST, with classes or with numbers.
class DenseRows {
 public:
  DenseRows(std::int64_t columns, bool of_classes, double data_size) : columns_(columns), data_size_(data_size) {
    Draws draws({.seed = 1}, 0);
    for (std::int64_t i = 0; i < batch_rows * columns; ++i)
      inputs_.push_back(draws.integer(5) == 0 ? static_cast<float>(draws.uniform()) : 0.0F);
    for (std::int64_t i = 0; i < batch_rows; ++i)
      targets_.push_back(of_classes ? static_cast<float>(i % classes) : static_cast<float>(draws.normal()));
  }
  Batch<float> batch() const {
    return {.inputs = {.dense = {inputs_.data(), batch_rows, columns_}},
            .targets = {targets_.data(), batch_rows, 1},
            .rows = batch_rows,
            .data_size = data_size_};
  }

 private:
  std::int64_t columns_;
  double data_size_;
  std::vector<float> inputs_, targets_;
};

MlpSpec image_perceptron(const SupervisedOptions& options) {
  return {.inputs = pixels, .hidden = options.hidden, .outputs = classes, .likelihood = Likelihood::categorical};
}

/// A whole update of an ensemble.
Row measure_ensemble(const std::string& name, const MlpSpec& network, bool structured, const DenseRows& data,
                     const SupervisedOptions& options) {
  NetworkPosteriorOptions posterior;
  if (structured) posterior.parameterization = WeightForm::matrix_gaussian;
  posterior.structure.reflectors = options.reflectors;
  FusedParticleUpdate update(posterior, network, options.particles);
  const Particles<float> start = update.particles();
  TensorParticleUpdate reference(posterior, network, start);
  const Batch<float> batch = data.batch();
  for (int i = 0; i < 3; ++i) update.step(batch), reference.step(batch);
  check_same_way("supervised", start, update.particles(), reference.particles());

  const TensorPair pair = measure_tensor_pair([&] { update.step(batch); }, [&] { reference.step(batch); },
                                              {.round_seconds = options.round_seconds, .warm_up_seconds = 0.5});
  Row row = tensor_row(name, pair, "LibTorch autograd, batched over particles");
  const double rate =
      update_operations(posterior, network, options.particles, start.size(), gradient_operations(network, batch_rows)) /
      pair.seconds.ours;
  row.extra.emplace_back("gflops", rate / 1e9);
  return row;
}

/// Small weights of M particles, and their gradients.
struct Rows {
  Matrix<float> values, gradient;
  Rows(const Layout& layout, std::int64_t particles)
      : values(particles, layout.size()), gradient(particles, layout.size()) {
    for (std::int64_t i = 0; i < particles; ++i) {
      fill_normal(values.row(i), {.seed = 1}, static_cast<std::uint32_t>(i));
      for (float& weight : values.row(i)) weight *= 0.05F;
    }
  }
  ParticleRows<const float> weights() const { return {.values = values.view()}; }
};

/// Likelihood and gradients of M particles alone, a few in a task as posteriors have it.
/// @param peak  operations a second that the cores reach in practice
Row measure_gradient(const std::string& name, const MlpSpec& network, std::int64_t particles, const DenseRows& data,
                     double peak, double round_seconds) {
  ParticleMlp model(network);
  ParticleMlpReference<float> reference(network);
  Rows ours(model.layout(), particles), theirs(reference.layout(), particles);
  const Batch<float> batch = data.batch();
  const std::int64_t together = model.rows_per_call();
  const auto blocks = [&] {
    parallel_blocks(particles, together, [&](std::int64_t begin, std::int64_t end) {
      model.log_likelihood({.values = ours.values.view().block(begin, end - begin), .first_row = begin}, batch, {},
                           {.gradient = ours.gradient.view().block(begin, end - begin)});
    });
  };
  const TensorPair pair = measure_tensor_pair(
      blocks, [&] { reference.log_likelihood(theirs.weights(), batch, {}, {.gradient = theirs.gradient.view()}); },
      {.round_seconds = round_seconds, .warm_up_seconds = 0.5});
  Row row = tensor_row(name, pair, "LibTorch autograd, batched over particles");
  const double rate = static_cast<double>(particles) * gradient_operations(network, batch_rows) / pair.seconds.ours;
  row.extra.emplace_back("gflops", rate / 1e9);
  row.extra.emplace_back("share_of_matrix_product_rate", rate / peak);
  return row;
}

/// A chain on a network of two convolutions and two layers, as `stein classify` has it.
class Chain {
 public:
  Chain(const std::string& method, const DenseRows& data)
      : batch_(data.batch()),
        weights_(options_of(method), make_image_network({}, {}),
                 {.size = batch_.data_size, .minibatches = batch_.data_size / batch_rows}, 1) {}
  void step() { weights_.step(batch_); }

 private:
  static WeightMethodOptions options_of(const std::string& method) {
    WeightMethodOptions options = weight_methods().at(method).defaults;
    OptionTable table = OptionTable::of(options);
    table.set("step_size", "1e-9");  // of a measure, not of a training: it goes nowhere
    if (table.contains("momentum")) table.set("momentum", "0");
    return options;
  }

  Batch<float> batch_;
  WeightSampler weights_;
};

/// Plain SGD as its own best user writes it in LibTorch.
class PlainSgd {
 public:
  explicit PlainSgd(const DenseRows& data)
      : network_(torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 32, 5).padding(2)), torch::nn::ReLU(),
                 torch::nn::MaxPool2d(2), torch::nn::Conv2d(torch::nn::Conv2dOptions(32, 64, 5).padding(2)),
                 torch::nn::ReLU(), torch::nn::MaxPool2d(2), torch::nn::Flatten(), torch::nn::Linear(64 * 49, 200),
                 torch::nn::ReLU(), torch::nn::Linear(200, classes)),
        images_(tensor_view(data.batch().inputs.dense).view({batch_rows, 1, 28, 28})),
        targets_(tensor_view(data.batch().targets).flatten().to(at::kLong)),
        parameters_(network_->parameters()) {}
  void step() {
    for (at::Tensor& parameter : parameters_) parameter.mutable_grad() = at::Tensor();
    at::cross_entropy_loss(network_->forward(images_), targets_).backward();
    const c10::NoGradGuard no_gradient;
    for (at::Tensor& parameter : parameters_) parameter.sub_(parameter.grad(), 1e-9);
  }

 private:
  torch::nn::Sequential network_;
  at::Tensor images_, targets_;
  std::vector<at::Tensor> parameters_;
};

Row measure_chain(const std::string& method, const DenseRows& data, double round_seconds) {
  Chain chain(method, data);
  PlainSgd reference(data);
  const TensorPair pair = measure_tensor_pair([&] { chain.step(); }, [&] { reference.step(); },
                                              {.round_seconds = round_seconds, .warm_up_seconds = 0.5});
  return tensor_row(method + "-conv-2-fc-2", pair, "plain SGD in LibTorch");
}

std::vector<Row> measure_supervised(const SupervisedOptions& options) {
  const double peak = matrix_product_rate(thread_count());
  const DenseRows images(pixels, true, 50'000), houses(13, false, 455);
  const MlpSpec network = image_perceptron(options), boston{.inputs = 13, .hidden = {50}, .outputs = 1};
  std::vector<Row> rows{
      measure_ensemble("svgd-images", network, false, images, options),
      measure_ensemble("s2vgd-images", network, true, images, options),
      measure_ensemble("svgd-boston", boston, false, houses, options),
      measure_gradient("gradient-images", network, options.particles, images, peak, options.round_seconds),
      measure_gradient("gradient-images-m1", network, 1, images, peak, options.round_seconds)};
  for (const std::string& method : options.chains) rows.push_back(measure_chain(method, images, options.round_seconds));
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("supervised", Measure::of(measure_supervised));

}  // namespace
}  // namespace stein::bench
