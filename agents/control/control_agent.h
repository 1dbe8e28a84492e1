// Learning a control policy from its own episodes: REINFORCE, A2C and PPO, each with a posterior over the policy's
// weights where that is wanted.
#pragma once

#include <stein/agents/control/baseline.h>
#include <stein/agents/control/experience.h>
#include <stein/agents/control/rollouts.h>
#include <stein/core/options.h>
#include <stein/core/registry.h>
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/policies/control_policy.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::agents {

/// What moves the weights of the policies, and under which prior.
enum class PolicyPosterior {
  none,         ///< one policy, no prior
  independent,  ///< M policies that learn on their own, no prior: the control
  svgd,         ///< Stein variational policy gradient: exp(J/α) times a Gaussian prior, particles of the weights
  s2vgd,        ///< the same on the factors of matrix-Gaussian weights
};

/// Whether particles climb towards prior × exp(J/α) through a kernel.
constexpr bool is_stein(PolicyPosterior posterior) {
  return posterior == PolicyPosterior::svgd || posterior == PolicyPosterior::s2vgd;
}

/// What J averages over before it is divided by α.
enum class GradientScale {
  per_step,     ///< the mean over time steps, as in the published code
  per_episode,  ///< the sum over a path, the mean over paths: the gradient of the return itself
};

/// The learners differ in what they collect and how often they use it; the loop is the same.
enum class Learner { reinforce, a2c, ppo };

/// How a control agent learns. What the learners and posteriors start from is `default_options`.
struct ControlAgentOptions {
  Learner learner = Learner::a2c;                     ///< no option itself: decides which others there are
  PolicyPosterior posterior = PolicyPosterior::none;  ///< the same
  std::int64_t particles = 16;
  double alpha = 1e-4;
  double alpha_half_life = 0;
  GradientScale gradient_scale = GradientScale::per_step;
  std::int64_t slots = 8;
  std::int64_t steps = 16;  ///< of a slot in an iteration
  double discount = 0.99;
  bool discount_weight = false;
  double gae_lambda = 0.95;
  double entropy_weight = 0;
  bool normalize_advantages = true;
  bool normalize_rewards = false;
  std::int64_t epochs = 1;
  std::int64_t minibatches = 1;
  double clip_ratio = 0;  ///< 0: the surrogate is not clipped
  BaselineKind baseline = BaselineKind::network;
  ValueNetworkOptions value{};
  policies::ControlPolicy::Options policy{};
  inference::SamplerChoice sampler = inference::samplers().at("optimizer").defaults;

  template <class V>
  void describe(V& v) {
    if (posterior != PolicyPosterior::none)
      v("particles", particles, "M: policies that play and learn side by side", between(1, 10000));
    if (is_stein(posterior)) {
      v("alpha", alpha, "α: the posterior is prior × exp(J/α), J in units of gradient_scale", at_least(1e-14));
      v("alpha_half_life", alpha_half_life, "α is halved every so many iterations; 0: it stays", non_negative,
        "iterations");
      v("gradient_scale", gradient_scale,
        "J is the mean over time steps (as published), or over episodes of their sums (a2c and ppo: the mean over "
        "steps "
        "times the mean length of the last 100 episodes)",
        {{"per_step", GradientScale::per_step}, {"per_episode", GradientScale::per_episode}});
    }
    v("slots", slots, "environments that every particle plays in side by side", between(1, 1e6));
    v("steps_per_slot", steps, "steps of every slot in an iteration", between(1, 1e6), "steps");
    v("discount", discount, "γ of the return", probability);
    v("discount_weight", discount_weight, "weigh the gradient at time t of an episode with γᵗ, as theory has it");
    if (learner == Learner::reinforce) {
      v("baseline", baseline, "what returns are compared with",
        {{"none", BaselineKind::none}, {"linear", BaselineKind::linear}, {"network", BaselineKind::network}});
    } else {
      v("gae_lambda", gae_lambda, "λ of generalised advantage estimation", probability);
      v("entropy_weight", entropy_weight, "β: adds β times the entropy of the action distribution", non_negative,
        "per nat");
    }
    v("normalize_advantages", normalize_advantages, "shift and divide the advantages of a particle to mean 0, sd 1");
    v("normalize_rewards", normalize_rewards,
      "divide rewards by the running sd of the discounted return, limited to ±10");
    if (learner == Learner::ppo) {
      v("epochs", epochs, "how often everything that was collected is used", between(1, 1000));
      v("minibatches", minibatches, "updates in an epoch", between(1, 1e6));
      v("clip_ratio", clip_ratio, "ε of the clipped surrogate", Range{.low = 0, .low_open = true});
    }
    if (baseline == BaselineKind::network || learner == Learner::reinforce) value.describe(v);
    policy.describe(v);
    sampler.describe(v);
    describe_paper(v);
  }
  /// The published settings of Stein policy gradient.
  template <class V>
  void describe_paper(V& v) {
    if (!is_stein(posterior) || !v.contains("kernel")) return;  // moved by another sampler
    constexpr const char* source = "with posterior svgd or s2vgd: Zhang et al. 2018, §5.3, and their published code";
    v.preset("paper", source,
             {{"particles", "16"},
              {"alpha", "10"},
              {"gradient_scale", "per_step"},
              {"normalize_advantages", "true"},
              {"discount", "0.99"},
              {"slots", "20"},
              {"steps_per_slot", "500"},
              {"initial_correlation", "0"},
              {"kernel", "rbf"},
              {"step_size", "0.005"}});
    if (v.contains("weight_precision")) v.preset("paper", source, {{"weight_precision", "1e-9"}});
    if (v.contains("reflectors")) v.preset("paper", source, {{"reflectors", "4"}});
  }
};

/// What one iteration did.
struct IterationReport {
  std::int64_t steps = 0;                   ///< environment steps of all particles
  std::vector<FinishedEpisode> episodes{};  ///< that ended in it, by particle
  double entropy = 0;                       ///< of the policies before the update, in nats, the mean over all rows
};

/// One repetition: every particle plays, values what it did, and all particles move.
class ControlAgent {
 public:
  /// @throws Error(usage) naming the option that is out of range or does not fit the others, and for an environment
  ///         whose actions no control agent makes
  ControlAgent(const ControlAgentOptions& options, const envs::ControlEntry::Builder& environment, std::uint64_t seed);

  /// Collects and learns once. Throws Error(numeric) naming seed and iteration where the policies left the finite
  /// numbers.
  IterationReport iterate();

  std::uint64_t seed() const { return seed_; }
  std::int64_t iterations() const { return iterations_; }
  /// Environment steps of all particles so far.
  std::int64_t total_steps() const { return rollouts_.total_steps(); }
  /// What an iteration plans to take; whole paths may take more.
  std::int64_t steps_per_iteration() const {
    return rollouts_.shape().particles * rollouts_.shape().slots * rollouts_.shape().steps;
  }
  double discount() const { return options_.discount; }
  policies::ControlPolicy& policy() { return policy_; }
  const policies::ControlPolicy& policy() const { return policy_; }

  /// A sentence about the last time that the policies left the finite numbers and were brought back, if they did.
  std::optional<std::string> warning() const { return sampler_.warning(); }

  /// Everything that later iterations depend on.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) saying what differs.
  void restore(const Snapshot& snapshot);

 private:
  double entropy_and_densities();
  bool update();
  bool step(const ExperienceRows& rows);
  void observe();
  ValueRows value_rows(const ExperienceRows& rows) const;
  double alpha() const;

  ControlAgentOptions options_;
  std::uint64_t seed_;
  policies::ControlPolicy policy_;
  Rollouts rollouts_;
  std::unique_ptr<Baseline> baseline_;
  Experience experience_;
  PolicyObjective objective_;
  inference::RollbackSampler<float> sampler_;
  std::int64_t iterations_ = 0;
  std::vector<float> scale_;  ///< of the rows of an update, with 1/α
};

/// A registered control agent: its line in `stein list`, and how it learns.
struct ControlAgentEntry {
  std::string description;
  Learner learner;
};

/// REINFORCE, A2C, PPO.
Registry<ControlAgentEntry>& control_agents();

/// A posterior over policies by its name.
struct PolicyPosteriorEntry {
  std::string description;
  PolicyPosterior posterior;
};

/// none, independent, svgd, s2vgd.
Registry<PolicyPosteriorEntry>& policy_posteriors();

/// The options of a learner at their defaults. @param discrete  whether actions are choices
ControlAgentOptions default_options(Learner learner, PolicyPosterior posterior, bool discrete);

}  // namespace stein::agents
