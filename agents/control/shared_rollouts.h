// Rollouts that particles share: each learns from the episodes of all.
#pragma once

#include <stein/agents/control/experience.h>
#include <stein/distributed/communicator.h>
#include <stein/policies/control_policy.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::agents {

/// Makes every row of every particle a row of all particles, weighed with the clipped importance ratio
/// min(π_i(a | o)/π_j(a | o), c) of the particle i that learns from it to the particle j that acted (Espeholt et al.
/// 2018, eq. 1, the ρ of V-trace). Weights of a particle are divided by their sum (self-normalised), so that one whose
/// policy is unlike all others learns from its own rollouts as if it were alone. States remain those of the particle
/// that acted; the ratio corrects actions only.
class SharedRollouts {
 public:
  /// @param limit  c > 0
  explicit SharedRollouts(double limit) : limit_(limit) {}

  /// From here on `take` is a collective call of `ranks`, which have to outlive this object and be given the same. Each
  /// looks for the particles that are its parts (distributed::parts_of), whose gradients it makes: `pool` has the rows
  /// of these alone.
  void share_with(distributed::Communicator& ranks) { ranks_ = &ranks; }

  /// Looks at what was collected, with log π_j(a | o) of every row, under the policies as they are. `all` must stay
  /// until the last `pool`.
  void take(const policies::ControlPolicy& policy, const ExperienceRows& all);

  /// Rows of all particles together for each: [M·(M·n), ·] of `rows`, which are [M·n, ·]; valid until the next call.
  /// `log_density` is that of the particle that learns, before the policies moved.
  /// @param chosen  which rows of every particle these are, as Experience::pick was asked for; empty: all
  const ExperienceRows& pool(const ExperienceRows& rows, std::span<const std::int64_t> chosen = {});

  /// (Σ w)²/Σ w² over the rows of all, as a share of them; the mean over particles of the last `take`: 1/M where no
  /// particle learns from another, 1 where all policies are the same.
  double effective_share() const { return effective_share_; }

 private:
  double weight(std::int64_t learner, std::int64_t row) const;

  double limit_;
  distributed::Communicator* ranks_ = &distributed::single_process();
  const ExperienceRows* all_ = nullptr;
  std::int64_t particles_ = 0;
  std::vector<float> density_;  ///< [M, M·n] log π_i(a | o) of particle i for the rows of all
  double effective_share_ = 0;
  ExperienceRows pooled_;
};

}  // namespace stein::agents
