#include <stein/inference/samplers/diffusion_operations.h>
#include <stein/inference/samplers/diffusion_pass.h>

#include <algorithm>
#include <cmath>

namespace stein::inference::reference {
namespace {

/// Σ r² is added up as the SIMD form does: over blocks of columns, in sixteen running sums each.
constexpr std::int64_t block_columns = 4096, lanes = 16;

template <class Scalar, class Step>
double move_columns(const DiffusionStep<Scalar>& step, const Step& move, std::int64_t i, std::int64_t begin,
                    std::int64_t end, bool& finite) {
  Scalar sums[lanes] = {};
  [[maybe_unused]] const auto row = static_cast<std::uint32_t>(step.first_row + i);
  for (std::int64_t q = begin; q < end; ++q) {
    Coordinate<Scalar> c{.value = step.values(i, q), .gradient = step.gradients(i, q)};
    if constexpr (Step::noisy) c.normal = normal_at<Scalar>(step.noise, row, static_cast<std::uint64_t>(q));
    for (int k = 0; k < Step::states; ++k) c.state[k] = step.states[static_cast<std::size_t>(k)](i, q);
    if constexpr (Step::adds_up_momentum) c.thermostat = step.thermostats[static_cast<std::size_t>(i)];
    move(c);
    step.values(i, q) = c.value;
    if constexpr (Step::changes_states)
      for (int k = 0; k < Step::states; ++k) step.states[static_cast<std::size_t>(k)](i, q) = c.state[k];
    if constexpr (Step::adds_up_momentum) sums[q % lanes] = std::fma(c.state[0], c.state[0], sums[q % lanes]);
    finite = finite && std::isfinite(c.value);
  }
  double total = 0;
  for (const Scalar sum : sums) total += static_cast<double>(sum);
  return total;
}

}  // namespace

template <class Scalar>
void diffuse(const DiffusionStep<Scalar>& step, DiffusionResult& result) {
  const std::int64_t columns = step.values.columns;
  result.finite = true;
  with_step<NumberOperations<Scalar>>(step.dynamics, step.numbers, [&](const auto& move) {
    for (std::int64_t i = 0; i < step.values.rows; ++i) {
      double squares = 0;
      for (std::int64_t begin = 0; begin < columns; begin += block_columns)
        squares += move_columns(step, move, i, begin, std::min(begin + block_columns, columns), result.finite);
      if (!result.momentum_squares.empty()) result.momentum_squares[static_cast<std::size_t>(i)] = squares;
    }
  });
}

template void diffuse(const DiffusionStep<float>&, DiffusionResult&);
template void diffuse(const DiffusionStep<double>&, DiffusionResult&);

}  // namespace stein::inference::reference
