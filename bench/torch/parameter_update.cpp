#include <stein/bench/sampler_case.h>
#include <stein/bench/torch/parameter_update.h>
#include <stein/bench/torch/tensor_update.h>
#include <stein/core/error.h>
#include <stein/inference/fused/diffusion_pass.h>
#include <stein/inference/fused/svgd_pass.h>
#include <stein/inference/fused/vector_arithmetic.h>
#include <stein/inference/parameterizations/mean_field_gaussian.h>

#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;

/// One particle of `size` coordinates.
Ensemble one_row(std::int64_t size) {
  Ensemble ensemble;
  ensemble.layout.add("weight", {size}, Role::weight);
  return ensemble;
}

/// As every sampler's step does before its pass.
void check_gradients(UpdateVectors& vectors) {
  if (!all_finite(vectors.gradients().row(0))) fail(ErrorKind::numeric, "benchmark sampler: a gradient is not finite");
}

/// Momentum SGD, RMSprop or Adam in one pass.
class FusedAscent final : public ParameterUpdate {
 public:
  FusedAscent(const OptimizerOptions& options, std::int64_t size)
      : vectors_(size, 0), state_(options, one_row(size)), step_size_(options.step.step_size) {}
  void step() override {
    check_gradients(vectors_);
    fused::ascend(vectors_.values(), vectors_.gradients(), state_, state_.step(updates_++, step_size_));
  }
  MatrixView<const float> values() const override { return vectors_.values(); }

 private:
  UpdateVectors vectors_;
  OptimizerState<float> state_;
  double step_size_;
  std::int64_t updates_ = 0;
};

/// A stochastic-gradient MCMC dynamics in one pass.
class FusedDiffusion final : public ParameterUpdate {
 public:
  FusedDiffusion(Dynamics dynamics, const DiffusionNumbers& numbers, std::int64_t size)
      : vectors_(size, state_count(dynamics)),
        step_{.dynamics = dynamics,
              .numbers = numbers,
              .values = vectors_.values(),
              .gradients = vectors_.gradients(),
              .noise = {.seed = 1, .stream = Stream::sampler}} {
    for (std::size_t k = 0; k < state_count(dynamics); ++k) step_.states[k] = vectors_.state(k);
  }
  void step() override {
    DiffusionResult result{};
    if (step_.dynamics == Dynamics::santa_splitting) {
      DiffusionStep<float> half = step_;
      half.dynamics = Dynamics::santa_half_move;
      fused::diffuse(half, result);
    }
    check_gradients(vectors_);
    fused::diffuse(step_, result);
    ++step_.noise.step;
  }
  MatrixView<const float> values() const override { return vectors_.values(); }

 private:
  UpdateVectors vectors_;
  DiffusionStep<float> step_;
};

/// Bayes by Backprop as the library composes it: draw, way back with the divergence in closed form, SGD.
class FusedBackprop final : public ParameterUpdate {
 public:
  FusedBackprop(const BackpropNumbers& numbers, std::int64_t size)
      : coordinates_(2 * size, 0),
        drawn_(size, 0),
        family_(weights_of(size), {}),
        trace_(family_.make_trace()),
        state_({.method = OptimizerMethod::sgd, .momentum = 0}, one_row(2 * size)),
        step_size_(numbers.step_size) {
    family_.include_gaussian_prior([&](const std::string&) { return numbers.prior_precision; });
  }
  void step() override {
    const NoiseKey noise = backprop_noise(static_cast<std::uint64_t>(updates_));
    const ParticleRows<const float> rows{coordinates_.values()};
    family_.forward(rows, noise, drawn_.values(), *trace_);
    family_.pullback(rows, noise, drawn_.gradients(), coordinates_.gradients(), *trace_);
    check_gradients(coordinates_);
    fused::ascend(coordinates_.values(), coordinates_.gradients(), state_, state_.step(updates_++, step_size_));
  }
  MatrixView<const float> values() const override { return coordinates_.values(); }

 private:
  static Layout weights_of(std::int64_t size) {
    Layout layout;
    layout.add("weight", {size}, Role::weight);
    return layout;
  }

  UpdateVectors coordinates_, drawn_;
  MeanFieldGaussian<float> family_;
  std::unique_ptr<ForwardTrace> trace_;
  OptimizerState<float> state_;
  double step_size_;
  std::int64_t updates_ = 0;
};

UpdateCase ascent(const std::string& name, OptimizerMethod method) {
  const OptimizerOptions options{.method = method, .step = {.step_size = 1e-3}};
  return {.name = name,
          .bytes = sampler_case(name).bytes,
          .fused = [=](std::int64_t size, Noise) { return std::make_unique<FusedAscent>(options, size); },
          .tensors = [=](std::int64_t size, Noise) { return make_tensor_update(options, size); }};
}

UpdateCase diffusion(const std::string& name, Dynamics dynamics, const DiffusionNumbers& numbers) {
  const auto with = [numbers](Noise noise) {
    DiffusionNumbers chosen = numbers;
    if (noise == Noise::comparable) chosen.noise = 0;
    return chosen;
  };
  return {.name = name,
          .bytes = sampler_case(name).bytes,
          .fused = [=](std::int64_t size,
                       Noise noise) { return std::make_unique<FusedDiffusion>(dynamics, with(noise), size); },
          .tensors = [=](std::int64_t size, Noise noise) { return make_tensor_update(dynamics, with(noise), size); }};
}

UpdateCase backprop(const std::string& name, double bytes, const BackpropNumbers& numbers) {
  return {.name = name,
          .bytes = bytes,
          .fused = [=](std::int64_t size, Noise) { return std::make_unique<FusedBackprop>(numbers, size); },
          .tensors = [=](std::int64_t size, Noise noise) { return make_tensor_update(numbers, size, noise); }};
}

}  // namespace

UpdateVectors::UpdateVectors(std::int64_t size, std::size_t states) : size_(size) {
  const auto filled = [size](std::uint64_t sheet) {
    AlignedBuffer<float> buffer(static_cast<std::size_t>(padded_columns(size)));
    fill_normal(std::span<float>(buffer.data(), static_cast<std::size_t>(size)), {.seed = 2, .step = sheet}, 0);
    return buffer;
  };
  values_ = filled(0);
  gradients_ = filled(1);
  for (std::size_t k = 0; k < states; ++k) {
    states_.push_back(filled(2 + k));
    // Positive, because an averaged square is, and not small, so that no update starts with a leap.
    for (std::int64_t q = 0; q < size; ++q)
      states_.back().data()[q] = static_cast<float>(1e-3 * (1 + std::abs(double{states_.back().data()[q]})));
  }
}

std::vector<UpdateCase> update_cases() {
  const double small = 1e-6, step = 1e-2;
  return {
      ascent("sgd-momentum", OptimizerMethod::sgd),
      ascent("rmsprop", OptimizerMethod::rmsprop),
      ascent("adam", OptimizerMethod::adam),
      diffusion("sgld", Dynamics::sgld, {.drift = small, .noise = std::sqrt(2 * small)}),
      diffusion("psgld", Dynamics::psgld,
                {.drift = small / 2, .noise = std::sqrt(small), .square_decay = 0.99, .epsilon = 1e-8}),
      diffusion("sghmc", Dynamics::sghmc, {.drift = small, .noise = std::sqrt(0.2 * small), .keep = 0.9}),
      diffusion("sgnht", Dynamics::sgnht, {.noise = std::sqrt(2 * step), .step = step, .temperature = 1}),
      diffusion(
          "santa", Dynamics::santa_splitting,
          {.drift = small, .noise = std::sqrt(2 * small), .temperature = small, .square_decay = 0.99, .epsilon = 1e-8}),
      backprop("bbb", 32, {.step_size = 1e-3, .prior_precision = 1})};
}

}  // namespace stein::bench
