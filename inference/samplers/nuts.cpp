#include <stein/inference/samplers/nuts.h>
#include <stein/inference/samplers/sampler_registry.h>

#include <algorithm>

namespace stein::inference {
namespace {

const bool registered =
    register_sampler<Nuts<float>>("nuts", "the no-U-turn sampler on the full data, tuned in Stan's windows");

double log_sum(double a, double b) {
  const double high = std::max(a, b);
  return high == -INFINITY ? high : high + std::log(std::exp(a - high) + std::exp(b - high));
}

/// In four running sums, so that one addition need not wait for another.
template <class Vector>
double dot(const Vector& a, const Vector& b) {
  const std::size_t size = a.size();
  double sums[4] = {};
  std::size_t q = 0;
  for (; q + 4 <= size; q += 4)
    for (std::size_t k = 0; k < 4; ++k) sums[k] += static_cast<double>(a[q + k]) * static_cast<double>(b[q + k]);
  for (; q < size; ++q) sums[0] += static_cast<double>(a[q]) * static_cast<double>(b[q]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

template <class Scalar>
Nuts<Scalar>::Nuts(const Options& options, const Ensemble& ensemble)
    : HamiltonianSampler<Scalar>(options.trajectory, ensemble),
      max_depth_(checked(options).max_depth),
      spare_(static_cast<std::size_t>(options.max_depth), Piece(static_cast<std::size_t>(ensemble.size()))),
      tree_(static_cast<std::size_t>(ensemble.size())),
      extension_(static_cast<std::size_t>(ensemble.size())),
      walker_(ensemble.size()),
      forward_(ensemble.size()),
      backward_(ensemble.size()),
      sum_(static_cast<std::size_t>(ensemble.size())) {}

template <class Scalar>
Trajectory Nuts<Scalar>::move(const Hamiltonian<Scalar>& hamiltonian, double step_size, Draws& draws,
                              PhasePoint<Scalar>& point) {
  hamiltonian.draw_momentum(point, [&] { return draws.normal(); });
  hamiltonian_ = &hamiltonian, draws_ = &draws;
  start_ = hamiltonian.log_joint(point);
  acceptance_sum_ = 0;
  trajectory_ = {};
  forward_ = backward_ = point;

  tree_.begin.momentum = tree_.end.momentum = tree_.momentum_sum = point.momentum;
  for (std::size_t q = 0; q < sum_.size(); ++q)
    tree_.begin.velocity[q] = tree_.end.velocity[q] = hamiltonian.inverse_mass()[q] * point.momentum[q];
  tree_.position = point.position;
  tree_.gradient = point.gradient;
  tree_.log_density = point.log_density;
  tree_.log_weight = 0;

  bool forwards = true;  // the direction in which `tree_` has its ends
  for (std::int64_t depth = 0; depth < max_depth_; ++depth) {
    const bool wanted = draws.uniform() > 0.5;
    if (wanted != forwards) {
      std::swap(tree_.begin, tree_.end);
      forwards = wanted;
    }
    PhasePoint<Scalar>& frontier = forwards ? forward_ : backward_;
    signed_step_ = forwards ? step_size : -step_size;
    std::swap(walker_, frontier);
    const bool whole = build(depth, extension_);
    std::swap(walker_, frontier);
    if (!whole || !join(tree_, extension_, true)) break;
  }
  trajectory_.acceptance = acceptance_sum_ / static_cast<double>(trajectory_.gradients);
  trajectory_.accepted = tree_.position != point.position;
  point.position = tree_.position;
  point.gradient = tree_.gradient;
  point.log_density = tree_.log_density;
  return trajectory_;
}

template <class Scalar>
bool Nuts<Scalar>::build(std::int64_t depth, Piece& piece) {
  if (depth == 0) return walk_one_step(piece);
  Piece& second = spare_[static_cast<std::size_t>(depth - 1)];
  return build(depth - 1, piece) && build(depth - 1, second) && join(piece, second, false);
}

template <class Scalar>
bool Nuts<Scalar>::walk_one_step(Piece& piece) {
  hamiltonian_->leapfrog(walker_, signed_step_);
  ++trajectory_.gradients;
  const double gain = hamiltonian_->log_joint(walker_) - start_;
  acceptance_sum_ += std::min(1.0, std::exp(gain));
  trajectory_.divergent = trajectory_.divergent || !(gain > -1000);
  piece.begin.momentum = piece.end.momentum = piece.momentum_sum = walker_.momentum;
  for (std::size_t q = 0; q < sum_.size(); ++q)
    piece.begin.velocity[q] = piece.end.velocity[q] = hamiltonian_->inverse_mass()[q] * walker_.momentum[q];
  piece.position = walker_.position;
  piece.gradient = walker_.gradient;
  piece.log_density = walker_.log_density;
  piece.log_weight = gain;
  return !trajectory_.divergent;
}

template <class Scalar>
bool Nuts<Scalar>::join(Piece& first, Piece& second, bool biased) {
  const double together = log_sum(first.log_weight, second.log_weight);
  const double against = biased ? first.log_weight : together;
  if (draws_->uniform() < std::exp(second.log_weight - against)) {
    std::swap(first.position, second.position);
    std::swap(first.gradient, second.gradient);
    std::swap(first.log_density, second.log_density);
  }
  first.log_weight = together;

  // Momenta are those of forward time whichever way a piece was walked, so the criterion does not care.
  const auto goes_on = [](const End& from, const End& to, const Vector& sum) {
    return dot(from.velocity, sum) > 0 && dot(to.velocity, sum) > 0;
  };
  const auto plus = [&](const Vector& a, const Vector& b) -> const Vector& {
    for (std::size_t q = 0; q < sum_.size(); ++q) sum_[q] = a[q] + b[q];
    return sum_;
  };
  bool persists = goes_on(first.begin, second.begin, plus(first.momentum_sum, second.begin.momentum));
  persists = goes_on(first.end, second.end, plus(second.momentum_sum, first.end.momentum)) && persists;
  for (std::size_t q = 0; q < sum_.size(); ++q) first.momentum_sum[q] += second.momentum_sum[q];
  std::swap(first.end, second.end);
  return goes_on(first.begin, first.end, first.momentum_sum) && persists;
}

template class Nuts<float>;
template class Nuts<double>;

}  // namespace stein::inference
