#include <stein/agents/control/control_agent_options.h>
#include <stein/inference/samplers/optimizer.h>

#include <map>

namespace stein::agents {
namespace {

const bool registered =
    control_agents().add(
        "reinforce", {"policy gradient from whole episodes, against a baseline (Williams 1992)", Learner::reinforce}) &&
    control_agents().add(
        "a2c",
        {"advantage actor-critic: a few steps of many environments, one update (Mnih et al. 2016)", Learner::a2c}) &&
    control_agents().add("ppo",
                         {"proximal policy optimisation, clipped surrogate (Schulman et al. 2017)", Learner::ppo});

const bool posteriors_registered =
    policy_posteriors().add("none", {"one policy, no prior", PolicyPosterior::none}) &&
    policy_posteriors().add(
        "independent", {"policies that learn on their own, no prior: the control", PolicyPosterior::independent}) &&
    policy_posteriors().add("svgd", {"Stein variational policy gradient, particles of the weights (Liu et al. 2017)",
                                     PolicyPosterior::svgd}) &&
    policy_posteriors().add(
        "s2vgd",
        {"Stein variational policy gradient, particles of the factors of matrix-Gaussian weights (Zhang et al. 2018)",
         PolicyPosterior::s2vgd});

/// Of a slot in an iteration of A2C in earlier versions: forces show what they were good for later than choices do.
constexpr std::int64_t earlier_continuous_steps = 128;

using Settings = std::map<std::string, std::string>;

OptionTable settings_of(ControlAgentOptions& options) {
  OptionTable table;
  options.describe_settings(table);
  return table;
}

/// Every option that `options` have another value of than the defaults of today; and one that all have, as a preset
/// without any would be none.
Settings differences(ControlAgentOptions options) {
  ControlAgentOptions today = default_options(options.learner, options.posterior, options.policy.discrete);
  const OptionTable theirs = settings_of(options), ours = settings_of(today);
  Settings found{{"decay_steps", theirs.get("decay_steps")}};
  for (const Option& option : theirs.options())
    if (option.text() != ours.get(option.name)) found[option.name] = option.text();
  return found;
}

void declare(OptionTable& table, const char* name, const char* source, const Settings& settings) {
  for (const auto& [option, value] : settings)
    if (table.contains(option)) table.preset(name, source, {{option.c_str(), value}});
}

/// The published settings of Stein policy gradient, over what earlier versions began with.
Settings published(const ControlAgentOptions& earlier) {
  Settings settings = differences(earlier);
  const Settings paper{
      {"particles", "16"},  {"alpha", "10"},        {"gradient_scale", "per_step"}, {"normalize_advantages", "true"},
      {"discount", "0.99"}, {"slots", "20"},        {"steps_per_slot", "500"},      {"initial_correlation", "0"},
      {"kernel", "rbf"},    {"step_size", "0.005"}, {"weight_precision", "1e-9"},   {"reflectors", "4"}};
  for (const auto& [option, value] : paper) settings[option] = value;
  return settings;
}

}  // namespace

Registry<ControlAgentEntry>& control_agents() {
  static Registry<ControlAgentEntry> registry("agent");
  return registry;
}

Registry<PolicyPosteriorEntry>& policy_posteriors() {
  static Registry<PolicyPosteriorEntry> registry("posterior");
  return registry;
}

void ControlAgentOptions::describe_presets(OptionTable& table) const {
  const ControlAgentOptions earlier = earlier_options(learner, posterior, policy.discrete);
  if (!is_stein(posterior))
    return declare(table, "paper",
                   "the network of Zhang et al. 2018, §5.4, nothing normalised, constant step sizes: the defaults of "
                   "earlier versions",
                   differences(earlier));
  declare(table, "paper", "with posterior svgd or s2vgd: Zhang et al. 2018, §5.4, and their published code",
          published(earlier));
  declare(table, "shared-start",
          "with posterior svgd or s2vgd: particles that start near one another and stay variations of one policy, the "
          "defaults of earlier versions",
          differences(earlier));
  declare(table, "explore",
          "with posterior svgd or s2vgd: particles start as policies that know what they want, so that what a particle "
          "does in an episode is of a piece (Osband et al. 2019)",
          {{"output_spread", "10"}});
}

ControlAgentOptions default_options(Learner learner, PolicyPosterior posterior, bool discrete) {
  const bool stein = is_stein(posterior);
  ControlAgentOptions options = earlier_options(learner, posterior, discrete);
  if (stein) options.policy.initial_correlation = 0;
  if (learner == Learner::reinforce) return options;
  options.policy.hidden = options.value.hidden = {64, 64};
  options.policy.initial_weights = policies::WeightStart::orthogonal;
  options.policy.initial_spread = 1.4142;
  options.policy.output_spread = 0.01;
  options.policy.normalize_observations = options.normalize_rewards = options.value.normalize = true;
  options.decay_steps = 300'000;
  options.staggered = true;
  inference::OptimizerOptions optimizer{.epsilon = 1e-5};
  if (!stein) optimizer.clip.clip_norm = 0.5;  // a gradient divided by α is longer than any bound that is meant for ∇J
  options.value.epsilon = 1e-5;
  if (learner == Learner::a2c) {
    options.slots = 16, options.steps = 32;
    optimizer.step.step_size = options.value.step_size = 2e-3;
    options.value.updates = 2;
  } else {
    options.slots = 8, options.steps = 256, options.epochs = 4, options.minibatches = 32;
    // Near its best a policy has small deviations, and advantages that are noise but are brought to sd 1: without a
    // bound it walks away from what it has learned (docs/control.md). A bound of 0.01 slows others' first steps.
    options.target_kl = 0.02;
    optimizer.step.step_size = options.value.step_size = 3e-4;
  }
  options.sampler = inference::SamplerChoice::of<inference::Optimizer<float>>(optimizer);
  if (!stein) return options;
  // Particles share what they see, else each of M would have one M-th of the steps to learn from.
  options.shared_critic = options.share_rollouts = true;
  // A prior around 0 holds weights small while the gradients of many of them are still noise: on Pendulum-v1 particles
  // then learn nothing. Around the start of each it leaves them where the return has nothing to say.
  options.policy.anchors = true;
  options.alpha = 1e-3;  // of standardised advantages
  options.slots = 1, options.steps = learner == Learner::a2c ? 32 : 128;
  options.svgd = {.optimizer = optimizer};
  return options;
}

ControlAgentOptions earlier_options(Learner learner, PolicyPosterior posterior, bool discrete) {
  const bool stein = is_stein(posterior);
  ControlAgentOptions options{.learner = learner, .posterior = posterior};
  options.policy.discrete = discrete;
  options.policy.posterior.flat_prior = !stein;
  if (posterior == PolicyPosterior::s2vgd)
    options.policy.posterior.parameterization = inference::WeightForm::matrix_gaussian;
  inference::OptimizerOptions optimizer{};
  inference::SvgdKernelOptions kernel{};
  switch (learner) {
    case Learner::a2c:
      optimizer.step.step_size = 1e-2;
      options.value.step_size = 1e-2, options.value.updates = 4;
      options.steps = discrete ? 16 : earlier_continuous_steps;
      options.normalize_advantages = stein;  // α is in units of them
      break;
    case Learner::reinforce:
      optimizer.step.step_size = 2e-2;
      options.slots = 20, options.steps = 500, options.gae_lambda = 1;
      options.baseline = BaselineKind::linear;
      options.value.updates = 20;
      break;
    case Learner::ppo:
      optimizer.step.step_size = 1e-3;
      optimizer.clip.clip_norm = 0.5;
      options.steps = 64, options.epochs = 8, options.minibatches = 4, options.clip_ratio = 0.2;
      break;
  }
  if (stein) {
    // Particles that start near one another climb in much the same direction, and a kernel with heavy tails lets each
    // learn from the episodes of all: with 16 particles that is worth most of a factor of 16 in steps.
    options.policy.initial_correlation = 0.999;
    kernel.kernel = inference::SvgdKernel::imq;
    optimizer.clip = {};  // a gradient divided by α is longer than any bound that is meant for ∇J
    if (learner == Learner::a2c) {
      options.slots = 1, options.steps = discrete ? 32 : earlier_continuous_steps;
      // Of factors a smaller step, as a change of one moves the whole matrix.
      optimizer.step.step_size = posterior == PolicyPosterior::s2vgd ? 7e-4 : 3e-3;
    }
  }
  options.sampler = inference::SamplerChoice::of<inference::Optimizer<float>>(optimizer);
  options.svgd = {.kernel = kernel, .optimizer = optimizer};
  return options;
}

}  // namespace stein::agents
