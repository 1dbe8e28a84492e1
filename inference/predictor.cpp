#include <stein/inference/fused/categorical_pass.h>
#include <stein/inference/predictor.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

void score(MatrixView<const float> logits, std::span<const float> classes, std::span<float> log_probability) {
  fused::log_probabilities(logits, classes, log_probability);
}

void score(MatrixView<const double> logits, std::span<const double> classes, std::span<double> log_probability) {
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const double most = *std::ranges::max_element(logits.row(i)), c = classes[static_cast<std::size_t>(i)];
    double sum = 0;
    for (const double logit : logits.row(i)) sum += std::exp(logit - most);
    log_probability[static_cast<std::size_t>(i)] =
        c < 0 ? 0 : logits(i, static_cast<std::int64_t>(c)) - most - std::log(sum);
  }
}

}  // namespace

template <class Scalar>
void Predictor<Scalar>::log_probabilities(const Inputs<Scalar>& inputs, std::span<const Scalar> classes,
                                          MatrixView<Scalar> outputs, std::span<Scalar> log_probability) {
  predict(inputs, outputs);
  score(MatrixView<const Scalar>(outputs), classes, log_probability);
}

template class Predictor<float>;
template class Predictor<double>;

}  // namespace stein::inference
