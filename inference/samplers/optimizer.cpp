#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/sampler_registry.h>

#include <cmath>

namespace stein::inference {

template <class Scalar>
OptimizerState<Scalar>::OptimizerState(const OptimizerOptions& options, const Ensemble& ensemble)
    : options_(checked(options)) {
  const Matrix<Scalar> averages(ensemble.rows.count, ensemble.size(), ensemble.device);
  const bool plain_sgd = options.method == OptimizerMethod::sgd && options.momentum == 0;
  if (options.method != OptimizerMethod::rmsprop && !plain_sgd) mean_ = averages;
  if (options.method != OptimizerMethod::sgd) square_ = averages;
}

template <class Scalar>
OptimizerStep OptimizerState<Scalar>::step(std::int64_t t, double step_size) const {
  const auto count = static_cast<double>(t + 1);
  const bool adam = options_.method == OptimizerMethod::adam;
  const double mean_correction = adam ? 1 / (1 - std::pow(options_.momentum, count)) : 1;
  const double square_correction = adam ? 1 / std::sqrt(1 - std::pow(options_.square_decay, count)) : 1;
  return {.step_size = step_size * mean_correction,
          .momentum = options_.momentum,
          .square_decay = options_.square_decay,
          .square_correction = square_correction,
          .epsilon = options_.epsilon};
}

template <class Scalar>
void OptimizerState<Scalar>::hold(const Driver<Scalar>& driver, std::int64_t i, std::span<const std::uint8_t> free) {
  if (!mean_.empty()) driver.hold(mean().row(i), free);
  if (!square_.empty()) driver.hold(square().row(i), free);
}

template <class Scalar>
void OptimizerState<Scalar>::save(Snapshot& snapshot) const {
  mean_.save(snapshot, "mean");
  square_.save(snapshot, "square");
}

template <class Scalar>
void OptimizerState<Scalar>::restore(const Snapshot& snapshot) {
  mean_.restore(snapshot, "mean");
  square_.restore(snapshot, "square");
}

namespace {

const bool registered = register_sampler<Optimizer<float>>(
    "optimizer", "momentum SGD, RMSprop or Adam: every particle climbs on its own, temperature 0");

}  // namespace

template <class Scalar>
Optimizer<Scalar>::Optimizer(const Options& options, const Ensemble& ensemble)
    : GradientSampler<Scalar>(Schedule(options.step), options.clip, ensemble), state_(options, ensemble) {}

template <class Scalar>
bool Optimizer<Scalar>::move(Particles<Scalar>& particles, const Batch<Scalar>&) {
  const std::int64_t t = this->steps();
  return this->driver().ascend(particles.values(), particles.gradients(), state_,
                               state_.step(t, this->schedule().step_size(t)), this->watch());
}

template <class Scalar>
void Optimizer<Scalar>::save(Snapshot& snapshot) const {
  GradientSampler<Scalar>::save(snapshot);
  state_.save(snapshot);
}

template <class Scalar>
void Optimizer<Scalar>::restore(const Snapshot& snapshot) {
  GradientSampler<Scalar>::restore(snapshot);
  state_.restore(snapshot);
}

template class OptimizerState<float>;
template class OptimizerState<double>;
template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace stein::inference
