#include <stein/agents/control/evaluation.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <numeric>

namespace stein::agents {
namespace {

using inference::MatrixView;

/// Episodes of one particle, side by side; slot s plays episode `order[s]`.
class Match {
 public:
  Match(const policies::ControlPolicy& policy, std::int64_t particle, std::span<const std::int64_t> order,
        std::unique_ptr<envs::VectorEnvironment> environment, const EvaluationOptions& options)
      : policy_(policy),
        particle_(particle),
        order_(order),
        environment_(std::move(environment)),
        options_(options),
        open_(order.size(), 1),
        discounted_(order.size()),
        presented_(order.size() * static_cast<std::size_t>(policy.observation_size())),
        outputs_(order.size() * static_cast<std::size_t>(policy.distribution().outputs())),
        actions_(order.size() * static_cast<std::size_t>(policy.distribution().actions())) {}

  void play(std::vector<FinishedEpisode>& finished) {
    environment_->reset(options_.seed);
    watch();
    double factor = 1;
    for (std::size_t left = order_.size(); left > 0 && !options_.stop.stop_requested();) {
      act();
      environment_->step(actions_);
      for (std::size_t s = 0; s < open_.size(); ++s)
        discounted_[s] += factor * double{environment_->rewards()[s]} * open_[s];
      factor *= options_.discount;
      watch();
      for (const envs::Episode& episode : environment_->episodes()) {
        const auto s = static_cast<std::size_t>(episode.slot);
        if (open_[s] == 0) continue;
        finished[static_cast<std::size_t>(order_[s])] = {.particle = particle_,
                                                         .length = episode.length,
                                                         .total_reward = episode.total_reward,
                                                         .discounted_reward = discounted_[s],
                                                         .terminated = episode.terminated};
        open_[s] = 0;
        --left;
        if (options_.progress != nullptr) options_.progress->advance();
      }
    }
  }

 private:
  void act() {
    const std::int64_t n = std::ssize(order_), seen = policy_.observation_size();
    const MatrixView<float> presented{presented_.data(), n, seen},
        outputs{outputs_.data(), n, policy_.distribution().outputs()},
        actions{actions_.data(), n, policy_.distribution().actions()};
    policy_.present({environment_->observations().data(), n, seen}, presented);
    const auto parameters = policy_.parameters(particle_, presented, outputs);
    if (options_.deterministic) return policy_.distribution().mode(parameters, actions);
    const NoiseKey noise{
        .seed = options_.seed, .step = static_cast<std::uint64_t>(environment_->steps()), .stream = Stream::decision};
    policy_.distribution().draw(parameters, noise, static_cast<std::uint32_t>(particle_), 0, actions);
  }

  void watch() const {
    if (!options_.watch) return;
    for (std::size_t s = 0; s < order_.size(); ++s)
      if (open_[s] != 0) options_.watch(order_[s], *environment_, static_cast<std::int64_t>(s));
  }

  const policies::ControlPolicy& policy_;
  std::int64_t particle_;
  std::span<const std::int64_t> order_;
  std::unique_ptr<envs::VectorEnvironment> environment_;
  const EvaluationOptions& options_;
  std::vector<int> open_;
  std::vector<double> discounted_;
  std::vector<float> presented_, outputs_, actions_;
};

}  // namespace

std::vector<FinishedEpisode> play_episodes(const policies::ControlPolicy& policy,
                                           const envs::ControlEntry::Builder& environment,
                                           const std::vector<std::int64_t>& particles,
                                           const EvaluationOptions& options) {
  for (const std::int64_t particle : particles)
    STEIN_CHECK(particle >= 0 && particle < policy.particle_count(),
                "evaluation: expected a particle from 0 to {}, got {}", policy.particle_count() - 1, particle);
  std::vector<std::int64_t> order(particles.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](std::int64_t episode) { return particles[static_cast<std::size_t>(episode)]; });
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i == 0 || particles[static_cast<std::size_t>(order[i])] != particles[static_cast<std::size_t>(order[i - 1])])
      begins.push_back(i);
  std::vector<FinishedEpisode> finished(particles.size());
  parallel_for(std::ssize(begins), [&](std::int64_t group) {
    const auto g = static_cast<std::size_t>(group);
    const std::size_t begin = begins[g], end = g + 1 < begins.size() ? begins[g + 1] : order.size();
    const std::span<const std::int64_t> own(order.data() + begin, end - begin);
    Match(policy, particles[static_cast<std::size_t>(own.front())], own,
          environment.make(std::ssize(own), static_cast<std::int64_t>(begin)), options)
        .play(finished);
  });
  return finished;
}

std::vector<std::int64_t> draw_particles(std::int64_t episodes, std::int64_t particles, std::uint64_t seed) {
  Draws draws({.seed = seed, .stream = Stream::decision}, 0xFFFFFFFF);
  std::vector<std::int64_t> drawn(static_cast<std::size_t>(episodes));
  for (std::int64_t& particle : drawn) particle = draws.integer(static_cast<std::uint32_t>(particles));
  return drawn;
}

std::vector<std::int64_t> every_particle(std::int64_t episodes, std::int64_t particles) {
  std::vector<std::int64_t> all;
  for (std::int64_t particle = 0; particle < particles; ++particle)
    all.insert(all.end(), static_cast<std::size_t>(episodes), particle);
  return all;
}

std::vector<double> returns_of(const std::vector<FinishedEpisode>& episodes) {
  std::vector<double> returns;
  returns.reserve(episodes.size());
  for (const FinishedEpisode& episode : episodes) returns.push_back(episode.total_reward);
  return returns;
}

std::int64_t episodes_of_particles(std::int64_t episodes, std::int64_t particles) {
  return std::max<std::int64_t>(1, episodes / particles) * particles;
}

std::vector<double> particle_returns(const policies::ControlPolicy& policy,
                                     const envs::ControlEntry::Builder& environment, std::int64_t episodes,
                                     const EvaluationOptions& options) {
  const std::int64_t particles = policy.particle_count(), each = episodes_of_particles(episodes, particles) / particles;
  const std::vector<double> returns =
      returns_of(play_episodes(policy, environment, every_particle(each, particles), options));
  std::vector<double> means;
  for (std::int64_t i = 0; i < particles; ++i)
    means.push_back(
        runs::mean(std::span(returns).subspan(static_cast<std::size_t>(i * each), static_cast<std::size_t>(each))));
  return means;
}

}  // namespace stein::agents
