#include <stein/inference/samplers/svgd_pass.h>

#include <cmath>
#include <optional>
#include <vector>

namespace stein::inference::reference {
namespace {

/// The symmetric matrix of `term(i, j)`, j ≤ i, of which every rank makes some rows.
template <class Term>
void make_pairs(std::int64_t rows, std::span<double> matrix, distributed::Communicator& ranks, const Term& term) {
  const auto half = [&](std::int64_t i) { return matrix.subspan(static_cast<std::size_t>(i * rows), i + 1); };
  distributed::shared_for(
      ranks, rows,
      [&](std::int64_t i) {
        for (std::int64_t j = 0; j <= i; ++j) half(i)[j] = term(i, j);
      },
      half);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < i; ++j) matrix[j * rows + i] = matrix[i * rows + j];
}

}  // namespace

template <class Scalar>
void squared_distances(MatrixView<const Scalar> values, std::span<double> distances, distributed::Communicator& ranks) {
  make_pairs(values.rows, distances, ranks, [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t q = 0; q < values.columns; ++q) {
      const double difference = static_cast<double>(values(i, q)) - values(j, q);
      sum += difference * difference;
    }
    return sum;
  });
}

template <class Scalar>
void inner_products(MatrixView<const Scalar> values, std::span<double> products, distributed::Communicator& ranks) {
  make_pairs(values.rows, products, ranks, [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t q = 0; q < values.columns; ++q) sum += static_cast<double>(values(i, q)) * values(j, q);
    return sum;
  });
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
                  OptimizerState<Scalar>& state, const OptimizerStep& step,
                  std::optional<distributed::PartRange> moved) {
  const std::int64_t rows = values.rows;
  const auto [first, end] = moved.value_or(distributed::PartRange{0, rows});
  std::vector<Scalar> direction(static_cast<std::size_t>(rows));
  bool finite = true;
  for (std::int64_t q = 0; q < values.columns; ++q) {
    for (std::int64_t i = first; i < end; ++i) {
      double sum = weights.own[i] * values(i, q);
      for (std::int64_t j = 0; j < rows; ++j) {
        sum += weights.gradient[i * rows + j] * (gradients(j, q) + weights.shift * values(j, q));
        if (!weights.position.empty()) sum += weights.position[i * rows + j] * values(j, q);
      }
      direction[i] = static_cast<Scalar>(sum);
    }
    for (std::int64_t i = first; i < end; ++i)
      finite &= ascend_coordinate(state, step, i, q, direction[i], values(i, q));
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

template void squared_distances(MatrixView<const float>, std::span<double>, distributed::Communicator&);
template void squared_distances(MatrixView<const double>, std::span<double>, distributed::Communicator&);
template void inner_products(MatrixView<const float>, std::span<double>, distributed::Communicator&);
template void inner_products(MatrixView<const double>, std::span<double>, distributed::Communicator&);
template bool stein_update(MatrixView<float>, MatrixView<const float>, const KernelWeights&, OptimizerState<float>&,
                           const OptimizerStep&, std::optional<distributed::PartRange>);
template bool stein_update(MatrixView<double>, MatrixView<const double>, const KernelWeights&, OptimizerState<double>&,
                           const OptimizerStep&, std::optional<distributed::PartRange>);
template bool ascend(MatrixView<float>, MatrixView<const float>, OptimizerState<float>&, const OptimizerStep&);
template bool ascend(MatrixView<double>, MatrixView<const double>, OptimizerState<double>&, const OptimizerStep&);

}  // namespace stein::inference::reference
