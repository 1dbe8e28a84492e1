#include <stein/agents/control/shared_rollouts.h>
#include <stein/agents/control/surrogate.h>
#include <stein/core/parallel.h>
#include <stein/distributed/shared_work.h>

#include <algorithm>
#include <cmath>

namespace stein::agents {

using inference::MatrixView;

void SharedRollouts::take(const policies::ControlPolicy& policy, const ExperienceRows& all) {
  all_ = &all;
  particles_ = policy.particle_count();
  const std::int64_t m = particles_, count = m * all.rows, seen = policy.observation_size(),
                     act = policy.distribution().actions(), k = policy.distribution().outputs();
  density_.resize(static_cast<std::size_t>(m * count));
  std::vector<double> shares(static_cast<std::size_t>(m));
  const auto look_at = [&](std::int64_t i) {
    thread_local std::vector<float> outputs;
    outputs.resize(static_cast<std::size_t>(count * k));
    const auto parameters = policy.parameters(i, {all.observations.data(), count, seen}, {outputs.data(), count, k});
    policy.distribution().log_density(
        parameters, {all.actions.data(), count, act},
        std::span(density_).subspan(static_cast<std::size_t>(i * count), static_cast<std::size_t>(count)));
    double sum = 0, squares = 0, rows = 0;
    for (std::int64_t row = 0; row < count; ++row) {
      if (all.scale[static_cast<std::size_t>(row)] == 0) continue;
      const double w = weight(i, row);
      sum += w, squares += w * w, rows += 1;
    }
    shares[static_cast<std::size_t>(i)] = squares > 0 ? sum * sum / squares / rows : 0;
  };
  distributed::shared_for(*ranks_, m, look_at,
                          [&](std::int64_t i) { return std::span(shares).subspan(static_cast<std::size_t>(i), 1); });
  effective_share_ = 0;
  for (const double share : shares) effective_share_ += share / static_cast<double>(m);
}

double SharedRollouts::weight(std::int64_t learner, std::int64_t row) const {
  const auto own = static_cast<std::size_t>(learner * particles_ * all_->rows + row);
  const double log_ratio = double{density_[own]} - double{all_->log_density[static_cast<std::size_t>(row)]};
  return std::min(std::exp(std::min(log_ratio, double{largest_log_ratio})), limit_);
}

const ExperienceRows& SharedRollouts::pool(const ExperienceRows& rows, std::span<const std::int64_t> chosen) {
  const std::int64_t m = particles_, n = rows.rows, count = m * n, seen = std::ssize(rows.observations) / count,
                     act = std::ssize(rows.actions) / count;
  const auto all = static_cast<std::size_t>(m * count);
  pooled_.rows = count;
  pooled_.observations.resize(all * static_cast<std::size_t>(seen));
  pooled_.actions.resize(all * static_cast<std::size_t>(act));
  for (auto* numbers : {&pooled_.times, &pooled_.scale, &pooled_.advantages, &pooled_.targets, &pooled_.log_density})
    numbers->resize(all);
  const distributed::PartRange learners = distributed::parts_of(*ranks_, m);
  parallel_for(learners.end - learners.first, [&](std::int64_t place_of_learner) {
    const std::int64_t i = learners.first + place_of_learner, first = i * count;
    std::ranges::copy(rows.observations, pooled_.observations.begin() + first * seen);
    std::ranges::copy(rows.actions, pooled_.actions.begin() + first * act);
    std::ranges::copy(rows.times, pooled_.times.begin() + first);
    std::ranges::copy(rows.advantages, pooled_.advantages.begin() + first);
    std::ranges::copy(rows.targets, pooled_.targets.begin() + first);
    double sum = 0;
    for (std::int64_t row = 0; row < count; ++row) {
      const std::int64_t j = row / n, place = chosen.empty() ? row % n : chosen[static_cast<std::size_t>(row % n)],
                         old = j * all_->rows + place;
      const auto to = static_cast<std::size_t>(first + row);
      pooled_.log_density[to] = density_[static_cast<std::size_t>(i * m * all_->rows + old)];
      const double w = rows.scale[static_cast<std::size_t>(row)] == 0 ? 0 : weight(i, old);
      pooled_.scale[to] = static_cast<float>(w);
      sum += w;
    }
    for (std::int64_t row = 0; row < count; ++row)
      pooled_.scale[static_cast<std::size_t>(first + row)] *= static_cast<float>(sum > 0 ? 1 / sum : 0);
  });
  return pooled_;
}

}  // namespace stein::agents
