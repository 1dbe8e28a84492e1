#include <stein/agents/control/learning_measures.h>

#include <algorithm>
#include <cmath>

namespace stein::agents {

using inference::MatrixView;

PolicyChange policy_change(std::span<const float> log_ratio, std::span<const float> advantages, double clip_ratio) {
  PolicyChange change;
  for (std::size_t i = 0; i < log_ratio.size(); ++i) {
    const double log_r = std::min(double{log_ratio[i]}, 20.0), r = std::exp(log_r), advantage = advantages[i];
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

/// The means over particles of the lengths of three vectors. @param part  (particle, coordinate) ↦ a number of each
template <class Part>
PosteriorParts mean_lengths(std::int64_t particles, std::int64_t coordinates, const Part& part) {
  PosteriorParts mean;
  const auto share = 1 / static_cast<double>(particles);
  for (std::int64_t i = 0; i < particles; ++i) {
    PosteriorParts squares;
    for (std::int64_t q = 0; q < coordinates; ++q) {
      const PosteriorParts here = part(i, q);
      squares.drive += here.drive * here.drive;
      squares.prior += here.prior * here.prior;
      squares.repulsion += here.repulsion * here.repulsion;
    }
    mean.drive += share * std::sqrt(squares.drive);
    mean.prior += share * std::sqrt(squares.prior);
    mean.repulsion += share * std::sqrt(squares.repulsion);
  }
  return mean;
}

}  // namespace

PosteriorParts posterior_parts(const inference::KernelWeights& weights, MatrixView<const float> positions,
                               MatrixView<const float> gradients, MatrixView<const float> priors) {
  const std::int64_t m = positions.rows;
  return mean_lengths(m, positions.columns, [&](std::int64_t i, std::int64_t q) {
    PosteriorParts here{.repulsion = weights.own[static_cast<std::size_t>(i)] * double{positions(i, q)}};
    for (std::int64_t j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(i * m + j);
      const double a = weights.gradient[at], x = positions(j, q);
      here.prior += a * double{priors(j, q)};
      here.drive += a * (double{gradients(j, q)} - double{priors(j, q)});
      here.repulsion += (a * weights.shift + (weights.position.empty() ? 0 : weights.position[at])) * x;
    }
    return here;
  });
}

PosteriorParts posterior_parts(MatrixView<const float> gradients, MatrixView<const float> priors,
                               MatrixView<const float> repulsions) {
  return mean_lengths(gradients.rows, gradients.columns, [&](std::int64_t i, std::int64_t q) {
    const double prior = priors(i, q), repulsion = repulsions(i, q);
    return PosteriorParts{.drive = double{gradients(i, q)} - prior - repulsion, .prior = prior, .repulsion = repulsion};
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
