// What moves the policies of a control agent: the gradient of what their rows say, and the sampler that climbs it.
#pragma once

#include <stein/agents/control/behaviour_kernel.h>
#include <stein/agents/control/control_agent_options.h>
#include <stein/agents/control/experience.h>
#include <stein/agents/control/learning_measures.h>
#include <stein/agents/control/policy_objective.h>
#include <stein/agents/control/posterior_forces.h>
#include <stein/distributed/shared_work.h>
#include <stein/inference/samplers/gradient_sampler.h>
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/targets/shared_target.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::agents {

/// Moves all policies of an agent, update by update, along the gradient of J/α, with prior and repulsion where they
/// have a Stein posterior.
class PolicyLearner {
 public:
  /// How an update ended: the policies moved; the gradient was taken where they were further than `target_kl` from
  /// those that played; or they left the finite numbers, and are earlier ones again.
  enum class Outcome { moved, too_far, went_back };

  /// @param options, policy, experience  outlive it
  /// @param seed                         of the randomness of its sampler
  /// @throws Error(usage) for a sampler that does not belong to the posterior, or that asks for more than one gradient
  ///         a step
  PolicyLearner(const ControlAgentOptions& options, policies::ControlPolicy& policy, const Experience& experience,
                std::uint64_t seed);
  PolicyLearner(const PolicyLearner&) = delete;
  PolicyLearner& operator=(const PolicyLearner&) = delete;

  /// From here on `update` is a collective call of the ranks of `exchange`, which has to outlive it.
  void share_with(inference::PartExchange& exchange);
  /// A collective call of them, before it is saved.
  void bring_together() { sampler_.bring_together(); }

  /// One update of all policies from these rows.
  /// @param iteration  of the agent, from 0, by which α is annealed
  /// @param measures   what is found of the update is added there; null where nobody asks
  /// @throws Error(numeric) once α has been halved so often that J/α leaves the range of the numbers
  Outcome update(const ExperienceRows& rows, std::int64_t iteration, LearningMeasures* measures);

  /// Steps are `factor` times as long from here on.
  void scale_step_size(double factor) { sampler_.scale_step_size(factor); }
  /// A sentence about the last time that the policies left the finite numbers and were brought back, if they did.
  std::optional<std::string> warning() const { return sampler_.warning(); }

  void save(Snapshot& snapshot) const { sampler_.save(snapshot); }
  /// Throws Error(data) saying what differs.
  void restore(const Snapshot& snapshot) { sampler_.restore(snapshot); }

 private:
  Outcome learn(const ExperienceRows& rows, std::int64_t iteration);
  std::unique_ptr<inference::Sampler<float>> watched(std::unique_ptr<inference::Sampler<float>> sampler);
  void watch_gradients(const inference::Particles<float>& particles);
  void look_at_forces(const inference::Batch<float>& batch);
  double inverse_alpha(std::int64_t iteration) const;
  void scale_rows(const ExperienceRows& rows, double inverse_alpha);
  const inference::OutputScore<float>& score_of(const ExperienceRows& rows);
  bool move(const inference::Batch<float>& batch);
  distributed::PartRange learners_here() const;
  double approximate_kl(const ExperienceRows& rows) const;
  inference::Target<float>& target();

  const ControlAgentOptions& options_;
  policies::ControlPolicy& policy_;
  const Experience& experience_;
  PolicyObjective objective_;
  std::optional<BehaviourKernel> behaviour_;  ///< where the kernel sees behaviour
  distributed::Communicator* ranks_ = &distributed::single_process();
  std::optional<inference::SharedTarget<float>> shared_target_;  ///< with other ranks
  inference::GradientSampler<float>* gradients_ = nullptr;       ///< what `sampler_` holds
  inference::RollbackSampler<float> sampler_;
  std::vector<float> scale_;               ///< of the rows of an update, with 1/α
  std::vector<float> log_ratio_;           ///< of the rows of an update
  std::vector<std::uint8_t> counts_;       ///< whether a row of an update counts, for the kernel
  std::optional<PosteriorForces> forces_;  ///< of the update under way, where it is measured
  LearningMeasures* measures_ = nullptr;   ///< of the update under way; null where it is not measured
};

}  // namespace stein::agents
