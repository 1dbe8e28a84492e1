#include <stein/bench/torch/tensor_update.h>
#include <stein/torch/tensor_view.h>

#include <ATen/Functions.h>
#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;

/// The tensors that an update works on, over the vectors that both forms start from.
struct Tensors {
  UpdateVectors vectors;
  at::Tensor x, g, states[most_states], noise, scratch;

  Tensors(std::int64_t size, std::size_t count)
      : vectors(size, count),
        x(tensor_view(vectors.values())),
        g(tensor_view(vectors.gradients())),
        noise(at::empty_like(x)),
        scratch(at::empty_like(x)) {
    for (std::size_t k = 0; k < count; ++k) states[k] = tensor_view(vectors.state(k));
  }
};

template <class Move>
class TensorUpdate final : public ParameterUpdate {
 public:
  TensorUpdate(std::int64_t size, std::size_t states, Move move) : tensors_(size, states), move_(std::move(move)) {}
  void step() override {
    const c10::InferenceMode no_autograd;
    move_(tensors_);
  }
  MatrixView<const float> values() const override { return tensors_.vectors.values(); }

 private:
  Tensors tensors_;
  Move move_;
};

template <class Move>
std::unique_ptr<ParameterUpdate> make(std::int64_t size, std::size_t states, Move move) {
  return std::make_unique<TensorUpdate<Move>>(size, states, std::move(move));
}

/// v ← β v + (1 − β) g².
void average_square(at::Tensor& square, const at::Tensor& g, double decay) {
  square.mul_(decay).addcmul_(g, g, 1 - decay);
}

/// σ and ε of the draw are kept for the way back: nothing is made twice.
class TensorBackprop final : public ParameterUpdate {
 public:
  TensorBackprop(const BackpropNumbers& numbers, std::int64_t size, Noise noise)
      : numbers_(numbers),
        noise_(noise),
        coordinates_(2 * size, 0),
        drawn_(size, 0),
        mean_(half(coordinates_.values(), 0)),
        rho_(half(coordinates_.values(), 1)),
        deviation_(half(coordinates_.gradients(), 0)),
        slope_(half(coordinates_.gradients(), 1)),
        theta_(tensor_view(drawn_.values())),
        g_(tensor_view(drawn_.gradients())),
        epsilon_(at::empty_like(theta_)) {}

  void step() override {
    const c10::InferenceMode no_autograd;
    const double h = numbers_.step_size, lambda = numbers_.prior_precision;
    if (noise_ == Noise::own)
      epsilon_.normal_();
    else
      fill_normal(std::span<float>(epsilon_.data_ptr<float>(), static_cast<std::size_t>(epsilon_.numel())),
                  backprop_noise(updates_++), 0);
    at::softplus_out(deviation_, rho_);
    at::addcmul_out(theta_, mean_, deviation_, epsilon_);
    mean_.mul_(1 - h * lambda).add_(g_, h);
    at::sigmoid_out(slope_, rho_);
    epsilon_.mul_(g_).add_(deviation_, -lambda).add_(deviation_.reciprocal_());
    rho_.addcmul_(slope_, epsilon_, h);
  }
  MatrixView<const float> values() const override { return coordinates_.values(); }

 private:
  static at::Tensor half(MatrixView<float> row, std::int64_t which) {
    const std::int64_t size = row.columns / 2;
    return tensor_view(MatrixView<float>{row.data + which * size, 1, size});
  }

  BackpropNumbers numbers_;
  Noise noise_;
  UpdateVectors coordinates_, drawn_;
  at::Tensor mean_, rho_, deviation_, slope_, theta_, g_, epsilon_;
  std::uint64_t updates_ = 0;
};

}  // namespace

std::unique_ptr<ParameterUpdate> make_tensor_update(const OptimizerOptions& options, std::int64_t size) {
  const double h = options.step.step_size, mu = options.momentum, beta = options.square_decay;
  switch (options.method) {
    case OptimizerMethod::sgd:
      return make(size, 1, [=, first = true](Tensors& t) mutable {
        if (std::exchange(first, false)) t.states[0].zero_();
        t.states[0].mul_(mu).add_(t.g);
        t.x.add_(t.states[0], h);
      });
    case OptimizerMethod::rmsprop:
      return make(size, 1, [=, first = true](Tensors& t) mutable {
        if (std::exchange(first, false)) t.states[0].zero_();
        average_square(t.states[0], t.g, beta);
        at::sqrt_out(t.scratch, t.states[0]).add_(options.epsilon);
        t.x.addcdiv_(t.g, t.scratch, h);
      });
    case OptimizerMethod::adam: break;
  }
  return make(size, 2, [=, updates = 0.0](Tensors& t) mutable {
    if (updates++ == 0) t.states[0].zero_(), t.states[1].zero_();
    t.states[0].mul_(mu).add_(t.g, 1 - mu);
    average_square(t.states[1], t.g, beta);
    at::sqrt_out(t.scratch, t.states[1]).mul_(1 / std::sqrt(1 - std::pow(beta, updates))).add_(options.epsilon);
    t.x.addcdiv_(t.states[0], t.scratch, h / (1 - std::pow(mu, updates)));
  });
}

std::unique_ptr<ParameterUpdate> make_tensor_update(Dynamics dynamics, const DiffusionNumbers& n, std::int64_t size) {
  switch (dynamics) {
    case Dynamics::sgld:
      return make(size, 0, [=](Tensors& t) {
        t.noise.normal_();
        t.x.add_(t.g, n.drift).add_(t.noise, n.noise);
      });
    case Dynamics::psgld:
      return make(size, 1, [=](Tensors& t) {
        average_square(t.states[0], t.g, n.square_decay);
        at::sqrt_out(t.scratch, t.states[0]).add_(n.epsilon).reciprocal_();
        t.x.addcmul_(t.scratch, t.g, n.drift);
        t.x.addcmul_(t.scratch.sqrt_(), t.noise.normal_(), n.noise);
      });
    case Dynamics::sghmc:
      return make(size, 1, [=](Tensors& t) {
        t.noise.normal_();
        t.states[0].mul_(n.keep).add_(t.g, n.drift).add_(t.noise, n.noise);
        t.x.add_(t.states[0]);
      });
    case Dynamics::sgnht:
      return make(size, 2, [=](Tensors& t) {
        at::Tensor &r = t.states[0], &thermostat = t.states[1];
        t.noise.normal_();
        r.addcmul_(thermostat, r, -n.step).add_(t.g, n.step).add_(t.noise, n.noise);
        t.x.add_(r, n.step);
        thermostat.addcmul_(r, r, n.step).sub_(n.step * n.temperature);
      });
    case Dynamics::santa_splitting: break;
    default: fail(ErrorKind::usage, "there are no tensor operations for dynamics {}", static_cast<int>(dynamics));
  }
  // The metric of the last update is kept, not made anew.
  return make(size, 3, [=, metric = at::Tensor(), before = at::Tensor()](Tensors& t) mutable {
    at::Tensor &u = t.states[0], &square = t.states[1], &thermostat = t.states[2];
    const auto metric_of = [&](at::Tensor& to) { at::sqrt_out(to, square).add_(n.epsilon).rsqrt_(); };
    const auto drive = [&] { thermostat.addcmul_(u, u, 0.5).sub_(0.5 * n.temperature); };
    if (!metric.defined()) {
      metric = at::empty_like(t.x), before = at::empty_like(t.x);
      metric_of(metric);
    }
    t.x.addcmul_(metric, u, 0.5);
    std::swap(metric, before);
    average_square(square, t.g, n.square_decay);
    metric_of(metric);
    drive();
    at::mul_out(t.scratch, thermostat, at::scalar_tensor(-0.5f)).exp_();
    t.noise.normal_().mul_(before.sqrt_());
    u.mul_(t.scratch).addcmul_(metric, t.g, n.drift).add_(t.noise, n.noise).mul_(t.scratch);
    drive();
    t.x.addcmul_(metric, u, 0.5);
  });
}

std::unique_ptr<ParameterUpdate> make_tensor_update(const BackpropNumbers& numbers, std::int64_t size, Noise noise) {
  return std::make_unique<TensorBackprop>(numbers, size, noise);
}

}  // namespace stein::bench
