#include <stein/inference/fused/svgd_pass.h>
#include <stein/inference/optimizer.h>
#include <stein/inference/sampler_registry.h>
#include <stein/inference/svgd_pass.h>
#include <stein/inference/vector_arithmetic.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {

template <class Scalar>
void update_coordinate(OptimizerMethod method, const OptimizerStep& step, Scalar direction, Scalar& value, Scalar& mean,
                       Scalar& square) {
  const auto h = static_cast<Scalar>(step.step_size), mu = static_cast<Scalar>(step.momentum);
  const auto beta = static_cast<Scalar>(step.square_decay), epsilon = static_cast<Scalar>(step.epsilon);
  switch (method) {
    case OptimizerMethod::sgd:
      mean = std::fma(mu, mean, direction);
      value = std::fma(h, mean, value);
      return;
    case OptimizerMethod::rmsprop:
      square = std::fma(beta, square, (1 - beta) * (direction * direction));
      value += h * direction / (std::sqrt(square) + epsilon);
      return;
    case OptimizerMethod::adam:
      mean = std::fma(mu, mean, (1 - mu) * direction);
      square = std::fma(beta, square, (1 - beta) * (direction * direction));
      value += h * mean / std::fma(std::sqrt(square), static_cast<Scalar>(step.square_correction), epsilon);
      return;
  }
}

template <class Scalar>
OptimizerState<Scalar>::OptimizerState(const OptimizerOptions& options, std::int64_t rows, std::int64_t size)
    : options_(checked(options)), rows_(rows), size_(size), stride_((size + 15) / 16 * 16) {
  STEIN_CHECK(rows >= 1 && rows <= 1'000'000 && size >= 1,
              "a sampler needs 1 to 1000000 particles of at least 1 coordinate, got {} of {}", rows, size);
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

namespace {

const bool registered = register_sampler<Optimizer<float>>(
    "optimizer", "momentum SGD, RMSprop or Adam: every particle climbs on its own, temperature 0");

/// The length of a vector of finite numbers, also where its square overflows.
template <class Scalar>
double norm(std::span<const Scalar> vector) {
  const double square = sum_of_squares(vector);
  if (std::isfinite(square)) return std::sqrt(square);
  double largest = 0, sum = 0;
  for (const Scalar value : vector) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (const Scalar value : vector) sum += std::pow(static_cast<double>(value) / largest, 2);
  return largest * std::sqrt(sum);
}

/// Throws Error(numeric) naming the first number that is not finite, if there is one: "the gradient of layer0.bias[3]
/// of particle 1 is nan at update 7".
template <class Scalar>
void check_finite(std::string_view what, MatrixView<const Scalar> rows, const Particles<Scalar>& particles,
                  std::int64_t update) {
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    if (std::isfinite(sum_of_squares(rows.row(i)))) continue;
    for (std::int64_t q = 0; q < rows.columns; ++q)
      if (!std::isfinite(rows(i, q)))
        fail(ErrorKind::numeric, "the {} of {} of particle {} is {} at update {}", what,
             particles.layout().describe_position(q), particles.first_row() + i, rows(i, q), update);
  }
}

}  // namespace

template <class Scalar>
void clip_rows(MatrixView<Scalar> directions, double clip_norm) {
  if (clip_norm == 0) return;
  for (std::int64_t i = 0; i < directions.rows; ++i) {
    const double length = norm(std::span<const Scalar>(directions.row(i)));
    if (length <= clip_norm) continue;
    for (Scalar& value : directions.row(i)) value = static_cast<Scalar>(value * (clip_norm / length));
  }
}

template <class Scalar>
StepReport GradientSampler<Scalar>::step(Particles<Scalar>& particles, Target<Scalar>& target,
                                         const Batch<Scalar>& batch) {
  STEIN_CHECK(particles.rows() == state_.rows() && particles.size() == state_.size(),
              "the sampler was made for {} particles of {} coordinates, got {} of {}", state_.rows(), state_.size(),
              particles.rows(), particles.size());
  const std::int64_t update = state_.updates();
  const NoiseKey noise{.seed = seed_, .step = static_cast<std::uint64_t>(update), .stream = Stream::model};
  target.evaluate(particles.coordinates(), batch, noise, particles.gradients(), {});
  check_finite<Scalar>("gradient", particles.gradients(), particles, update);
  clip_rows(particles.gradients(), state_.options().clip_norm);
  if (!move(particles)) check_finite<Scalar>("value", particles.values(), particles, update);
  target.adapt(particles.coordinates(), batch, noise, particles.buffers(), adaptation_weight(update));
  return {};
}

namespace {

bool ascend(MatrixView<float> values, MatrixView<const float> directions, OptimizerState<float>& state) {
  return fused::ascend(values, directions, state);
}

bool ascend(MatrixView<double> values, MatrixView<const double> directions, OptimizerState<double>& state) {
  return plain::ascend(values, directions, state);
}

}  // namespace

template <class Scalar>
bool Optimizer<Scalar>::move(Particles<Scalar>& particles) {
  return ascend(particles.values(), MatrixView<const Scalar>(particles.gradients()), this->state_);
}

template void update_coordinate(OptimizerMethod, const OptimizerStep&, float, float&, float&, float&);
template void update_coordinate(OptimizerMethod, const OptimizerStep&, double, double&, double&, double&);
template class OptimizerState<float>;
template class OptimizerState<double>;
template void clip_rows(MatrixView<float>, double);
template void clip_rows(MatrixView<double>, double);
template class GradientSampler<float>;
template class GradientSampler<double>;
template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace stein::inference
