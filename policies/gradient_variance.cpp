#include <stein/policies/gradient_variance.h>

namespace stein::policies {
namespace {

/// An output itself as its score: its gradient is that of the output.
class Output final : public inference::OutputScore<float> {
 public:
  explicit Output(std::int64_t output) : output_(output) {}
  double score(std::int64_t, std::int64_t, inference::MatrixView<const float> outputs, std::span<const float>,
               inference::MatrixView<float> gradient, std::span<float>) const override {
    gradient(0, output_) = 1;
    return outputs(0, output_);
  }

 private:
  std::int64_t output_;
};

}  // namespace

GradientVariance::GradientVariance(std::int64_t weights, double precision, std::int64_t width)
    : precision_(precision),
      share_(1 / static_cast<double>(width)),
      diagonal_(static_cast<std::size_t>(weights), precision),
      gradient_(1, weights) {}

double GradientVariance::of(inference::Model<float>& model, std::span<const float> weights,
                            const inference::Inputs<float>& inputs, std::int64_t row, std::int64_t output) {
  const Output score(output);
  inference::Batch<float> batch;
  if (inputs.one_hot())
    batch.inputs.ones = inputs.ones.block(row, 1);
  else
    batch.inputs.dense = inputs.dense.block(row, 1);
  batch.rows = 1;
  batch.data_size = 1;
  batch.score = &score;
  model.log_likelihood({{weights.data(), 1, std::ssize(weights)}, 0}, batch, {}, {.gradient = gradient_.view()});
  double sum = 0;
  const std::span<const float> gradient = std::as_const(gradient_).row(0);
  for (std::size_t q = 0; q < gradient.size(); ++q) sum += double{gradient[q]} * double{gradient[q]} / diagonal_[q];
  return precision_ * share_ * sum;
}

void GradientVariance::observe(double weight) {
  const std::span<const float> gradient = std::as_const(gradient_).row(0);
  for (std::size_t q = 0; q < gradient.size(); ++q)
    diagonal_[q] += weight * share_ * double{gradient[q]} * double{gradient[q]};
}

}  // namespace stein::policies
