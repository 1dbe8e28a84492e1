#include <stein/agents/control/learning_measures.h>
#include <stein/agents/control/surrogate.h>
#include <stein/core/parallel.h>

#include <algorithm>
#include <cmath>

namespace stein::agents {

using inference::MatrixView;

PolicyChange policy_change(std::span<const float> log_ratio, std::span<const float> advantages, double clip_ratio) {
  PolicyChange change;
  for (std::size_t i = 0; i < log_ratio.size(); ++i) {
    const double log_r = double{std::min(log_ratio[i], largest_log_ratio)}, r = std::exp(log_r),
                 advantage = advantages[i];
    change.approximate_kl += r - 1 - log_r;
    if (clip_ratio == 0) {
      change.surrogate += r * advantage;
      continue;
    }
    change.clip_share += std::abs(r - 1) > clip_ratio ? 1 : 0;
    change.surrogate += std::min(r * advantage, std::clamp(r, 1 - clip_ratio, 1 + clip_ratio) * advantage);
  }
  const auto rows = static_cast<double>(std::max<std::size_t>(1, log_ratio.size()));
  return {.approximate_kl = change.approximate_kl / rows,
          .clip_share = change.clip_share / rows,
          .surrogate = change.surrogate / rows};
}

namespace {

/// Three directions of a particle, [Q] each.
struct Directions {
  std::vector<double> drive, prior, repulsion;

  explicit Directions(std::int64_t coordinates)
      : drive(static_cast<std::size_t>(coordinates)), prior(drive.size()), repulsion(drive.size()) {}
};

double length(const std::vector<double>& direction) {
  double square = 0;
  for (const double number : direction) square += number * number;
  return std::sqrt(square);
}

/// The means over particles of the lengths of their directions, which `fill` is to leave for particle i.
template <class Fill>
PosteriorParts mean_lengths(std::int64_t particles, std::int64_t coordinates, const Fill& fill) {
  std::vector<PosteriorParts> lengths(static_cast<std::size_t>(particles));
  parallel_for(particles, [&](std::int64_t i) {
    Directions directions(coordinates);
    fill(i, directions);
    lengths[static_cast<std::size_t>(i)] = {.drive = length(directions.drive),
                                            .prior = length(directions.prior),
                                            .repulsion = length(directions.repulsion)};
  });
  PosteriorParts mean;
  const auto share = 1 / static_cast<double>(particles);
  for (const PosteriorParts& own : lengths) {
    mean.drive += share * own.drive;
    mean.prior += share * own.prior;
    mean.repulsion += share * own.repulsion;
  }
  return mean;
}

}  // namespace

PosteriorParts posterior_parts(const inference::KernelWeights& weights, MatrixView<const float> positions,
                               MatrixView<const float> gradients, MatrixView<const float> priors) {
  const std::int64_t m = positions.rows;
  return mean_lengths(m, positions.columns, [&](std::int64_t i, Directions& to) {
    const double own = weights.own[static_cast<std::size_t>(i)];
    for (std::size_t q = 0; q < to.drive.size(); ++q) to.repulsion[q] = own * double{positions.row(i)[q]};
    for (std::int64_t j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(i * m + j);
      const double a = weights.gradient[at];
      const double b = a * weights.shift + (weights.position.empty() ? 0 : weights.position[at]);
      const std::span<const float> position = positions.row(j), gradient = gradients.row(j), prior = priors.row(j);
      for (std::size_t q = 0; q < to.drive.size(); ++q) {
        to.prior[q] += a * double{prior[q]};
        to.drive[q] += a * (double{gradient[q]} - double{prior[q]});
        to.repulsion[q] += b * double{position[q]};
      }
    }
  });
}

PosteriorParts posterior_parts(MatrixView<const float> gradients, MatrixView<const float> priors,
                               MatrixView<const float> repulsions) {
  return mean_lengths(gradients.rows, gradients.columns, [&](std::int64_t i, Directions& to) {
    for (std::size_t q = 0; q < to.drive.size(); ++q) {
      to.prior[q] = priors.row(i)[q], to.repulsion[q] = repulsions.row(i)[q];
      to.drive[q] = double{gradients.row(i)[q]} - to.prior[q] - to.repulsion[q];
    }
  });
}

std::vector<std::pair<std::string, double>> LearningMeasures::tagged(bool clipped) const {
  std::vector<std::pair<std::string, double>> tags{
      {"entropy", entropy},
      {"approximate_kl", change.approximate_kl},
      {"explained_variance", explained_variance},
      {"policy_loss", -change.surrogate},
      {"value_loss", value_loss},
      {"gradient_norm", gradient_norm},
      {"step_size", step_size},
  };
  if (clipped) tags.emplace_back("clip_share", change.clip_share);
  if (deviation) tags.emplace_back("action_deviation", *deviation);
  if (effective_share) tags.emplace_back("effective_share", *effective_share);
  if (!parts) return tags;
  tags.emplace_back("drive_norm", parts->drive);
  tags.emplace_back("prior_norm", parts->prior);
  tags.emplace_back("repulsion_norm", parts->repulsion);
  return tags;
}

}  // namespace stein::agents
