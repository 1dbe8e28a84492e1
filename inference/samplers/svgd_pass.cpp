#include <stein/inference/samplers/svgd_pass.h>

#include <cmath>

namespace stein::inference::reference {

template <class Scalar>
void squared_distances(MatrixView<const Scalar> values, std::span<double> distances) {
  for (std::int64_t i = 0; i < values.rows; ++i) {
    distances[i * values.rows + i] = 0;
    for (std::int64_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::int64_t q = 0; q < values.columns; ++q) {
        const double difference = static_cast<double>(values(i, q)) - values(j, q);
        sum += difference * difference;
      }
      distances[i * values.rows + j] = distances[j * values.rows + i] = sum;
    }
  }
}

template <class Scalar>
void inner_products(MatrixView<const Scalar> values, std::span<double> products) {
  for (std::int64_t i = 0; i < values.rows; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::int64_t q = 0; q < values.columns; ++q) sum += static_cast<double>(values(i, q)) * values(j, q);
      products[i * values.rows + j] = products[j * values.rows + i] = sum;
    }
  }
}

/// Whether the value is finite after it.
template <class Scalar>
bool ascend_coordinate(OptimizerState<Scalar>& state, const OptimizerStep& step, std::int64_t i, std::int64_t q,
                       Scalar direction, Scalar& value) {
  Scalar unused{0};
  const MatrixView<Scalar> mean = state.mean(), square = state.square();
  update_coordinate(state.method(), step, direction, value, mean.data != nullptr ? mean(i, q) : unused,
                    square.data != nullptr ? square(i, q) : unused);
  return std::isfinite(value);
}

template <class Scalar>
bool stein_update(MatrixView<Scalar> values, MatrixView<const Scalar> gradients, const KernelWeights& weights,
                  OptimizerState<Scalar>& state, const OptimizerStep& step) {
  const std::int64_t rows = values.rows;
  std::vector<Scalar> direction(static_cast<std::size_t>(rows));
  bool finite = true;
  for (std::int64_t q = 0; q < values.columns; ++q) {
    for (std::int64_t i = 0; i < rows; ++i) {
      double sum = weights.own[i] * values(i, q);
      for (std::int64_t j = 0; j < rows; ++j) {
        sum += weights.gradient[i * rows + j] * (gradients(j, q) + weights.shift * values(j, q));
        if (!weights.position.empty()) sum += weights.position[i * rows + j] * values(j, q);
      }
      direction[i] = static_cast<Scalar>(sum);
    }
    for (std::int64_t i = 0; i < rows; ++i) finite &= ascend_coordinate(state, step, i, q, direction[i], values(i, q));
  }
  return finite;
}

template <class Scalar>
bool ascend(MatrixView<Scalar> values, MatrixView<const Scalar> directions, OptimizerState<Scalar>& state,
            const OptimizerStep& step) {
  bool finite = true;
  for (std::int64_t i = 0; i < values.rows; ++i)
    for (std::int64_t q = 0; q < values.columns; ++q)
      finite &= ascend_coordinate(state, step, i, q, directions(i, q), values(i, q));
  return finite;
}

template void squared_distances(MatrixView<const float>, std::span<double>);
template void squared_distances(MatrixView<const double>, std::span<double>);
template void inner_products(MatrixView<const float>, std::span<double>);
template void inner_products(MatrixView<const double>, std::span<double>);
template bool stein_update(MatrixView<float>, MatrixView<const float>, const KernelWeights&, OptimizerState<float>&,
                           const OptimizerStep&);
template bool stein_update(MatrixView<double>, MatrixView<const double>, const KernelWeights&, OptimizerState<double>&,
                           const OptimizerStep&);
template bool ascend(MatrixView<float>, MatrixView<const float>, OptimizerState<float>&, const OptimizerStep&);
template bool ascend(MatrixView<double>, MatrixView<const double>, OptimizerState<double>&, const OptimizerStep&);

}  // namespace stein::inference::reference
