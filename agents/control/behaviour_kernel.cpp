#include <stein/agents/control/behaviour_kernel.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>

#include <algorithm>
#include <cmath>

namespace stein::agents {

using inference::Matrix;
using inference::MatrixView;
using policies::ActionDistribution;

void PreparedSlopes::resize(std::int64_t particles, std::int64_t rows, std::int64_t outputs, std::int64_t constants) {
  if (outputs_.rows() != particles || outputs_.columns() != rows * outputs)
    outputs_ = Matrix<float>(particles, rows * outputs);
  outputs_.fill(0);
  constants_.assign(static_cast<std::size_t>(particles * constants), 0);
  rows_ = rows, columns_ = outputs, constant_count_ = constants;
}

double PreparedSlopes::score(std::int64_t particle, std::int64_t first, MatrixView<const float> outputs,
                             std::span<const float>, MatrixView<float> gradient,
                             std::span<float> constant_gradient) const {
  const MatrixView<const float> slopes(outputs_.row(particle).data(), rows_, columns_);
  for (std::int64_t row = 0; row < outputs.rows; ++row)
    std::ranges::copy(slopes.row(first + row), gradient.row(row).begin());
  if (first != 0) return 0;  // those by the constants are of all rows together
  for (std::size_t k = 0; k < constant_gradient.size(); ++k)
    constant_gradient[k] += constants_[static_cast<std::size_t>(particle * constant_count_) + k];
  return 0;
}

void BehaviourKernel::look_at(const policies::ControlPolicy& policy, MatrixView<const float> states,
                              std::span<const std::uint8_t> counts, const inference::OutputScore<float>& objective) {
  const ActionDistribution& distribution = policy.distribution();
  const std::int64_t m = policy.particle_count(), n = states.rows, k = distribution.outputs();
  STEIN_CHECK(std::ssize(counts) == n, "behaviour kernel: expected to be told of each of {} states, got {}", n,
              counts.size());
  for (PreparedSlopes* slopes : {&drive_, &repulsion_, &score_}) slopes->resize(m, n, k, distribution.constants());
  if (outputs_.rows() != m || outputs_.columns() != n * k) outputs_ = Matrix<float>(m, n * k);
  std::vector<ActionDistribution::Parameters> parameters(static_cast<std::size_t>(m));
  parallel_for(m, [&](std::int64_t i) {
    ActionDistribution::Parameters& own = parameters[static_cast<std::size_t>(i)];
    own = policy.parameters(i, states, {outputs_.row(i).data(), n, k});
    objective.score(i, 0, own.outputs, own.constants, drive_.outputs(i), drive_.constants(i));
  });
  place(distribution, parameters, counts);
  kernel_.look_at(behaviours_.view());
  parallel_for(m, [&](std::int64_t i) {
    repel(distribution, parameters[static_cast<std::size_t>(i)], i);
    climb(i);
  });
}

/// Behaviours as points around their mean, in which states that do not count are 0.
void BehaviourKernel::place(const ActionDistribution& distribution, std::span<const Parameters> parameters,
                            std::span<const std::uint8_t> counts) {
  const std::int64_t m = std::ssize(parameters), n = std::ssize(counts), size = distribution.behaviour_size();
  if (behaviours_.rows() != m || behaviours_.columns() != n * size) behaviours_ = Matrix<float>(m, n * size);
  scales_.resize(static_cast<std::size_t>(n * size));
  const MatrixView<float> scale(scales_.data(), n, size);
  distribution.behaviour_scale(parameters, scale);
  for (std::int64_t i = 0; i < m; ++i)
    distribution.behaviour(parameters[static_cast<std::size_t>(i)], scale, {behaviours_.row(i).data(), n, size});
  const auto states = std::ranges::count_if(counts, [](std::uint8_t c) { return c != 0; });
  share_ = states > 0 ? 1 / std::sqrt(static_cast<double>(states)) : 0;
  for (std::int64_t q = 0; q < n * size; ++q) {
    double mean = 0;
    for (std::int64_t i = 0; i < m; ++i) mean += double{behaviours_.view()(i, q)} / static_cast<double>(m);
    const double factor = counts[static_cast<std::size_t>(q / size)] != 0 ? share_ : 0;
    for (std::int64_t i = 0; i < m; ++i) {
      float& number = behaviours_.view()(i, q);
      number = static_cast<float>(factor * (double{number} - mean));
    }
  }
}

/// The gradient of the kernel, carried to the outputs of particle i.
void BehaviourKernel::repel(const ActionDistribution& distribution, const Parameters& own, std::int64_t i) {
  const std::int64_t m = behaviours_.rows(), size = distribution.behaviour_size(), n = behaviours_.columns() / size;
  thread_local std::vector<float> push;
  push.assign(static_cast<std::size_t>(n * size), 0);
  for (std::int64_t j = 0; j < m; ++j) {
    const double weight = kernel_.push(i, j) + (i == j ? kernel_.weights().own[static_cast<std::size_t>(i)] : 0);
    const auto factor = static_cast<float>(share_ * weight);
    const std::span<const float> behaviour = behaviours_.row(j);
    for (std::size_t q = 0; q < push.size(); ++q) push[q] += factor * behaviour[q];
  }
  distribution.behaviour_gradient(own, {scales_.data(), n, size}, {push.data(), n, size}, repulsion_.outputs(i),
                                  repulsion_.constants(i));
}

/// The repulsion of particle i, and the drives of all through the kernel.
void BehaviourKernel::climb(std::int64_t i) {
  const auto add = [](std::span<const float> from, double factor, std::span<float> to) {
    for (std::size_t q = 0; q < to.size(); ++q) to[q] += static_cast<float>(factor) * from[q];
  };
  add(repulsion_.all_outputs(i), 1, score_.all_outputs(i));
  add(repulsion_.constants(i), 1, score_.constants(i));
  const std::int64_t m = behaviours_.rows();
  for (std::int64_t j = 0; j < m; ++j) {
    const double weight = kernel_.weights().gradient[static_cast<std::size_t>(i * m + j)];
    add(drive_.all_outputs(j), weight, score_.all_outputs(i));
    add(drive_.constants(j), weight, score_.constants(i));
  }
}

}  // namespace stein::agents
