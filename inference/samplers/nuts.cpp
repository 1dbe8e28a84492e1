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

/// Doubles a trajectory until it turns back.
template <class Scalar>
class NutsWalker final : public Walker<Scalar> {
 public:
  NutsWalker(std::int64_t max_depth, std::int64_t size)
      : max_depth_(max_depth),
        spare_(static_cast<std::size_t>(max_depth), Piece(static_cast<std::size_t>(size))),
        tree_(static_cast<std::size_t>(size)),
        extension_(static_cast<std::size_t>(size)),
        walker_(size),
        forward_(size),
        backward_(size),
        sum_(static_cast<std::size_t>(size)) {}

  Trajectory move(const Hamiltonian<Scalar>& hamiltonian, double step_size, Draws& draws,
                  PhasePoint<Scalar>& point) override;

 private:
  using Vector = std::vector<Scalar>;

  /// One end of a piece of trajectory: its momentum and its velocity M⁻¹ r.
  struct End {
    Vector momentum, velocity;
    explicit End(std::size_t size) : momentum(size), velocity(size) {}
  };
  /// A piece of trajectory: its ends in the order it was walked, the sum of its momenta, its weight and the position
  /// drawn from it.
  struct Piece {
    End begin, end;
    Vector momentum_sum, position, gradient;
    double log_density = 0, log_weight = 0;
    explicit Piece(std::size_t size) : begin(size), end(size), momentum_sum(size), position(size), gradient(size) {}
  };

  /// Walks 2^depth steps from `walker_` on into `piece`. False if it turned back or diverged: `piece` is then not to be
  /// used.
  bool build(std::int64_t depth, Piece& piece);
  bool walk_one_step(Piece& piece);
  /// Adds `second`, walked after `first`, to it. `biased` prefers the new piece. False if the whole turns back.
  bool join(Piece& first, Piece& second, bool biased);

  std::int64_t max_depth_;
  std::vector<Piece> spare_;  ///< the second half at every depth
  Piece tree_, extension_;
  PhasePoint<Scalar> walker_, forward_, backward_;
  Vector sum_;

  // Of the trajectory under way.
  const Hamiltonian<Scalar>* hamiltonian_ = nullptr;
  Draws* draws_ = nullptr;
  double signed_step_ = 0, start_ = 0, acceptance_sum_ = 0;
  Trajectory trajectory_;
};

template <class Scalar>
Trajectory NutsWalker<Scalar>::move(const Hamiltonian<Scalar>& hamiltonian, double step_size, Draws& draws,
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
bool NutsWalker<Scalar>::build(std::int64_t depth, Piece& piece) {
  if (depth == 0) return walk_one_step(piece);
  Piece& second = spare_[static_cast<std::size_t>(depth - 1)];
  return build(depth - 1, piece) && build(depth - 1, second) && join(piece, second, false);
}

template <class Scalar>
bool NutsWalker<Scalar>::walk_one_step(Piece& piece) {
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
bool NutsWalker<Scalar>::join(Piece& first, Piece& second, bool biased) {
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

}  // namespace

template <class Scalar>
Nuts<Scalar>::Nuts(const Options& options, const Ensemble& ensemble)
    : HamiltonianSampler<Scalar>(options.trajectory, ensemble), max_depth_(checked(options).max_depth) {}

template <class Scalar>
std::unique_ptr<Walker<Scalar>> Nuts<Scalar>::make_walker() const {
  return std::make_unique<NutsWalker<Scalar>>(max_depth_, this->size());
}

template class Nuts<float>;
template class Nuts<double>;

}  // namespace stein::inference
