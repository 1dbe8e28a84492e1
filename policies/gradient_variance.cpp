#include <stein/policies/gradient_variance.h>

#include <algorithm>
#include <utility>

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

/// λ for every weight, on the device.
inference::Matrix<double> fresh_diagonal(std::int64_t weights, double precision, inference::Device device) {
  inference::Matrix<double> diagonal(1, weights);
  diagonal.fill(precision);
  return diagonal.to(device);
}

}  // namespace

GradientVariance::GradientVariance(const inference::Layout& layout, double precision, std::int64_t width,
                                   inference::Device device)
    : layout_(layout),
      precision_(precision),
      share_(1 / static_cast<double>(width)),
      driver_(inference::weight_driver<float>(device)),
      diagonal_(fresh_diagonal(layout.size(), precision, device)),
      gradient_(1, layout.size(), device) {}

double GradientVariance::of(inference::Model<float>& model, inference::MatrixView<const float> weights,
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
  model.log_likelihood({weights, 0}, batch, {}, {.gradient = gradient_.view()});
  return precision_ * share_ *
         driver_.sum_of_squares_over(std::as_const(gradient_).row(0), std::as_const(diagonal_).row(0));
}

void GradientVariance::observe(double weight) {
  driver_.add_squares(std::as_const(gradient_).row(0), weight * share_, diagonal_.row(0));
}

void GradientVariance::restore(const Snapshot& snapshot) {
  inference::Matrix<double> host(1, layout_.size());
  inference::restore_weights(snapshot, "diagonal", layout_, host);
  std::ranges::replace(host.row(0), 0.0, precision_);  // Z is at least λ: a 0 is padding
  diagonal_ = host.to(diagonal_.device());
}

}  // namespace stein::policies
