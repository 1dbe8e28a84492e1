#include <stein/core/error.h>
#include <stein/inference/targets/function_space_score.h>

#include <cmath>

namespace stein::inference {
namespace {

float likelihood_slope(Likelihood likelihood, float output, float target) {
  return target - (likelihood == Likelihood::bernoulli ? 1 / (1 + std::exp(-output)) : output);
}

}  // namespace

void FunctionSpaceScore::prepare(const Batch<float>& batch, MatrixView<const float> predictions,
                                 Likelihood likelihood) {
  const std::int64_t n = batch.rows, particles = predictions.rows / n;
  STEIN_CHECK(std::ssize(batch.outputs) == n && particles * n == predictions.rows,
              "function-space score: expected a chosen output for each of {} rows and predictions of each particle", n);
  if (slopes_.rows() != particles || slopes_.columns() != n)
    functions_ = Matrix<float>(particles, n), likelihood_slopes_ = functions_, slopes_ = functions_;
  outputs_.assign(batch.outputs.begin(), batch.outputs.end());
  for (std::int64_t i = 0; i < particles; ++i)
    for (std::int64_t r = 0; r < n; ++r) {
      const float output = predictions(i * n + r, outputs_[static_cast<std::size_t>(r)]);
      const float target = batch.targets(batch.targets_per_particle ? i * n + r : r, 0);
      const std::int64_t weight = batch.weights_per_particle ? i * n + r : r;
      functions_.row(i)[r] = output;
      likelihood_slopes_.row(i)[r] =
          likelihood_slope(likelihood, output, target) * (batch.row_weights.empty() ? 1 : batch.row_weights[weight]);
    }
  kernel_.look_at(functions_.view());
  const KernelWeights& weights = kernel_.weights();
  const double to_minibatch = 1 / batch.likelihood_scale();
  for (std::int64_t i = 0; i < particles; ++i) {
    const std::span<float> slope = slopes_.row(i);
    for (std::int64_t r = 0; r < n; ++r)
      slope[r] = static_cast<float>(to_minibatch * weights.own[i]) * functions_.row(i)[r];
    for (std::int64_t j = 0; j < particles; ++j) {
      const auto climb = static_cast<float>(weights.gradient[i * particles + j]),
                 repel = static_cast<float>(to_minibatch * kernel_.push(i, j));
      for (std::int64_t r = 0; r < n; ++r)
        slope[r] += climb * likelihood_slopes_.row(j)[r] + repel * functions_.row(j)[r];
    }
  }
}

double FunctionSpaceScore::score(std::int64_t particle, std::int64_t first, MatrixView<const float> outputs,
                                 std::span<const float>, MatrixView<float> gradient, std::span<float>) const {
  for (std::int64_t r = 0; r < outputs.rows; ++r)
    gradient(r, outputs_[static_cast<std::size_t>(first + r)]) = slopes_.row(particle)[first + r];
  return 0;
}

}  // namespace stein::inference
