#include <stein/inference/model.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/copy_rows.h>
#include <stein/inference/storage/matrix.h>
#include <stein/inference/weight_driver.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

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
  const Driver<Scalar>& loops = driver<Scalar>(Ensemble{.device = device()});
  Matrix<Scalar> moved_rows(rows, size, device()), gradients_behind(rows, size, device());
  const MatrixView<Scalar> moved = moved_rows.view(), behind = gradients_behind.view();
  Batch<Scalar> unmoved = batch;
  unmoved.inputs.carried.after = {};  // what comes after is that of the weights themselves, not of those beside them
  std::vector<Scalar> step(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    // Relative to the root mean square of the weights, or to 1 where that is less: the step that balances truncation
    // and rounding.
    const double length = std::sqrt(loops.sum_of_squares(vectors.row(i)));
    const double square = loops.sum_of_squares(weights.values.row(i));
    const double scale = std::max(1.0, std::sqrt(square / static_cast<double>(size)));
    step[i] = length == 0 ? Scalar{0}
                          : static_cast<Scalar>(std::cbrt(double{std::numeric_limits<Scalar>::epsilon()}) * scale *
                                                std::sqrt(static_cast<double>(size)) / length);
  }
  const auto gradient_at = [&](Scalar sign, MatrixView<Scalar> gradient) {
    copy_rows(weights.values, moved, device());
    for (std::int64_t i = 0; i < rows; ++i)
      loops.subtract_scaled(vectors.row(i), -sign * step[i], moved.row(i), nullptr);
    log_likelihood({moved, weights.first_row, weights.buffers}, unmoved, noise, {.gradient = gradient});
  };
  gradient_at(-1, behind);
  gradient_at(+1, product);
  const WeightDriver<Scalar>& weight_loops = weight_driver<Scalar>(device());
  for (std::int64_t i = 0; i < rows; ++i) {
    if (step[i] == 0) {
      weight_loops.fill(product.row(i), Scalar{0});
      continue;
    }
    loops.subtract_scaled(std::as_const(gradients_behind).row(i), Scalar{1}, product.row(i), nullptr);
    weight_loops.scale(product.row(i), 1 / (2 * step[i]));
  }
}

template class Model<float>;
template class Model<double>;

}  // namespace stein::inference
