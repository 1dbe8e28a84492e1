// Any torch::nn::Module as a likelihood: the same numbers as LibTorch alone, no copies, nothing left behind.
#include <torch/torch.h>

#include <stein/core/error.h>
#include <stein/inference/models/sharpened_model.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/posterior.h>
#include <stein/inference/prediction/predictive.h>
#include <stein/inference/priors/spike_and_slab_prior.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/torch/module_model.h>
#include <stein/torch/particle_mlp_reference.h>
#include <stein/torch/tensor_view.h>

#include <catch2/catch.hpp>
#include <thread>

using namespace stein;
using namespace stein::inference;

namespace {

/// y ~ N(f(x), 1), summed over rows.
at::Tensor unit_gaussian(const at::Tensor& outputs, const Batch<float>& batch) {
  return (-0.5 * (tensor_view(batch.targets) - outputs).square() - 0.5 * std::log(2 * M_PI)).sum();
}

template <class Network>
ModuleModel gaussian_model(Network network, std::int64_t outputs, Precision precision = Precision::single) {
  return {network.ptr(),
          {.log_likelihood =
               [network](const Batch<float>& batch) mutable {
                 return unit_gaussian(network->forward(tensor_view(batch.inputs.dense)), batch);
               },
           .outputs =
               [network](const Inputs<float>& inputs) mutable { return network->forward(tensor_view(inputs.dense)); },
           .output_count = outputs},
          {},
          precision};
}

struct Numbers {
  std::vector<float> x, y;
  Batch<float> batch;
};

/// `rows` random rows that stand for 40.
Numbers random_numbers(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  Numbers made{.x = std::vector<float>(rows * inputs), .y = std::vector<float>(rows * outputs), .batch = {}};
  fill_normal(std::span<float>(made.x), {.seed = 1}, 0);
  fill_normal(std::span<float>(made.y), {.seed = 1}, 1);
  made.batch.inputs.dense = {made.x.data(), rows, inputs};
  made.batch.targets = {made.y.data(), rows, outputs};
  made.batch.rows = rows;
  made.batch.data_size = 40;
  return made;
}

torch::nn::Sequential two_layers() {
  return torch::nn::Sequential(torch::nn::Linear(4, 3), torch::nn::Tanh(), torch::nn::Linear(3, 2));
}

}  // namespace

TEST_CASE("a module for which a device has no room says how much was asked for, and what takes less", "[torch]") {
  struct Weight : torch::nn::Module {
    Weight() { register_parameter("w", torch::ones({2})); }
  };
  const auto ask = []() -> at::Tensor {
    C10_THROW_ERROR(OutOfMemoryError,
                    "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 139.80 GiB of "
                    "which 3.00 GiB is free. Of the allocated memory 1.00 GiB is allocated by PyTorch");
  };
  ModuleModel model(std::make_shared<Weight>(), {.log_likelihood = [&](const Batch<float>&) { return ask(); },
                                                 .outputs = [&](const Inputs<float>&) { return ask(); },
                                                 .output_rows = [](const Inputs<float>&) { return 1; }});
  Matrix<float> weights(1, model.layout().size()), gradient(1, model.layout().size()), output(1, 1);
  const Batch<float> batch{.rows = 1, .data_size = 1};
  const std::string expected =
      "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which 3.00 GiB is "
      "free; less is taken by";
  CHECK_ERROR(model.log_likelihood({weights.view(), 0}, batch, {}, {.gradient = gradient.view()}), io, expected);
  CHECK_ERROR(model.hessian_product({weights.view(), 0}, batch, {}, weights.view(), gradient.view()), io, expected);
  CHECK_ERROR(model.predict({weights.view(), 0}, {.dense = {weights.row(0).data(), 1, 1}}, output.view()), io,
              expected);
}

TEST_CASE("a module is laid out as its named parameters say", "[inference][module]") {
  torch::nn::Sequential network(torch::nn::Linear(4, 3), torch::nn::BatchNorm1d(3), torch::nn::Linear(3, 2));
  network->named_parameters()["2.bias"].set_requires_grad(false);
  const ModuleModel model = gaussian_model(network, 2);
  std::vector<std::string> names;
  for (const LayoutEntry& entry : model.layout().entries()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias", "2.weight"});
  CHECK(model.layout().at("0.weight").shape == std::vector<std::int64_t>{3, 4});
  CHECK(model.layout().at("0.weight").role == Role::weight);
  CHECK(model.layout().at("1.weight").role == Role::gain);
  CHECK(model.layout().at("1.bias").role == Role::bias);
  CHECK(model.layout().at("2.weight").fan_in == 3);
  CHECK(model.layout().at("2.weight").layer == 2);
  CHECK(model.layout().coordinate_count() == 12 + 3 + 3 + 3 + 6);
  CHECK(model.layout().buffers().size() == 2);  // running mean and variance; the batch count is no real number
}

TEST_CASE("a module has the log-likelihood and gradient of the same perceptron, every particle of its own",
          "[inference][module]") {
  ModuleModel model = gaussian_model(two_layers(), 2);
  ParticleMlpReference<float> mlp({.inputs = 4, .hidden = {3}, .outputs = 2, .activation = Activation::tanh});
  Particles<float> ours(mlp.layout(), 3), theirs(model.layout(), 3);
  for (std::int64_t m = 0; m < 3; ++m) fill_normal(ours.values().row(m), {.seed = 2}, static_cast<std::uint32_t>(m));
  // LibTorch keeps weights [outputs, inputs]; calls `visit` with the same number of both.
  const auto pairs = [&](const auto& visit) {
    for (std::int64_t m = 0; m < 3; ++m)
      for (int layer = 0; layer < 2; ++layer)
        for (const char* part : {"weight", "bias"}) {
          const LayoutEntry& a = mlp.layout().at(fmt::format("layer{}.{}", layer, part));
          const LayoutEntry& b = model.layout().at(fmt::format("{}.{}", 2 * layer, part));
          const bool bias = a.shape.size() == 1;
          for (std::int64_t i = 0; i < a.rows(); ++i)
            for (std::int64_t j = 0; j < a.columns(); ++j)
              visit(m, a.offset + i * a.columns() + j, b.offset + (bias ? j : j * a.rows() + i));
        }
  };
  pairs([&](std::int64_t m, std::int64_t i, std::int64_t j) { theirs.values()(m, j) = ours.values()(m, i); });
  for (std::int64_t m = 0; m < 3; ++m) std::ranges::fill(theirs.gradients().row(m), NAN);

  const Numbers data = random_numbers(7, 4, 2);
  std::vector<double> expected(3), value(3);
  mlp.log_likelihood(ours.coordinates(), data.batch, {}, {.gradient = ours.gradients(), .value = expected});
  model.log_likelihood(theirs.coordinates(), data.batch, {}, {.gradient = theirs.gradients(), .value = value});
  for (int m = 0; m < 3; ++m) CHECK(value[m] == Approx(expected[m]).epsilon(1e-5));
  float worst = 0, largest = 0;
  pairs([&](std::int64_t m, std::int64_t i, std::int64_t j) {
    worst = std::max(worst, std::abs(ours.gradients()(m, i) - theirs.gradients()(m, j)));
    largest = std::max(largest, std::abs(ours.gradients()(m, i)));
  });
  CHECK(worst <= 1e-5F * largest);

  std::vector<float> outputs(3 * 7 * 2), other(3 * 7 * 2);
  mlp.predict(ours.coordinates(), data.batch.inputs, {outputs.data(), 21, 2});
  model.predict(theirs.coordinates(), data.batch.inputs, {other.data(), 21, 2});
  for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(other[i] == Approx(outputs[i]).margin(1e-5));
}

TEST_CASE("a module in bfloat16 scores as in single precision but for rounding, every particle of its own",
          "[inference][module][precision]") {
  ModuleModel single = gaussian_model(two_layers(), 2), mixed = gaussian_model(two_layers(), 2, Precision::bfloat16);
  Particles<float> ours(single.layout(), 3), theirs(mixed.layout(), 3);
  for (std::int64_t m = 0; m < 3; ++m) {
    fill_normal(ours.values().row(m), {.seed = 2}, static_cast<std::uint32_t>(m));
    std::ranges::copy(ours.values().row(m), theirs.values().row(m).begin());
  }
  const Numbers data = random_numbers(7, 4, 2);
  std::vector<double> expected(3), value(3);
  single.log_likelihood(ours.coordinates(), data.batch, {}, {.gradient = ours.gradients(), .value = expected});
  mixed.log_likelihood(theirs.coordinates(), data.batch, {}, {.gradient = theirs.gradients(), .value = value});
  for (std::int64_t m = 0; m < 3; ++m) {
    CAPTURE(m);
    CHECK(value[m] == Approx(expected[m]).epsilon(0.02));
    CHECK(value[m] != Approx(expected[m]).epsilon(1e-7));
    double apart = 0, length = 0;
    for (std::int64_t q = 0; q < single.layout().size(); ++q) {
      apart += std::pow(theirs.gradients()(m, q) - ours.gradients()(m, q), 2);
      length += std::pow(ours.gradients()(m, q), 2);
    }
    CHECK(std::sqrt(apart) < 0.03 * std::sqrt(length));
    CHECK(std::sqrt(apart) > 1e-5 * std::sqrt(length));
  }
  std::vector<float> outputs(3 * 7 * 2), other(3 * 7 * 2);
  single.predict(ours.coordinates(), data.batch.inputs, {outputs.data(), 21, 2});
  mixed.predict(theirs.coordinates(), data.batch.inputs, {other.data(), 21, 2});
  for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(other[i] == Approx(outputs[i]).margin(0.05));
  CHECK(other != outputs);
  // The setting is that of a call: what comes after it multiplies in floats again.
  std::vector<double> again(3);
  single.log_likelihood(ours.coordinates(), data.batch, {}, {.value = again});
  CHECK(again == expected);
  CHECK_THROWS_WITH(gaussian_model(two_layers(), 2, Precision::tf32), Catch::Contains("tf32 is of a GPU"));
}

namespace {

/// x ↦ tanh x, with a gradient that is no function autograd can follow.
struct OnceDifferentiable : torch::autograd::Function<OnceDifferentiable> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    const at::Tensor y = at::tanh(x);
    context->save_for_backward({y});
    return y;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    TORCH_CHECK_NOT_IMPLEMENTED(!at::GradMode::is_enabled(), "the derivative of this gradient is not implemented");
    return {gradients[0] * (1 - context->get_saved_variables()[0].square())};
  }
};

/// x ↦ x, whose gradient fails where autograd follows it.
struct Broken : torch::autograd::Function<Broken> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x.clone(); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& gradients) {
    TORCH_CHECK(!at::GradMode::is_enabled(), "out of memory");
    return {gradients[0]};
  }
};

}  // namespace

TEST_CASE("a second derivative that LibTorch does not have is replaced by differences, and no other error is hidden",
          "[inference][module]") {
  torch::nn::Linear place(1, 2);
  ModuleModel sampled(place.ptr(), {.log_likelihood = [place](const Batch<float>& batch) mutable {
                        const at::Tensor image = at::arange(16, at::kFloat).square().view({1, 1, 4, 4});
                        const at::Tensor grid = at::tanh(place->forward(tensor_view(batch.inputs.dense)));
                        return at::grid_sampler_2d(image, grid.view({1, 1, -1, 2}), 0, 0, false).sum();
                      }});
  const Numbers data = random_numbers(3, 1, 1);
  Particles<float> weights(sampled.layout(), 1), vectors(sampled.layout(), 1), products(sampled.layout(), 1);
  fill_normal(weights.values().row(0), {.seed = 2}, 0);
  fill_normal(vectors.values().row(0), {.seed = 3}, 0);
  std::ranges::fill(products.values().row(0), NAN);
  const MatrixView<const float> along = std::as_const(vectors).values();
  sampled.hessian_product(weights.coordinates(), data.batch, {}, along, products.values());
  for (const float number : products.values().row(0)) CHECK(std::isfinite(number));

  ModuleModel broken(place.ptr(), {.log_likelihood = [place](const Batch<float>& batch) mutable {
                       return Broken::apply(place->forward(tensor_view(batch.inputs.dense))).sum();
                     }});
  CHECK_THROWS_WITH(broken.hessian_product(weights.coordinates(), data.batch, {}, along, products.values()),
                    Catch::Contains("out of memory"));
}

TEST_CASE("the Hessian of a module times a vector is exact to rounding, and by differences where it has none",
          "[inference][module]") {
  torch::nn::Sequential network(torch::nn::Linear(4, 3), torch::nn::Tanh(), torch::nn::Linear(3, 1));
  ModuleModel model = gaussian_model(network, 1);
  ModuleModel once(network.ptr(), {.log_likelihood = [network](const Batch<float>& batch) mutable {
                     const auto hidden = network[0]->as<torch::nn::Linear>()->forward(tensor_view(batch.inputs.dense));
                     return unit_gaussian(
                         network[2]->as<torch::nn::Linear>()->forward(OnceDifferentiable::apply(hidden)), batch);
                   }});
  const Numbers data = random_numbers(7, 4, 1);
  Particles<float> weights(model.layout(), 2), vectors(model.layout(), 2), products(model.layout(), 2),
      differences(model.layout(), 2);
  for (std::uint32_t m = 0; m < 2; ++m) {
    fill_normal(weights.values().row(m), {.seed = 2}, m);
    fill_normal(vectors.values().row(m), {.seed = 3}, m);
  }
  const MatrixView<const float> along = std::as_const(vectors).values();
  model.hessian_product(weights.coordinates(), data.batch, {}, along, products.values());
  once.hessian_product(weights.coordinates(), data.batch, {}, along, differences.values());

  // The same network in double, whose differences are right to 1e-7; LibTorch keeps weights [outputs, inputs].
  ParticleMlpReference<double> mlp({.inputs = 4, .hidden = {3}, .outputs = 1, .activation = Activation::tanh});
  std::vector<double> x(data.x.begin(), data.x.end()), y(data.y.begin(), data.y.end());
  const Batch<double> batch{
      .inputs = {.dense = {x.data(), 7, 4}}, .targets = {y.data(), 7, 1}, .rows = 7, .data_size = 40};
  const auto place = [](std::int64_t j) { return j < 12 ? j % 3 * 4 + j / 3 : j; };
  Particles<double> theirs(mlp.layout(), 2), direction(mlp.layout(), 2), expected(mlp.layout(), 2);
  for (std::int64_t m = 0; m < 2; ++m)
    for (std::int64_t j = 0; j < 19; ++j) {
      theirs.values()(m, j) = weights.values()(m, place(j));
      direction.values()(m, j) = vectors.values()(m, place(j));
    }
  mlp.hessian_product(theirs.coordinates(), batch, {}, std::as_const(direction).values(), expected.values());
  double largest = 0, worst = 0, worst_difference = 0;
  for (std::int64_t m = 0; m < 2; ++m)
    for (std::int64_t j = 0; j < 19; ++j) {
      const double right = expected.values()(m, j);
      largest = std::max(largest, std::abs(right));
      worst = std::max(worst, std::abs(products.values()(m, place(j)) - right));
      worst_difference = std::max(worst_difference, std::abs(differences.values()(m, place(j)) - right));
    }
  CAPTURE(largest, worst, worst_difference);
  CHECK(worst < 1e-5 * largest);
  CHECK(worst_difference < 1e-2 * largest);
  CHECK(worst_difference > 0);
}

TEST_CASE("a module sees its inputs under the batch's mask", "[inference][module]") {
  ModuleModel model = gaussian_model(two_layers(), 2);
  const Numbers data = random_numbers(5, 4, 2);
  std::vector<float> mask(20, 1), masked = data.x;
  for (std::size_t j = 0; j < 20; j += 3) mask[j] = 0, masked[j] = 0;
  Batch<float> with_mask = data.batch, by_hand = data.batch;
  with_mask.input_mask = {mask.data(), 5, 4};
  by_hand.inputs.dense = {masked.data(), 5, 4};
  Particles<float> particles(model.layout(), 2);
  for (std::uint32_t m = 0; m < 2; ++m) fill_normal(particles.values().row(m), {.seed = 2}, m);
  const auto score = [&](const Batch<float>& batch) {
    std::vector<double> numbers(2);
    model.log_likelihood(particles.coordinates(), batch, {}, {.gradient = particles.gradients(), .value = numbers});
    for (std::int64_t m = 0; m < 2; ++m)
      numbers.insert(numbers.end(), particles.gradients().row(m).begin(), particles.gradients().row(m).end());
    return numbers;
  };
  CHECK(score(with_mask) == score(by_hand));
  CHECK(score(with_mask) != score(data.batch));
  with_mask.input_mask.columns = 3;
  CHECK_THROWS_WITH(score(with_mask), Catch::Contains("under a mask [5, 3], got inputs [5, 4]"));
}

TEST_CASE("predictions are made in evaluation mode, and every part of a module gets its own mode back",
          "[inference][module]") {
  torch::nn::Sequential network(torch::nn::Linear(4, 3), torch::nn::Dropout(0.5), torch::nn::Linear(3, 2));
  network[2]->eval();
  ModuleModel model = gaussian_model(network, 2);
  const Numbers data = random_numbers(6, 4, 2);
  Particles<float> particles(model.layout(), 1);
  fill_normal(particles.values().row(0), {.seed = 2}, 0);
  std::vector<float> first(12), second(12);
  model.predict(particles.coordinates(), data.batch.inputs, {first.data(), 6, 2});
  model.predict(particles.coordinates(), data.batch.inputs, {second.data(), 6, 2});
  CHECK(first == second);
  CHECK(network->is_training());
  CHECK(network[1]->is_training());
  CHECK_FALSE(network[2]->is_training());
}

TEST_CASE("a parameter under two names is refused", "[inference][module]") {
  struct Tied : torch::nn::Module {
    Tied() { register_parameter("again", register_parameter("weight", torch::ones({3}))); }
  };
  CHECK_THROWS_WITH(
      ModuleModel(std::make_shared<Tied>(), {.log_likelihood = [](const Batch<float>&) { return at::Tensor(); }}),
      Catch::Contains("'weight' and 'again' are one parameter"));
}

TEST_CASE("an LSTM can be sharpened, and its exact gradient is that of the value", "[inference][module][sharpening]") {
  const auto slopes = [](SharpeningGradient kind) {
    torch::nn::LSTM lstm(torch::nn::LSTMOptions(2, 3).batch_first(true));
    torch::nn::Linear head(3, 1);
    torch::nn::ModuleDict network;
    network->update({{"lstm", lstm.ptr()}, {"head", head.ptr()}});
    auto module = std::make_unique<ModuleModel>(
        network.ptr(), ModuleFunctions{.log_likelihood = [lstm, head](const Batch<float>& batch) mutable {
          const at::Tensor sequences = tensor_view(batch.inputs.dense).reshape({batch.rows, -1, 2});
          const at::Tensor states = std::get<0>(lstm->forward(sequences));
          return unit_gaussian(head->forward(states.select(1, -1)), batch);
        }});
    SharpenedModel<float> model(std::move(module), {.sharpening_deviation = 0.5, .gradient = kind});
    const Numbers data = random_numbers(6, 8, 1);
    Particles<float> at(model.layout(), 1), moved = at, direction = at;
    fill_normal(at.values().row(0), {.seed = 9}, 0);
    fill_normal(direction.values().row(0), {.seed = 10}, 0);
    for (const LayoutEntry& entry : model.layout().entries())
      if (entry.role == Role::rate) {
        for (float& eta : at.values().row(0).subspan(entry.offset, entry.extent())) eta = 0.1F * std::abs(eta);
        for (float& d : direction.values().row(0).subspan(entry.offset, entry.extent())) d = 0;
      }
    const NoiseKey noise{.seed = 4};
    const auto value_at = [&](float step) {
      for (std::int64_t j = 0; j < at.size(); ++j)
        moved.values()(0, j) = at.values()(0, j) + step * direction.values()(0, j);
      std::vector<double> value(1);
      model.log_likelihood(moved.coordinates(), data.batch, noise, {.gradient = moved.gradients(), .value = value});
      return value[0];
    };
    const double difference = (value_at(5e-3F) - value_at(-5e-3F)) / 1e-2;
    value_at(0);
    double slope = 0;
    for (std::int64_t j = 0; j < at.size(); ++j) slope += double{moved.gradients()(0, j)} * direction.values()(0, j);
    return std::pair(slope, difference);
  };
  const auto [exact, difference] = slopes(SharpeningGradient::exact);
  CAPTURE(exact, difference);
  CHECK(exact == Approx(difference).epsilon(1e-2));
  CHECK(slopes(SharpeningGradient::first_order).first != Approx(difference).epsilon(5e-2));
}

TEST_CASE("each particle sees its own inputs and targets where the batch has one set a particle",
          "[inference][module]") {
  ModuleModel model = gaussian_model(two_layers(), 2);
  Particles<float> particles(model.layout(), 2);
  initialise_coordinates(particles, 3, 1.0);
  Numbers both = random_numbers(10, 4, 2);
  std::vector<double> together(2), apart(2);
  both.batch.rows = 5;
  both.batch.inputs_per_particle = both.batch.targets_per_particle = true;
  model.log_likelihood(particles.coordinates(), both.batch, {}, {.gradient = particles.gradients(), .value = together});
  for (std::int64_t m = 0; m < 2; ++m) {
    Batch<float> own = both.batch;
    own.inputs.dense = own.inputs.dense.block(5 * m, 5);
    own.targets = own.targets.block(5 * m, 5);
    own.inputs_per_particle = own.targets_per_particle = false;
    model.log_likelihood(particles.coordinates().block(m, 1), own, {},
                         {.gradient = particles.gradients().block(m, 1), .value = std::span(apart).subspan(m, 1)});
  }
  CHECK(together == apart);
}

TEST_CASE("parameters are views of the flat rows while a module is scored, and its own again afterwards",
          "[inference][module]") {
  torch::nn::Sequential network = two_layers();
  std::vector<const void*> seen, seen_gradients;
  ModuleModel model(network.ptr(), {.log_likelihood = [&](const Batch<float>& batch) {
                      for (const at::Tensor& parameter : network->parameters()) {
                        seen.push_back(parameter.const_data_ptr());
                        seen_gradients.push_back(parameter.grad().const_data_ptr());
                      }
                      return unit_gaussian(network->forward(tensor_view(batch.inputs.dense)), batch);
                    }});
  const at::Tensor own = network->parameters()[0];
  const void* place = own.const_data_ptr();
  const at::Tensor numbers = own.detach().clone();
  Particles<float> particles(model.layout(), 2);
  initialise_coordinates(particles, 4, 1.0);
  const Numbers data = random_numbers(3, 4, 2);
  model.log_likelihood(particles.coordinates(), data.batch, {}, {.gradient = particles.gradients()});

  std::vector<const void*> expected, expected_gradients;
  for (std::int64_t m = 0; m < 2; ++m)
    for (const LayoutEntry& entry : model.layout().entries()) {
      expected.push_back(particles.values().row(m).data() + entry.offset);
      expected_gradients.push_back(particles.gradients().row(m).data() + entry.offset);
    }
  CHECK(seen == expected);
  CHECK(seen_gradients == expected_gradients);
  CHECK(own.const_data_ptr() == place);
  CHECK(own.equal(numbers));
  CHECK(!own.grad().defined());

  std::vector<float> row(static_cast<std::size_t>(model.layout().size()));
  model.copy_parameters(row);
  CHECK(at::from_blob(row.data(), {3, 4}, at::kFloat).equal(numbers));
}

TEST_CASE("an LSTM of LibTorch has the gradient that LibTorch gives it", "[inference][module]") {
  torch::nn::LSTM network(torch::nn::LSTMOptions(2, 5).num_layers(2).batch_first(true));
  auto score = [network](const Batch<float>& batch) mutable {
    const at::Tensor x = tensor_view(batch.inputs.dense).view({batch.rows, -1, 2});
    return -(std::get<0>(network->forward(x)).select(1, -1).sum(1, true) - tensor_view(batch.targets)).square().sum();
  };
  ModuleModel model(network.ptr(), {.log_likelihood = score});
  const Numbers data = random_numbers(4, 6, 1);
  Particles<float> particles(model.layout(), 1);
  model.copy_parameters(particles.values().row(0));
  model.log_likelihood(particles.coordinates(), data.batch, {}, {.gradient = particles.gradients()});

  (score(data.batch) * 10).backward();  // N/n = 40/4
  std::string order;                    // cuDNN's: all matrices, then all biases
  for (const LayoutEntry& entry : model.layout().entries()) {
    const at::Tensor found = entry_view(particles.gradients(), entry).flatten();
    CHECK(found.allclose(network->named_parameters()[entry.name].grad().flatten(), 1e-5, 1e-5));
    order += entry.name + " ";
  }
  CHECK(order == "weight_ih_l0 weight_hh_l0 weight_ih_l1 weight_hh_l1 bias_ih_l0 bias_hh_l0 bias_ih_l1 bias_hh_l1 ");
}

TEST_CASE("dropout follows the noise key and leaves LibTorch's own generator alone", "[inference][module]") {
  torch::nn::Sequential network(torch::nn::Linear(4, 30), torch::nn::Dropout(0.5), torch::nn::Linear(30, 2));
  ModuleModel model = gaussian_model(network, 2);
  Particles<float> particles(model.layout(), 2);
  initialise_coordinates(particles, 5, 1.0);
  std::ranges::copy(particles.values().row(0), particles.values().row(1).begin());
  const Numbers data = random_numbers(3, 4, 2);
  const auto score = [&](const NoiseKey& key) {
    std::vector<double> value(2);
    model.log_likelihood(particles.coordinates(), data.batch, key, {.gradient = particles.gradients(), .value = value});
    return value;
  };
  torch::manual_seed(1);
  const std::vector<double> first = score({.seed = 7});
  const float drawn = at::rand({1}).item<float>();
  torch::manual_seed(1);
  CHECK(at::rand({1}).item<float>() == drawn);
  CHECK(score({.seed = 7}) == first);
  CHECK(score({.seed = 7, .step = 1}) != first);
  CHECK(first[0] != first[1]);
  // The second particle alone, as a shard has it.
  std::vector<double> second(1);
  model.log_likelihood(particles.coordinates().block(1, 1), data.batch, {.seed = 7}, {.value = second});
  CHECK(second[0] == first[1]);
}

TEST_CASE("running statistics move by the dropout of their own key and row", "[inference][module]") {
  torch::nn::Sequential network(torch::nn::Linear(4, 30), torch::nn::Dropout(0.5), torch::nn::BatchNorm1d(30),
                                torch::nn::Linear(30, 2));
  ModuleModel model = gaussian_model(network, 2);
  Particles<float> particles(model.layout(), 2);
  initialise_coordinates(particles, 5, 1.0);
  std::ranges::copy(particles.values().row(0), particles.values().row(1).begin());
  const Numbers data = random_numbers(6, 4, 2);
  const auto adapted = [&](std::int64_t first, std::int64_t count, const NoiseKey& key) {
    for (std::int64_t i = 0; i < 2; ++i) model.initialise_buffers(particles.buffers().row(i));
    model.adapt(particles.coordinates().block(first, count), data.batch, key, particles.buffers().block(first, count));
    const auto row = particles.buffers().row(first + count - 1);
    return std::vector<float>(row.begin(), row.end());
  };
  torch::manual_seed(1);
  const std::vector<float> second = adapted(0, 2, {.seed = 7}), first = adapted(0, 1, {.seed = 7});
  CHECK(first != second);
  torch::manual_seed(2);
  CHECK(adapted(0, 1, {.seed = 7}) == first);
  CHECK(adapted(1, 1, {.seed = 7}) == second);
  CHECK(adapted(0, 1, {.seed = 7, .step = 1}) != first);
}

TEST_CASE("scoring leaves the running statistics of batch normalisation as they were", "[inference][module]") {
  torch::nn::Sequential network(torch::nn::Linear(4, 3), torch::nn::BatchNorm1d(3), torch::nn::Linear(3, 2));
  ModuleModel model = gaussian_model(network, 2);
  Particles<float> particles(model.layout(), 2);
  initialise_coordinates(particles, 6, 1.0);
  const Numbers data = random_numbers(5, 4, 2);
  model.log_likelihood(particles.coordinates(), data.batch, {}, {.gradient = particles.gradients()});
  CHECK(network->named_buffers()["1.running_mean"].equal(at::zeros({3})));
  CHECK(network->named_buffers()["1.running_var"].equal(at::ones({3})));
}

TEST_CASE("every particle has running statistics of its own, which move after a step and are saved with it",
          "[inference][module]") {
  torch::nn::Sequential network(torch::nn::Linear(4, 3), torch::nn::BatchNorm1d(3), torch::nn::Linear(3, 2));
  const auto layers = network->named_buffers();
  auto model = std::make_unique<ModuleModel>(gaussian_model(network, 2));
  auto direct = std::make_unique<Direct<float>>(model->layout());
  Posterior<float> posterior(std::move(model), std::move(direct), {});
  Particles<float> particles = posterior.initial_particles(2, 6, 1.0);
  const Numbers data = random_numbers(5, 4, 2);
  CHECK(particles.buffers()(1, 2) == 0);
  CHECK(particles.buffers()(1, 3) == 1);

  Svgd<float> sampler({}, particles.ensemble(0));
  sampler.step(particles, posterior, data.batch);
  // LibTorch's momentum of 0.1: a tenth of the way from 0 to the mean of the first layer over the batch.
  for (std::int64_t m = 0; m < 2; ++m) {
    const at::Tensor weight = entry_view(particles.values(), particles.layout().at("0.weight"))[m];
    const at::Tensor bias = entry_view(particles.values(), particles.layout().at("0.bias"))[m][0];
    const at::Tensor mean = (tensor_view(data.batch.inputs.dense).matmul(weight.t()) + bias).mean(0);
    for (std::int64_t k = 0; k < 3; ++k)
      CHECK(particles.buffers()(m, k) == Approx(0.1 * mean[k].item<float>()).margin(1e-6));
  }
  CHECK(particles.buffers()(0, 0) != particles.buffers()(1, 0));
  CHECK(layers["1.running_mean"].equal(at::zeros({3})));

  Snapshot state, sampler_state;
  particles.save(state);
  sampler.save(sampler_state);
  Particles<float> again(particles.layout(), 2);
  Svgd<float> resumed({}, particles.ensemble(0));
  again.restore(state);
  resumed.restore(sampler_state);
  network->eval();  // from here on the running statistics are what normalises
  std::vector<float> outputs(2 * 5 * 2), other(outputs.size()), own(outputs.size());
  posterior.model().predict(particles.coordinates(), data.batch.inputs, {outputs.data(), 10, 2});
  posterior.model().predict(again.coordinates(), data.batch.inputs, {other.data(), 10, 2});
  posterior.model().predict({particles.values(), 0}, data.batch.inputs, {own.data(), 10, 2});
  CHECK(outputs == other);
  CHECK(outputs != own);
  network->train();
  sampler.step(particles, posterior, data.batch);
  resumed.step(again, posterior, data.batch);
  CHECK(std::ranges::equal(particles.buffers().row(1), again.buffers().row(1)));
}

TEST_CASE("a module has a spike-and-slab prior on the layers that are named, the same as the perceptron's",
          "[inference][module][sparse]") {
  // The module keeps its matrices [outputs, inputs]: the same weights in another order.
  std::vector<float> x(12 * 4), classes(12);
  fill_normal(std::span<float>(x), {.seed = 1}, 0);
  for (int i = 0; i < 12; ++i) classes[i] = static_cast<float>(i % 2);
  const Batch<float> batch{
      .inputs = {.dense = {x.data(), 12, 4}}, .targets = {classes.data(), 12, 1}, .rows = 12, .data_size = 40};
  torch::nn::Sequential network = two_layers();
  auto module = std::make_unique<ModuleModel>(
      network.ptr(), ModuleFunctions{.log_likelihood = [network](const Batch<float>& rows) mutable {
        const at::Tensor logits = network->forward(tensor_view(rows.inputs.dense));
        return logits.log_softmax(1).gather(1, tensor_view(rows.targets).to(at::kLong)).sum();
      }});
  const SpikeAndSlabPosteriorOptions options{.sparse = {.rate = 100}};
  const RowRange rows{.first = 0, .count = 2};
  const auto [found, found_latents] =
      make_spike_and_slab_posterior<float>(options, std::move(module), {"0.weight"}, rows);
  const auto [expected, expected_latents] = make_spike_and_slab_posterior<float>(
      options,
      std::make_unique<ParticleMlpReference<float>>(MlpSpec{.inputs = 4,
                                                            .hidden = {3},
                                                            .outputs = 2,
                                                            .activation = Activation::tanh,
                                                            .likelihood = Likelihood::categorical}),
      {"layer0.weight"}, rows);
  Particles<float> mine = found->initial_particles(2, 3, 1), theirs(expected->layout(), 2);
  const char* pairs[][2] = {{"0.weight", "layer0.weight"},
                            {"0.bias", "layer0.bias"},
                            {"2.weight", "layer1.weight"},
                            {"2.bias", "layer1.bias"}};
  for (int i = 0; i < 2; ++i)
    for (const auto& [from, to] : pairs) {
      const bool bias = std::string_view(from).ends_with("bias");
      const at::Tensor value = tensor_view(mine.view(from, i));
      tensor_view(theirs.view(to, i)).copy_(bias ? value : value.t());
    }
  const SgldOptions ascent{.step = {.step_size = 1e-3}, .temperature = {.temperature = 0}};
  Sgld<float> sampler(ascent, mine.ensemble(1)), other(ascent, theirs.ensemble(1));
  for (int t = 0; t < 30; ++t) sampler.step(mine, *found, batch), other.step(theirs, *expected, batch);
  for (int i = 0; i < 2; ++i) {
    CHECK(found_latents->sigma(i) == Approx(expected_latents->sigma(i)).epsilon(1e-5));
    CHECK(found_latents->slab_share(i, 0) == Approx(expected_latents->slab_share(i, 0)).epsilon(1e-5));
    CHECK(found_latents->sigma(i) != 1);
    for (int in = 0; in < 4; ++in)
      for (int out = 0; out < 3; ++out)
        CHECK(found_latents->rho(i)[out * 4 + in] == Approx(expected_latents->rho(i)[in * 3 + out]).margin(1e-4));
  }
}

TEST_CASE("modules scored in several threads at once have the dropout of their own keys", "[inference][module]") {
  const Numbers data = random_numbers(3, 4, 2);
  struct Scored {
    torch::nn::Sequential network{torch::nn::Linear(4, 30), torch::nn::Dropout(0.5), torch::nn::Linear(30, 2)};
    ModuleModel model = gaussian_model(network, 2);
    std::vector<double> values{};
    void score(const Batch<float>& batch) {
      Particles<float> particles(model.layout(), 1);
      initialise_coordinates(particles, 5, 1.0);
      values.assign(200, 0);
      for (std::size_t t = 0; t < values.size(); ++t)
        model.log_likelihood(particles.coordinates(), batch, {.seed = 7, .step = t},
                             {.gradient = particles.gradients(), .value = std::span(values).subspan(t, 1)});
    }
  };
  Scored alone, first, second;
  alone.score(data.batch);
  std::thread other([&] { second.score(data.batch); });
  first.score(data.batch);
  other.join();
  CHECK(first.values == alone.values);
  CHECK(second.values == alone.values);
}

TEST_CASE("a product with the Hessian has the dropout of its own key", "[inference][module]") {
  torch::nn::Sequential network(torch::nn::Linear(4, 30), torch::nn::Tanh(), torch::nn::Dropout(0.5),
                                torch::nn::Linear(30, 2));
  ModuleModel model = gaussian_model(network, 2);
  Particles<float> particles(model.layout(), 1);
  initialise_coordinates(particles, 5, 1.0);
  const Numbers data = random_numbers(3, 4, 2);
  const auto product = [&](const NoiseKey& key, std::uint64_t seed) {
    torch::manual_seed(seed);
    Matrix<float> found(1, particles.size());
    model.hessian_product(particles.coordinates(), data.batch, key, std::as_const(particles).values(), found.view());
    return std::vector<float>(found.row(0).begin(), found.row(0).end());
  };
  CHECK(product({.seed = 7}, 1) == product({.seed = 7}, 2));
  CHECK(product({.seed = 7}, 1) != product({.seed = 8}, 1));
}

TEST_CASE("a module that trains fewer parameters than when the model was made is refused", "[inference][module]") {
  torch::nn::Sequential network = two_layers();
  ModuleModel model = gaussian_model(network, 2);
  Particles<float> particles(model.layout(), 1);
  network->named_parameters()["2.bias"].set_requires_grad(false);
  const Numbers data = random_numbers(3, 4, 2);
  CHECK_THROWS_WITH(model.log_likelihood(particles.coordinates(), data.batch, {}, {.gradient = particles.gradients()}),
                    "module: its parameters changed since the model was made");
}

TEST_CASE("a module that cannot be sampled is refused in a sentence", "[inference][module]") {
  const auto refused = [](torch::nn::Sequential network) { gaussian_model(network, 2); };
  torch::nn::Sequential doubles = two_layers();
  doubles->to(torch::kFloat64);
  CHECK_THROWS_WITH(refused(doubles), "module: parameter '0.weight' must be float32, it is Double");
  CHECK_THROWS_WITH(refused(torch::nn::Sequential(torch::nn::Tanh())), "module: no parameter is trainable");
  torch::nn::Sequential halves = two_layers();
  halves->to(torch::kHalf);
  CHECK_THROWS_WITH(refused(halves), "module: parameter '0.weight' must be float32, it is Half");
  torch::nn::Sequential wide_buffers(torch::nn::Linear(4, 3), torch::nn::BatchNorm1d(3));
  wide_buffers->named_buffers()["1.running_var"].set_data(at::ones({3}, at::kDouble));
  CHECK_THROWS_WITH(refused(wide_buffers), "module: buffer '1.running_var' must be float32, it is Double");

  torch::nn::Sequential network = two_layers();
  Particles<float> particles(gaussian_model(network, 2).layout(), 1);
  const Numbers data = random_numbers(3, 4, 2);
  ModuleModel vector(network.ptr(), {.log_likelihood = [&](const Batch<float>& batch) {
                       return network->forward(tensor_view(batch.inputs.dense)).sum(1);
                     }});
  CHECK_THROWS_WITH(vector.log_likelihood(particles.coordinates(), data.batch, {}, {.gradient = particles.gradients()}),
                    "module: the log-likelihood must be one number that depends on the parameters");
  ModuleModel mover(network.ptr(), {.log_likelihood = [&](const Batch<float>& batch) {
                      network->zero_grad();
                      return unit_gaussian(network->forward(tensor_view(batch.inputs.dense)), batch);
                    }});
  CHECK_THROWS_WITH(mover.log_likelihood(particles.coordinates(), data.batch, {}, {.gradient = particles.gradients()}),
                    "module: parameter '0.weight' or its gradient was moved to other memory while it was scored");
}

TEST_CASE("a value alone is one forward pass and none backward", "[inference][module]") {
  torch::nn::Linear line(3, 1);
  const Numbers data = random_numbers(4, 3, 1);
  int forward = 0, backward = 0;
  ModuleModel model(line.ptr(), {.log_likelihood =
                                     [&](const Batch<float>& batch) {
                                       ++forward;
                                       const at::Tensor sum = line->forward(tensor_view(batch.inputs.dense)).sum();
                                       if (sum.requires_grad())
                                         sum.register_hook([&](const at::Tensor&) { ++backward; });
                                       return sum;
                                     },
                                 .draws_numbers = false});
  const std::vector<float> weights(2 * 4, 0.5F);
  std::vector<float> gradient(2 * 4);
  std::vector<double> value(2);
  const ParticleRows<const float> rows{{weights.data(), 2, 4}};
  model.log_likelihood(rows, data.batch, {}, {.value = value});
  CHECK(forward == 2);
  CHECK(backward == 0);
  model.log_likelihood(rows, data.batch, {}, {.gradient = {gradient.data(), 2, 4}, .value = value});
  CHECK(forward == 4);
  CHECK(backward == 2);
}

TEST_CASE("an LSTM carries its state from chunk to chunk as through one pass", "[inference][module][carried]") {
  constexpr std::int64_t sequences = 2, length = 12, hidden = 3;
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(1, hidden).batch_first(true));
  torch::nn::Linear head(hidden, 1);
  torch::nn::ModuleDict network;
  network->update({{"lstm", lstm.ptr()}, {"head", head.ptr()}});
  auto states = [lstm](const Inputs<float>& inputs) mutable {
    const CarriedRows<float>& carried = inputs.carried;
    at::Tensor start = at::zeros({2, 1, inputs.rows(), hidden});
    if (!carried.empty()) start = tensor_view(carried.before).reshape(start.sizes()).clone();
    const auto [outputs, last] =
        lstm->forward(tensor_view(inputs.dense).unsqueeze(2), std::make_tuple(start[0], start[1]));
    if (carried.after.data != nullptr)
      tensor_view(carried.after)
          .copy_(at::stack({std::get<0>(last), std::get<1>(last)}).detach().reshape({1, carried.after.columns}));
    return outputs;
  };
  auto means = [states, head](const Inputs<float>& inputs) mutable {
    return head->forward(states(inputs)).reshape({-1, 1});
  };
  auto model = std::make_unique<ModuleModel>(
      network.ptr(),
      ModuleFunctions{
          .log_likelihood =
              [means](const Batch<float>& batch) mutable {
                return (means(batch.inputs) - tensor_view(batch.targets).reshape({-1, 1})).square().sum() / -2;
              },
          .outputs = means,
          .output_rows = [](const Inputs<float>& in) { return in.rows() * in.dense.columns; },
          .carried_size = [](const Inputs<float>& in) { return 2 * in.rows() * hidden; },
          .draws_numbers = false});
  auto direct = std::make_unique<Direct<float>>(model->layout());
  Posterior<float> posterior(std::move(model), std::move(direct), {});
  const Particles<float> particles = posterior.initial_particles(2, 5, 1);
  const Numbers data = random_numbers(sequences, length, length);
  const auto part = [&](std::int64_t first, std::int64_t count) {
    return Batch<float>{.inputs = {.dense = {data.batch.inputs.dense.data + first, sequences, count, length}},
                        .targets = {data.batch.targets.data + first, sequences, count, length},
                        .rows = sequences,
                        .size = sequences * count,
                        .data_size = static_cast<double>(sequences * count),
                        .unit = DataUnit::tokens};
  };
  std::vector<double> whole(2), value(2), sum(2);
  posterior.evaluate(particles.coordinates(), part(0, length), {}, {.value = whole});
  CarriedState<float> state(2, 2 * sequences * hidden);
  for (std::int64_t first = 0; first < length; first += 4) {
    Batch<float> batch = part(first, 4);
    batch.inputs.carried = state.rows();
    Particles<float> at = particles;
    posterior.evaluate(at.coordinates(), batch, {}, {.gradient = at.gradients(), .value = value});
    posterior.adapt(at.coordinates(), batch, {}, at.buffers());
    for (std::size_t i = 0; i < 2; ++i) sum[i] += value[i];
  }
  for (std::size_t i = 0; i < 2; ++i) CHECK(sum[i] == Approx(whole[i]).epsilon(1e-5));

  // Predictions in pieces, from a state of the wrong shape not at all.
  Predictive long_one(Likelihood::gaussian, sequences * length, 1), piece(Likelihood::gaussian, sequences * 6, 1);
  add_predictions(long_one, posterior, particles.coordinates(), part(0, length).inputs, {});
  state.reset();
  for (std::int64_t first = 0; first < length; first += 6) {
    Inputs<float> inputs = part(first, 6).inputs;
    inputs.carried = state.rows();
    piece = Predictive(Likelihood::gaussian, sequences * 6, 1);
    add_predictions(piece, posterior, particles.coordinates(), inputs, {});
    inputs.carried.accept();
    for (std::int64_t r = 0; r < sequences; ++r)
      for (std::int64_t t = 0; t < 6; ++t)
        CHECK(piece.mean()(r * 6 + t, 0) == Approx(long_one.mean()(r * length + first + t, 0)).margin(1e-5));
  }
  // Both particles in one call have what each has alone.
  Model<float>& network_model = posterior.model();
  CarriedState<float> both(2, 2 * sequences * hidden), alone(1, 2 * sequences * hidden);
  for (std::int64_t i = 0; i < 2; ++i)
    fill_normal(both.rows().before.row(i), {.seed = 8}, static_cast<std::uint32_t>(i));
  std::ranges::copy(both.rows().before.row(1), alone.rows().before.row(0).begin());
  Inputs<float> inputs = part(0, 6).inputs;
  std::vector<float> together(2 * sequences * 6), apart(sequences * 6);
  inputs.carried = both.rows();
  network_model.predict(particles.coordinates(), inputs, {together.data(), 2 * sequences * 6, 1});
  inputs.carried = alone.rows();
  network_model.predict(particles.coordinates().block(1, 1), inputs, {apart.data(), sequences * 6, 1});
  CHECK(std::ranges::equal(apart, std::span(together).subspan(sequences * 6)));
  CHECK(std::ranges::equal(alone.rows().after.row(0), both.rows().after.row(1)));

  // A product with the Hessian looks at the batch once more; the state that an evaluation left stays.
  Batch<float> batch = part(0, 4);
  batch.inputs.carried = both.rows();
  for (std::int64_t i = 0; i < 2; ++i) std::ranges::fill(both.rows().after.row(i), 7.0F);
  Matrix<float> product(2, particles.size());
  network_model.hessian_product(particles.coordinates(), batch, {}, particles.values(), product.view());
  for (std::int64_t i = 0; i < 2; ++i)
    for (const float number : both.rows().after.row(i)) CHECK(number == 7);

  // A function that forgets what comes after is told so.
  CarriedState<float> one(1, 2);
  Batch<float> forgetful = data.batch;
  forgetful.inputs.carried = one.rows();
  torch::nn::Linear line(length, 1);
  ModuleModel forgets(
      line.ptr(),
      {.log_likelihood =
           [line](const Batch<float>& seen) mutable {
             seen.inputs.carried.after(0, 0) = 1;  // one of two
             return line->forward(tensor_view(seen.inputs.dense)).sum();
           },
       .outputs = [line](const Inputs<float>& seen) mutable { return line->forward(tensor_view(seen.dense)); },
       .carried_size = [](const Inputs<float>&) { return 2; },
       .draws_numbers = false});
  const std::vector<float> weights(length + 1);
  std::vector<double> score(1);
  CHECK_THROWS_WITH(forgets.log_likelihood({{weights.data(), 1, length + 1}}, forgetful, {}, {.value = score}),
                    Catch::Contains("has not written all 2 numbers"));
  std::vector<float> answers(sequences);
  CHECK_THROWS_WITH(
      forgets.predict({{weights.data(), 1, length + 1}}, forgetful.inputs, {answers.data(), sequences, 1}),
      Catch::Contains("has not written all 2 numbers"));

  CarriedState<float> narrow(2, hidden);
  inputs.carried = narrow.rows();
  CHECK_THROWS_WITH(add_predictions(piece, posterior, particles.coordinates(), inputs, {}),
                    Catch::Contains("expected [2, 12]"));
}
