#include <stein/inference/fused/svgd_pass.h>
#include <stein/inference/optimizer.h>
#include <stein/inference/svgd_pass.h>
#include <stein/inference/vector_arithmetic.h>

#include <cmath>

namespace stein::inference {

template <class Scalar>
void update_coordinate(OptimizerMethod method, const OptimizerStep& step, Scalar direction, Scalar& value, Scalar& mean,
                       Scalar& square) {
  const auto h = static_cast<Scalar>(step.step_size), mu = static_cast<Scalar>(step.momentum);
  const auto beta = static_cast<Scalar>(step.square_decay), epsilon = static_cast<Scalar>(step.epsilon);
  switch (method) {
    case OptimizerMethod::sgd:
      mean = mu * mean + direction;
      value += h * mean;
      return;
    case OptimizerMethod::rmsprop:
      square = beta * square + (1 - beta) * direction * direction;
      value += h * direction / (std::sqrt(square) + epsilon);
      return;
    case OptimizerMethod::adam:
      mean = mu * mean + (1 - mu) * direction;
      square = beta * square + (1 - beta) * direction * direction;
      value += h * mean / (std::sqrt(square) * static_cast<Scalar>(step.square_correction) + epsilon);
      return;
  }
}

template <class Scalar>
OptimizerState<Scalar>::OptimizerState(const OptimizerOptions& options, std::int64_t rows, std::int64_t size)
    : options_(options), rows_(rows), size_(size), stride_((size + 15) / 16 * 16) {
  if (options.method != OptimizerMethod::rmsprop)
    mean_ = AlignedBuffer<Scalar>(static_cast<std::size_t>(rows * stride_));
  if (options.method != OptimizerMethod::sgd) square_ = AlignedBuffer<Scalar>(static_cast<std::size_t>(rows * stride_));
}

template <class Scalar>
OptimizerStep OptimizerState<Scalar>::advance() {
  const double decay = options_.step_half_life > 0 ? 1 + static_cast<double>(updates_) / options_.step_half_life : 1;
  const double t = static_cast<double>(++updates_);
  const bool adam = options_.method == OptimizerMethod::adam;
  const double mean_correction = adam ? 1 / (1 - std::pow(options_.momentum, t)) : 1;
  const double square_correction = adam ? 1 / std::sqrt(1 - std::pow(options_.square_decay, t)) : 1;
  return {.step_size = options_.step_size / decay * mean_correction,
          .momentum = options_.momentum,
          .square_decay = options_.square_decay,
          .square_correction = square_correction,
          .epsilon = options_.epsilon};
}

template <class Scalar>
void OptimizerState<Scalar>::save(Snapshot& snapshot) const {
  snapshot.put("updates", updates_);
  const auto put = [&](const char* name, const AlignedBuffer<Scalar>& buffer) {
    if (buffer.size() > 0) snapshot.put(name, std::span<const Scalar>(buffer.data(), buffer.size()), {rows_, stride_});
  };
  put("mean", mean_);
  put("square", square_);
}

template <class Scalar>
void OptimizerState<Scalar>::restore(const Snapshot& snapshot) {
  updates_ = snapshot.get_scalar<std::int64_t>("updates");
  if (mean_.size() > 0) snapshot.get("mean", std::span<Scalar>(mean_.data(), mean_.size()));
  if (square_.size() > 0) snapshot.get("square", std::span<Scalar>(square_.data(), square_.size()));
}

template <class Scalar>
void clip_rows(MatrixView<Scalar> directions, double clip_norm) {
  if (clip_norm == 0) return;
  for (std::int64_t i = 0; i < directions.rows; ++i) {
    const double norm = std::sqrt(sum_of_squares(std::span<const Scalar>(directions.row(i))));
    if (norm <= clip_norm) continue;
    const Scalar scale = static_cast<Scalar>(clip_norm / norm);
    for (Scalar& value : directions.row(i)) value *= scale;
  }
}

template <class Scalar>
void check_finite(MatrixView<const Scalar> gradients, const Layout& layout, std::int64_t first_row, std::int64_t step) {
  for (std::int64_t i = 0; i < gradients.rows; ++i) {
    if (std::isfinite(sum_of_squares(gradients.row(i)))) continue;
    for (std::int64_t q = 0; q < gradients.columns; ++q)
      if (!std::isfinite(gradients(i, q)))
        fail(ErrorKind::numeric, "the gradient of {} of particle {} is {} at update {}", layout.describe_position(q),
             first_row + i, gradients(i, q), step);
  }
}

namespace {

void ascend(MatrixView<float> values, MatrixView<const float> directions, OptimizerState<float>& state) {
  fused::ascend(values, directions, state);
}

void ascend(MatrixView<double> values, MatrixView<const double> directions, OptimizerState<double>& state) {
  plain::ascend(values, directions, state);
}

}  // namespace

template <class Scalar>
Optimizer<Scalar>::Optimizer(const Options& options, std::int64_t rows, std::int64_t size, std::uint64_t seed)
    : state_(options, rows, size), seed_(seed) {}

template <class Scalar>
StepReport Optimizer<Scalar>::step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) {
  const NoiseKey noise{.seed = seed_, .step = static_cast<std::uint64_t>(state_.updates()), .stream = Stream::model};
  target.evaluate(particles.coordinates(), batch, noise, particles.gradients(), {});
  check_finite<Scalar>(particles.gradients(), particles.layout(), particles.first_row(), state_.updates());
  clip_rows(particles.gradients(), state_.options().clip_norm);
  ascend(particles.values(), MatrixView<const Scalar>(particles.gradients()), state_);
  return {};
}

template void update_coordinate(OptimizerMethod, const OptimizerStep&, float, float&, float&, float&);
template void update_coordinate(OptimizerMethod, const OptimizerStep&, double, double&, double&, double&);
template class OptimizerState<float>;
template class OptimizerState<double>;
template void clip_rows(MatrixView<float>, double);
template void clip_rows(MatrixView<double>, double);
template void check_finite(MatrixView<const float>, const Layout&, std::int64_t, std::int64_t);
template void check_finite(MatrixView<const double>, const Layout&, std::int64_t, std::int64_t);
template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace stein::inference
