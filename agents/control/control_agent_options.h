// How a control agent learns, and what it starts from: REINFORCE, A2C, PPO, and the posteriors over their policies.
#pragma once

#include <stein/agents/control/baseline.h>
#include <stein/core/options.h>
#include <stein/core/registry.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/policies/control_policy.h>

#include <cstdint>
#include <string>

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

/// What the kernel of a Stein posterior compares.
enum class KernelSees {
  weights,    ///< the particles themselves: weights, or factors of them
  behaviour,  ///< their distributions over actions at the states that all learn from (BehaviourKernel)
};

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
  bool staggered = false;
  double discount = 0.99;
  bool discount_weight = false;
  double gae_lambda = 0.95;
  double entropy_weight = 0;
  bool normalize_advantages = true;
  bool normalize_rewards = false;
  std::int64_t epochs = 1;
  std::int64_t minibatches = 1;
  double clip_ratio = 0;  ///< 0: the surrogate is not clipped
  double target_kl = 0;
  bool shared_critic = false;
  bool share_rollouts = false;
  double importance_limit = 1;
  KernelSees kernel_sees = KernelSees::weights;
  std::int64_t decay_steps = 0;
  std::int64_t step_half_life = 0;  ///< iterations
  BaselineKind baseline = BaselineKind::network;
  ValueNetworkOptions value{};
  policies::ControlPolicy::Options policy{};
  inference::SamplerChoice sampler = inference::samplers().at("optimizer").defaults;  ///< of none and independent
  inference::SvgdOptions svgd{};                                                      ///< of Stein posteriors

  template <class V>
  void describe(V& v) {
    describe_settings(v);
    describe_presets(v);
  }
  template <class V>
  void describe_settings(V& v) {
    if (posterior != PolicyPosterior::none)
      v("particles", particles, "M: policies that play and learn side by side", between(1, 10000));
    if (posterior != PolicyPosterior::none)
      v("shared_critic", shared_critic,
        "one baseline learns from the rollouts of all particles, whose advantages are normalised together; else each "
        "has "
        "its own")
          .in_older_runs("false");
    if (is_stein(posterior)) {
      v("shared_layers", policy.shared_layers,
        "the first so many hidden layers of the policies are one set of weights, which climbs the mean of the "
        "gradients "
        "of all particles: the posterior is of the layers behind them",
        between(0, 100))
          .in_older_runs("0");
      v("share_rollouts", share_rollouts,
        "every particle learns from the rollouts of all, weighed with importance ratios of the actions, the sum of "
        "weights being 1")
          .in_older_runs("false");
      v("importance_limit", importance_limit, "largest importance ratio", positive).in_older_runs("1");
      v("kernel_sees", kernel_sees,
        "what the kernel compares: weights (or their factors), or behaviour, the distributions over actions at the "
        "states that all particles learn from, which asks for share_rollouts=true",
        {{"weights", KernelSees::weights}, {"behaviour", KernelSees::behaviour}})
          .in_older_runs("weights");
    }
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
      v("staggered", staggered,
        "the first episodes of the slots count as older than they are, evenly spread over the horizon: slots whose "
        "episodes all last to the horizon are then at all times of an episode, not for ever at the same one")
          .in_older_runs("false");
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
      v("target_kl", target_kl,
        "an iteration makes no more updates once the approximate KL(old ‖ new) of a minibatch, the mean over "
        "particles, is above 1.5 times this; 0: it makes all",
        non_negative, "nats")
          .in_older_runs("0");
    }
    v("decay_steps", decay_steps,
      "step sizes of policies and value network fall linearly to 1 % of themselves over so many steps of all "
      "particles; 0: they stay; `stein rl` makes it the steps of the run unless it is 0 or set",
      between(0, 1e12), "steps")
        .in_older_runs("0");
    v("step_half_life", step_half_life,
      "step sizes of policies and value network are halved after every so many iterations; 0: they are not",
      between(0, 1e9), "iterations")
        .in_older_runs("0");
    if (baseline == BaselineKind::network || learner == Learner::reinforce) value.describe(v);
    policy.describe(v);
    if (is_stein(posterior))
      svgd.describe(v);
    else
      sampler.describe(v);
  }
  /// Named settings: the differences of published and of earlier defaults from those of today.
  void describe_presets(OptionTable& table) const;
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

/// The options of a learner at their defaults: what practitioners set (Huang et al. 2022, "The 37 implementation
/// details of proximal policy optimization"; Raffin et al. 2021, Stable-Baselines3). @param discrete  whether actions
/// are choices
ControlAgentOptions default_options(Learner learner, PolicyPosterior posterior, bool discrete);

/// The defaults of earlier versions, on which recorded results rest: the network of Zhang et al. 2018, nothing
/// normalised but advantages, constant step sizes, and for Stein posteriors particles that start near one another.
ControlAgentOptions earlier_options(Learner learner, PolicyPosterior posterior, bool discrete);

}  // namespace stein::agents
