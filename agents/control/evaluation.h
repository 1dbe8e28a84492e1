// Episodes that nobody learns from: what a policy is worth.
#pragma once

#include <stein/agents/control/rollouts.h>
#include <stein/core/progress.h>
#include <stein/core/stop_token.h>
#include <stein/envs/vector_environment.h>
#include <stein/policies/control_policy.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace stein::agents {

/// How an evaluation episode is played.
struct EvaluationOptions {
  bool deterministic = true;  ///< the most likely action; false: a draw
  double discount = 0.99;     ///< of `discounted_reward`
  std::uint64_t seed = 0;     ///< of environments and draws
  /// Looked at once a step. Episodes that it cuts short have length 0: whoever asked to stop has no result.
  StopToken stop{};
  Progress* progress = nullptr;  ///< told of every episode that has ended
  /// Called for every episode before its first step and after each one, with the slot of the environment that it is
  /// played in. Different episodes may be watched at the same time.
  std::function<void(std::int64_t episode, const envs::VectorEnvironment& environment, std::int64_t slot)> watch{};
};

/// One episode for every entry of `particles`, played by that particle, in environments of their own.
/// @returns the episodes in the order of `particles`
/// @throws Error(usage) for a particle that the policy does not have
std::vector<FinishedEpisode> play_episodes(const policies::ControlPolicy& policy,
                                           const envs::ControlEntry::Builder& environment,
                                           const std::vector<std::int64_t>& particles,
                                           const EvaluationOptions& options);

/// A particle for each of `episodes` episodes, drawn uniformly: how a posterior over policies acts.
std::vector<std::int64_t> draw_particles(std::int64_t episodes, std::int64_t particles, std::uint64_t seed);

/// `episodes` episodes of every particle, one particle after the other.
std::vector<std::int64_t> every_particle(std::int64_t episodes, std::int64_t particles);

/// Undiscounted, of every episode.
std::vector<double> returns_of(const std::vector<FinishedEpisode>& episodes);

/// Episodes of all particles together, as many of each, where `episodes` are asked for: at least one of each.
std::int64_t episodes_of_particles(std::int64_t episodes, std::int64_t particles);

/// [M] mean return of every particle over episodes of its own, episodes_of_particles of all together.
std::vector<double> particle_returns(const policies::ControlPolicy& policy,
                                     const envs::ControlEntry::Builder& environment, std::int64_t episodes,
                                     const EvaluationOptions& options);

}  // namespace stein::agents
