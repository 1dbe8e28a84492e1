#include <stein/inference/fused/vector_arithmetic.h>
#include <stein/inference/model.h>
#include <stein/inference/storage/matrix.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein::inference {
namespace {

/// Of a model that makes nothing of its weights beforehand.
template <class Scalar>
class PlainPredictor final : public Predictor<Scalar> {
 public:
  PlainPredictor(Model<Scalar>& model, const ParticleRows<const Scalar>& weights) : model_(model), weights_(weights) {}

  void predict(const Inputs<Scalar>& inputs, MatrixView<Scalar> outputs) override {
    model_.predict(weights_, inputs, outputs);
  }

 private:
  Model<Scalar>& model_;
  ParticleRows<const Scalar> weights_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<Predictor<Scalar>> Model<Scalar>::predictor(const ParticleRows<const Scalar>& weights) {
  return std::make_unique<PlainPredictor<Scalar>>(*this, weights);
}

template <class Scalar>
void Model<Scalar>::hessian_product(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                                    const NoiseKey& noise, MatrixView<const Scalar> vectors,
                                    MatrixView<Scalar> product) {
  const std::int64_t rows = vectors.rows, size = vectors.columns;
  Matrix<Scalar> moved_rows(rows, size), gradients_behind(rows, size);
  const MatrixView<Scalar> moved = moved_rows.view(), behind = gradients_behind.view();
  Batch<Scalar> unmoved = batch;
  unmoved.inputs.carried.after = {};  // what comes after is that of the weights themselves, not of those beside them
  std::vector<Scalar> step(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    // Relative to the root mean square of the weights, or to 1 where that is less: the step that balances truncation
    // and rounding.
    const double length = std::sqrt(sum_of_squares(vectors.row(i)));
    const double scale = std::max(1.0, std::sqrt(sum_of_squares(weights.values.row(i)) / static_cast<double>(size)));
    step[i] = length == 0 ? Scalar{0}
                          : static_cast<Scalar>(std::cbrt(double{std::numeric_limits<Scalar>::epsilon()}) * scale *
                                                std::sqrt(static_cast<double>(size)) / length);
  }
  const auto gradient_at = [&](Scalar sign, MatrixView<Scalar> gradient) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < size; ++j) moved(i, j) = weights.values(i, j) + sign * step[i] * vectors(i, j);
    log_likelihood({moved, weights.first_row, weights.buffers}, unmoved, noise, {.gradient = gradient});
  };
  gradient_at(-1, behind);
  gradient_at(+1, product);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < size; ++j)
      product(i, j) = step[i] == 0 ? Scalar{0} : (product(i, j) - behind(i, j)) / (2 * step[i]);
}

template class Model<float>;
template class Model<double>;

}  // namespace stein::inference
