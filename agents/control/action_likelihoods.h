// How likely the policies make what they did, before an update and after it.
#pragma once

#include <stein/agents/control/experience.h>
#include <stein/agents/control/learning_measures.h>
#include <stein/distributed/communicator.h>
#include <stein/policies/control_policy.h>

#include <cstdint>

namespace stein::agents {

/// log π(a | o) of the rows of an Experience, each under the policy of the particle that acted.
class ActionLikelihoods {
 public:
  /// Both must outlive this object.
  ActionLikelihoods(const policies::ControlPolicy& policy, Experience& experience)
      : policy_(policy), experience_(experience) {}

  /// From here on all calls are collective calls of `ranks`, which have to outlive this object and have the same
  /// policies and experience: each looks at some of the particles.
  void share_with(distributed::Communicator& ranks) { ranks_ = &ranks; }

  /// Writes `log_density` of the experience, before the policies move.
  void look() const;
  /// Writes `log_density`, and into `measures` the entropy of the policies and the sd of actions that are numbers.
  void look(LearningMeasures& measures) const;

  /// How far the policies have moved since; the mean over particles. @param clip_ratio  as of `policy_change`
  PolicyChange change(double clip_ratio) const;

 private:
  policies::ActionDistribution::Parameters parameters_of(std::int64_t particle) const;
  inference::MatrixView<const float> actions_of(std::int64_t particle) const;
  std::int64_t counted_rows(std::int64_t particle) const;
  std::span<float> density_of(std::int64_t particle) const;

  const policies::ControlPolicy& policy_;
  Experience& experience_;
  distributed::Communicator* ranks_ = &distributed::single_process();
};

}  // namespace stein::agents
