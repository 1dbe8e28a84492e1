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

PosteriorParts posterior_parts(const inference::KernelWeights& weights, MatrixView<const float> positions,
                               MatrixView<const float> gradients, MatrixView<const float> priors) {
  PosteriorParts parts;
  const std::int64_t m = positions.rows;
  for (std::int64_t i = 0; i < m; ++i) {
    double drive = 0, prior = 0, repulsion = 0;
    for (std::int64_t q = 0; q < positions.columns; ++q) {
      double driven = 0, drawn = 0, pushed = weights.own[static_cast<std::size_t>(i)] * double{positions(i, q)};
      for (std::int64_t j = 0; j < m; ++j) {
        const auto at = static_cast<std::size_t>(i * m + j);
        const double a = weights.gradient[at], x = positions(j, q);
        drawn += a * double{priors(j, q)};
        driven += a * (double{gradients(j, q)} - double{priors(j, q)});
        pushed += (a * weights.shift + (weights.position.empty() ? 0 : weights.position[at])) * x;
      }
      drive += driven * driven, prior += drawn * drawn, repulsion += pushed * pushed;
    }
    const auto share = 1 / static_cast<double>(m);
    parts.drive += share * std::sqrt(drive);
    parts.prior += share * std::sqrt(prior);
    parts.repulsion += share * std::sqrt(repulsion);
  }
  return parts;
}

PosteriorParts posterior_parts(MatrixView<const float> gradients, MatrixView<const float> priors,
                               MatrixView<const float> repulsions) {
  PosteriorParts parts;
  const auto share = 1 / static_cast<double>(gradients.rows);
  for (std::int64_t i = 0; i < gradients.rows; ++i) {
    double drive = 0, prior = 0, repulsion = 0;
    for (std::int64_t q = 0; q < gradients.columns; ++q) {
      const double drawn = priors(i, q), pushed = repulsions(i, q), driven = double{gradients(i, q)} - drawn - pushed;
      drive += driven * driven, prior += drawn * drawn, repulsion += pushed * pushed;
    }
    parts.drive += share * std::sqrt(drive);
    parts.prior += share * std::sqrt(prior);
    parts.repulsion += share * std::sqrt(repulsion);
  }
  return parts;
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
