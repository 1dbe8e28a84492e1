#include <stein/agents/control/control_agent.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/core/shuffle.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/runs/repetitions.h>

#include <algorithm>
#include <cmath>

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

/// Of a slot in an iteration of A2C: forces show what they were good for later than choices do.
constexpr std::int64_t continuous_steps = 128;

/// Beyond it squares of gradients, which step size rules look at, are no single-precision numbers any more.
constexpr double largest_inverse_alpha = 1e15;

policies::ControlPolicy::Options policy_options(const ControlAgentOptions& options) {
  policies::ControlPolicy::Options policy = options.policy;
  policy.particles = options.posterior == PolicyPosterior::none ? 1 : options.particles;
  return policy;
}

/// Throws Error(usage) if posterior, prior, form of the weights and sampler do not belong together.
const ControlAgentOptions& fitting(const ControlAgentOptions& options) {
  const bool stein = is_stein(options.posterior);
  STEIN_CHECK(stein || options.policy.posterior.flat_prior,
              "posteriors none and independent have no prior: expected policy.posterior.flat_prior, as default_options "
              "sets it");
  STEIN_CHECK((options.policy.posterior.parameterization == inference::WeightForm::matrix_gaussian) ==
                  (options.posterior == PolicyPosterior::s2vgd),
              "posterior s2vgd, and no other, moves factors of matrix-Gaussian weights, as default_options sets it");
  STEIN_CHECK(options.minibatches <= options.slots * options.steps,
              "option 'minibatches': expected at most one a step, {} x {}, got {}", options.slots, options.steps,
              options.minibatches);
  return options;
}

RolloutShape shape_of(const ControlAgentOptions& options) {
  return {.particles = policy_options(options).particles,
          .slots = options.slots,
          .steps = options.steps,
          .whole_paths = options.learner == Learner::reinforce,
          .discount = options.discount};
}

/// A value network computes as the policy does.
ValueNetworkOptions value_options(const ControlAgentOptions& options) {
  ValueNetworkOptions value = options.value;
  value.arithmetic = options.policy.posterior.arithmetic;
  return value;
}

/// Different streams of randomness for what one seed makes.
std::uint64_t part_of(std::uint64_t seed, std::uint64_t part) {
  return runs::derived_seed({.seed = seed, .step = part, .stream = Stream::initial_values}, 0xFFFFFFFF);
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

ControlAgentOptions default_options(Learner learner, PolicyPosterior posterior, bool discrete) {
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
      options.steps = discrete ? 16 : continuous_steps;
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
      options.slots = 1, options.steps = discrete ? 32 : continuous_steps;
      // Of factors a smaller step, as a change of one moves the whole matrix.
      optimizer.step.step_size = posterior == PolicyPosterior::s2vgd ? 7e-4 : 3e-3;
    }
  }
  options.sampler =
      stein ? inference::SamplerChoice::of<inference::Svgd<float>>({.kernel = kernel, .optimizer = optimizer})
            : inference::SamplerChoice::of<inference::Optimizer<float>>(optimizer);
  return options;
}

ControlAgent::ControlAgent(const ControlAgentOptions& options, const envs::ControlEntry::Builder& environment,
                           std::uint64_t seed)
    : options_(fitting(checked(options))),
      seed_(seed),
      policy_(policy_options(options), environment.spec(), part_of(seed, 0)),
      rollouts_(environment, shape_of(options), part_of(seed, 1)),
      baseline_(make_baseline(options.baseline, value_options(options), policy_.particle_count(),
                              policy_.observation_size(), part_of(seed, 2))),
      experience_({.discount = options.discount,
                   .gae_lambda = options.gae_lambda,
                   .horizon_is_an_end = options.learner == Learner::reinforce,
                   .normalize_advantages = options.normalize_advantages,
                   .normalize_rewards = options.normalize_rewards},
                  rollouts_),
      objective_(policy_.distribution(), options.entropy_weight, options.clip_ratio),
      sampler_(
          options.sampler.make(policy_.particles().ensemble(part_of(seed, 3), options.policy.posterior.arithmetic)), {},
          inference::AfterRollback::wait) {
  STEIN_CHECK(
      (sampler_.name() == "svgd") == is_stein(options.posterior),
      "posteriors svgd and s2vgd, and no others, are moved by the sampler 'svgd', as default_options sets it; got "
      "'{}'",
      sampler_.name());
  STEIN_CHECK(options.learner == Learner::reinforce || options.baseline == BaselineKind::network,
              "option 'baseline': only reinforce works without a value network");
}

double ControlAgent::alpha() const {
  if (!is_stein(options_.posterior)) return 1;
  const double half_life = options_.alpha_half_life;
  return options_.alpha * (half_life > 0 ? std::exp2(-static_cast<double>(iterations_) / half_life) : 1);
}

IterationReport ControlAgent::iterate() {
  IterationReport report;
  const std::int64_t before = total_steps();
  rollouts_.collect(policy_);
  report.steps = total_steps() - before;
  for (const RolloutShard& shard : rollouts_.shards())
    report.episodes.insert(report.episodes.end(), shard.episodes.begin(), shard.episodes.end());
  experience_.take(rollouts_, policy_, *baseline_);
  report.entropy = entropy_and_densities();
  bool moved = false;
  try {
    moved = update();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numeric) throw;
    fail(ErrorKind::numeric, "seed {}, iteration {}: {}", seed_, iterations_, error.what());
  }
  if (moved) {
    baseline_->refit(value_rows(experience_.all()));
    observe();
  }
  ++iterations_;
  return report;
}

/// The entropy of the policies before they move, and for a clipped surrogate log π(a | o) of what was done.
double ControlAgent::entropy_and_densities() {
  ExperienceRows& all = experience_.all();
  const std::int64_t m = policy_.particle_count(), n = all.rows, seen = policy_.observation_size(),
                     act = policy_.distribution().actions(), k = policy_.distribution().outputs();
  std::vector<double> entropies(static_cast<std::size_t>(m));
  parallel_for(m, [&](std::int64_t i) {
    thread_local std::vector<float> outputs;
    outputs.resize(static_cast<std::size_t>(n * k));
    const auto parameters =
        policy_.parameters(i, {all.observations.data() + i * n * seen, n, seen}, {outputs.data(), n, k});
    // Those that count come first.
    const auto scale = std::span(all.scale).subspan(static_cast<std::size_t>(i * n), static_cast<std::size_t>(n));
    const std::int64_t counted = std::ranges::count_if(scale, [](float c) { return c != 0; });
    entropies[static_cast<std::size_t>(i)] =
        policy_.distribution().mean_entropy({parameters.outputs.block(0, counted), parameters.constants});
    if (options_.clip_ratio > 0)
      policy_.distribution().log_density(parameters, {all.actions.data() + i * n * act, n, act},
                                         {all.log_density.data() + i * n, static_cast<std::size_t>(n)});
  });
  double mean = 0;
  for (const double entropy : entropies) mean += entropy / static_cast<double>(m);
  return mean;
}

ValueRows ControlAgent::value_rows(const ExperienceRows& rows) const {
  const std::int64_t m = policy_.particle_count(), seen = policy_.observation_size();
  return {.particles = m,
          .rows = rows.rows,
          .observations = {rows.observations.data(), m * rows.rows, seen},
          .times = rows.times,
          .targets = rows.targets,
          .scale = rows.scale};
}

/// All updates from what was collected; false where the policies went back.
bool ControlAgent::update() {
  if (options_.minibatches == 1) {
    for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch)
      if (!step(experience_.all())) return false;
    return true;
  }
  const std::int64_t rows = experience_.all().rows;
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
    Draws draws({.seed = seed_,
                 .step = static_cast<std::uint64_t>(iterations_ * options_.epochs + epoch),
                 .stream = Stream::minibatch},
                0);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    shuffle(std::span(order), draws);
    for (std::int64_t part = 0; part < options_.minibatches; ++part) {
      const std::int64_t begin = part * rows / options_.minibatches, end = (part + 1) * rows / options_.minibatches;
      if (begin == end) continue;
      if (!step(experience_.pick({order.data() + begin, static_cast<std::size_t>(end - begin)}))) return false;
    }
  }
  return true;
}

/// One update of all policies and of the baseline; false where the policies went back to earlier ones, which have not
/// made these rollouts.
bool ControlAgent::step(const ExperienceRows& rows) {
  const std::int64_t m = policy_.particle_count(), n = rows.rows, act = policy_.distribution().actions();
  scale_.resize(rows.scale.size());
  const double inverse_alpha = 1 / alpha();
  if (!(inverse_alpha < largest_inverse_alpha))
    fail(ErrorKind::numeric,
         "alpha has been halved from {} to {} and the gradient of J/α leaves the range of the numbers: expected a "
         "longer alpha_half_life than {} iterations",
         options_.alpha, alpha(), options_.alpha_half_life);
  for (std::int64_t i = 0; i < m; ++i) {
    // 1/(rows) becomes 1/(α rows), or 1/(α paths).
    double factor = inverse_alpha;
    if (options_.gradient_scale == GradientScale::per_episode) factor *= experience_.steps_per_path(i);
    for (std::int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<std::size_t>(i * n + k);
      const double weight = options_.discount_weight ? std::pow(options_.discount, double{rows.times[at]}) : 1;
      scale_[at] = static_cast<float>(factor * weight * double{rows.scale[at]});
    }
  }
  objective_.set_rows({.rows = n,
                       .actions = {rows.actions.data(), m * n, act},
                       .advantages = rows.advantages,
                       .scale = scale_,
                       .log_density = rows.log_density});
  const inference::Batch<float> batch{
      .inputs = {.dense = {rows.observations.data(), m * n, policy_.observation_size()}},
      .inputs_per_particle = true,
      .rows = n,
      .data_size = static_cast<double>(n),
      .score = &objective_};
  const bool went_back = sampler_.step(policy_.particles(), policy_.posterior(), batch).went_back;
  policy_.refresh();
  if (went_back) return false;
  baseline_->learn(value_rows(rows));
  return true;
}

/// The running statistics of the observations see the rows that count.
void ControlAgent::observe() {
  const std::int64_t seen = policy_.observation_size();
  for (const RolloutShard& shard : rollouts_.shards()) {
    const auto counts = [&](std::int64_t row) { return shard.counts[static_cast<std::size_t>(row)] != 0; };
    for (std::int64_t begin = 0, end = 0; begin < shard.rows(); begin = end) {
      for (end = begin + 1; end < shard.rows() && counts(end) == counts(begin);) ++end;
      if (counts(begin)) policy_.observe({shard.observations.data() + begin * seen, end - begin, seen});
    }
  }
}

void ControlAgent::save(Snapshot& snapshot) const {
  snapshot.put("iterations", iterations_);
  snapshot.put_saved("policy", policy_);
  snapshot.put_saved("rollouts", rollouts_);
  snapshot.put_saved("baseline", *baseline_);
  snapshot.put_saved("sampler", sampler_);
  snapshot.put_saved("rewards", experience_);
}

void ControlAgent::restore(const Snapshot& snapshot) {
  iterations_ = snapshot.get_scalar<std::int64_t>("iterations");
  policy_.restore(snapshot.part("policy"));
  rollouts_.restore(snapshot.part("rollouts"));
  baseline_->restore(snapshot.part("baseline"));
  sampler_.restore(snapshot.part("sampler"));
  experience_.restore(snapshot.part("rewards"));
}

}  // namespace stein::agents
