#include <stein/agents/control/action_likelihoods.h>
#include <stein/distributed/shared_work.h>

#include <algorithm>
#include <vector>

namespace stein::agents {

using inference::MatrixView;
using Parameters = policies::ActionDistribution::Parameters;

/// The distributions of a particle over actions at its rows; valid until the thread's next call.
Parameters ActionLikelihoods::parameters_of(std::int64_t particle) const {
  thread_local std::vector<float> outputs;
  const ExperienceRows& all = experience_.all();
  const std::int64_t n = all.rows, seen = policy_.observation_size(), k = policy_.distribution().outputs();
  outputs.resize(static_cast<std::size_t>(n * k));
  return policy_.parameters(particle, {all.observations.data() + particle * n * seen, n, seen}, {outputs.data(), n, k});
}

MatrixView<const float> ActionLikelihoods::actions_of(std::int64_t particle) const {
  const ExperienceRows& all = experience_.all();
  const std::int64_t act = policy_.distribution().actions();
  return {all.actions.data() + particle * all.rows * act, all.rows, act};
}

/// Rows of a particle that count come first.
std::int64_t ActionLikelihoods::counted_rows(std::int64_t particle) const {
  const ExperienceRows& all = experience_.all();
  const auto n = static_cast<std::size_t>(all.rows);
  const auto scale = std::span(all.scale).subspan(static_cast<std::size_t>(particle) * n, n);
  return std::ranges::count_if(scale, [](float c) { return c != 0; });
}

std::span<float> ActionLikelihoods::density_of(std::int64_t particle) const {
  ExperienceRows& all = experience_.all();
  return std::span(all.log_density)
      .subspan(static_cast<std::size_t>(particle * all.rows), static_cast<std::size_t>(all.rows));
}

void ActionLikelihoods::look() const {
  distributed::shared_for(
      *ranks_, policy_.particle_count(),
      [&](std::int64_t i) { policy_.distribution().log_density(parameters_of(i), actions_of(i), density_of(i)); },
      [&](std::int64_t i) { return density_of(i); });
}

void ActionLikelihoods::look(LearningMeasures& measures) const {
  const std::int64_t m = policy_.particle_count();
  const policies::ActionDistribution& distribution = policy_.distribution();
  struct Look {
    double entropy, deviation;
  };
  std::vector<Look> looks(static_cast<std::size_t>(m));
  const auto look_of = [&](std::int64_t i) { return std::span(looks).subspan(static_cast<std::size_t>(i), 1); };
  const auto look_at = [&](std::int64_t i) {
    const Parameters parameters = parameters_of(i);
    distribution.log_density(parameters, actions_of(i), density_of(i));
    const Parameters counted{parameters.outputs.block(0, counted_rows(i)), parameters.constants};
    look_of(i).front() = {distribution.mean_entropy(counted), distribution.mean_deviation(counted)};
  };
  distributed::shared_for(
      *ranks_, m, look_at, [&](std::int64_t i) { return density_of(i); }, look_of);
  double deviation = 0;
  for (const Look& each : looks) {
    measures.entropy += each.entropy / static_cast<double>(m);
    deviation += each.deviation / static_cast<double>(m);
  }
  if (deviation != 0) measures.deviation = deviation;  // choices have none
}

PolicyChange ActionLikelihoods::change(double clip_ratio) const {
  const ExperienceRows& all = experience_.all();
  const std::int64_t m = policy_.particle_count(), n = all.rows;
  std::vector<PolicyChange> changes(static_cast<std::size_t>(m));
  const auto change_of = [&](std::int64_t i) { return std::span(changes).subspan(static_cast<std::size_t>(i), 1); };
  const auto look_at = [&](std::int64_t i) {
    thread_local std::vector<float> log_ratio;
    log_ratio.resize(static_cast<std::size_t>(n));
    policy_.distribution().log_density(parameters_of(i), actions_of(i), log_ratio);
    const auto first = static_cast<std::size_t>(i * n), counted = static_cast<std::size_t>(counted_rows(i));
    for (std::size_t k = 0; k < counted; ++k) log_ratio[k] -= all.log_density[first + k];
    change_of(i).front() = policy_change(std::span(log_ratio).first(counted),
                                         std::span(all.advantages).subspan(first, counted), clip_ratio);
  };
  distributed::shared_for(*ranks_, m, look_at, change_of);
  PolicyChange mean;
  for (const PolicyChange& own : changes) {
    mean.approximate_kl += own.approximate_kl / static_cast<double>(m);
    mean.clip_share += own.clip_share / static_cast<double>(m);
    mean.surrogate += own.surrogate / static_cast<double>(m);
  }
  return mean;
}

}  // namespace stein::agents
