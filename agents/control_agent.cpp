#include <stein/agents/advantages.h>
#include <stein/agents/control_agent.h>
#include <stein/agents/repetitions.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/optimizer.h>
#include <stein/inference/svgd.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace stein::agents {
namespace {

using inference::MatrixView;

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
        "s2vgd", {"the same on the factors of matrix-Gaussian weights (Zhang et al. 2018)", PolicyPosterior::s2vgd});

policies::ControlPolicy::Options policy_options(const ControlAgentOptions& options) {
  policies::ControlPolicy::Options policy = options.policy;
  policy.particles = options.posterior == PolicyPosterior::none ? 1 : options.particles;
  return policy;
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
  return derived_seed({.seed = seed, .step = part, .stream = Stream::initial_values}, 0xFFFFFFFF);
}

float* resized(std::vector<float>& numbers, std::int64_t size) {
  numbers.resize(static_cast<std::size_t>(size));
  return numbers.data();
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
  const bool stein = posterior == PolicyPosterior::svgd || posterior == PolicyPosterior::s2vgd;
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
    options.alpha = 1e-4;
    options.policy.initial_correlation = 0.999;
    kernel.kernel = inference::SvgdKernel::imq;
    if (learner == Learner::a2c) {
      options.slots = 1, options.steps = 32;
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
    : options_(checked(options)),
      seed_(seed),
      policy_(policy_options(options), environment.spec(), part_of(seed, 0)),
      rollouts_(environment, shape_of(options), part_of(seed, 1)),
      baseline_(make_baseline(options.baseline, value_options(options), policy_.particle_count(),
                              policy_.observation_size(), part_of(seed, 2))),
      objective_(policy_.distribution(), options.entropy_weight, options.clip_ratio),
      sampler_(options.sampler.make(policy_.particle_count(), policy_.particles().size(), part_of(seed, 3))) {
  STEIN_CHECK(options.learner == Learner::reinforce || options.baseline == BaselineKind::network,
              "option 'baseline': only reinforce works without a value network");
  const std::size_t shards = rollouts_.shards().size();
  running_returns_.resize(shards), rewards_.resize(shards), advantages_.resize(shards), gathered_.resize(shards);
  for (std::size_t i = 0; i < shards; ++i)
    running_returns_[i].resize(static_cast<std::size_t>(rollouts_.shards()[i].slots));
}

double ControlAgent::alpha() const {
  if (options_.policy.posterior.flat_prior) return 1;
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
  gather();
  score_rewards();
  estimate_advantages();
  report.entropy = score_densities();
  try {
    update();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numeric) throw;
    fail(ErrorKind::numeric, "seed {}, iteration {}: {}", seed_, iterations_, error.what());
  }
  baseline_->refit(value_rows(all_));
  for (const RolloutShard& shard : rollouts_.shards())
    policy_.observe({shard.observations.data(), shard.rows(), policy_.observation_size()});
  ++iterations_;
  return report;
}

/// Brings the rows that count together, particle by particle, in the order shard, step, slot.
void ControlAgent::gather() {
  const std::int64_t m = policy_.particle_count(), seen = policy_.observation_size(),
                     act = policy_.distribution().actions();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(m));
  for (const RolloutShard& shard : rollouts_.shards())
    for (std::int64_t row = 0; row < shard.rows(); ++row)
      counts[static_cast<std::size_t>(shard.particle)] += shard.counts[static_cast<std::size_t>(row)] != 0 ? 1 : 0;
  all_.rows = *std::ranges::max_element(counts);
  const std::int64_t rows = m * all_.rows;
  std::fill_n(resized(all_.observations, rows * seen), rows * seen, 0.0F);
  std::fill_n(resized(all_.actions, rows * act), rows * act, 0.0F);
  for (auto* numbers : {&all_.times, &all_.scale, &all_.advantages, &all_.targets, &all_.log_density})
    std::fill_n(resized(*numbers, rows), rows, 0.0F);

  std::vector<std::int64_t> next(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < m; ++i) next[static_cast<std::size_t>(i)] = i * all_.rows;
  for (std::size_t index = 0; index < gathered_.size(); ++index) {
    const RolloutShard& shard = rollouts_.shards()[index];
    gathered_[index].assign(static_cast<std::size_t>(shard.rows()), -1);
    for (std::int64_t row = 0; row < shard.rows(); ++row) {
      const auto from = static_cast<std::size_t>(row);
      if (shard.counts[from] == 0) continue;
      const std::int64_t to = next[static_cast<std::size_t>(shard.particle)]++;
      gathered_[index][from] = to;
      policy_.present({shard.observations.data() + row * seen, 1, seen},
                      {all_.observations.data() + to * seen, 1, seen});
      std::copy_n(shard.actions.data() + row * act, act, all_.actions.data() + to * act);
      all_.times[static_cast<std::size_t>(to)] = shard.times[from];
      all_.scale[static_cast<std::size_t>(to)] =
          1 / static_cast<float>(counts[static_cast<std::size_t>(shard.particle)]);
    }
  }
}

/// The rewards that are learned from, by shard.
void ControlAgent::score_rewards() {
  for (std::size_t index = 0; index < rewards_.size(); ++index) {
    const RolloutShard& shard = rollouts_.shards()[index];
    rewards_[index].assign(shard.rewards.begin(), shard.rewards.begin() + shard.rows());
    if (!options_.normalize_rewards) continue;
    const auto n = static_cast<std::size_t>(shard.slots);
    std::vector<float>& running = running_returns_[index];
    for (std::size_t row = 0; row < rewards_[index].size(); ++row) {
      if (shard.counts[row] == 0) continue;
      float& sum = running[row % n];
      sum = static_cast<float>(options_.discount) * sum + shard.rewards[row];
      reward_moments_.add({&sum, 1, 1});
      if (shard.terminated[row] + shard.truncated[row] > 0) sum = 0;
    }
  }
  if (!options_.normalize_rewards) return;
  const auto scale = static_cast<float>(1 / std::sqrt(reward_moments_.variance(0) + 1e-8));
  for (std::vector<float>& rewards : rewards_)
    for (float& reward : rewards) reward = std::clamp(reward * scale, -10.0F, 10.0F);
}

void ControlAgent::estimate_advantages() {
  parallel_for(std::ssize(advantages_), [&](std::int64_t i) {
    estimate_shard(rollouts_.shards()[static_cast<std::size_t>(i)], static_cast<std::size_t>(i));
  });
  if (!options_.normalize_advantages) return;
  const auto n = static_cast<std::size_t>(all_.rows);
  for (std::size_t i = 0; i < static_cast<std::size_t>(policy_.particle_count()); ++i)
    standardise({all_.advantages.data() + i * n, n}, {all_.scale.data() + i * n, n});
}

/// Values, advantages and returns of one shard, written to where its rows were gathered.
void ControlAgent::estimate_shard(const RolloutShard& shard, std::size_t index) {
  const std::int64_t seen = policy_.observation_size(), rows = shard.rows(), slots = shard.slots;
  const auto count = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(slots);
  const bool horizon_is_an_end = options_.learner == Learner::reinforce;
  thread_local std::vector<float> presented, values, next_values, ends, final_values, last_values, times;
  const auto value_of = [&](const std::vector<float>& observations, std::int64_t k, std::span<const float> at_times,
                            std::vector<float>& to) {
    const MatrixView<float> seen_rows{resized(presented, k * seen), k, seen};
    policy_.present({observations.data(), k, seen}, seen_rows);
    resized(to, k);
    if (k > 0) baseline_->predict(shard.particle, seen_rows, at_times, to);
  };
  value_of(shard.observations, rows, {shard.times.data(), count}, values);
  next_values.resize(count), ends.resize(count);
  std::copy(values.begin() + slots, values.begin() + rows, next_values.begin());
  if (horizon_is_an_end) {
    std::fill(next_values.end() - slots, next_values.end(), 0.0F);
  } else {
    value_of(shard.next_observations, slots, shard.episode_times, last_values);
    std::ranges::copy(last_values, next_values.end() - slots);
    // A value network does not look at the time.
    times.assign(shard.final_rows.size(), 0.0F);
    value_of(shard.final_observations, std::ssize(shard.final_rows), times, final_values);
  }
  for (std::size_t row = 0; row < count; ++row) {
    ends[row] = shard.terminated[row] + shard.truncated[row];
    if (ends[row] > 0) next_values[row] = 0;
  }
  if (!horizon_is_an_end)
    for (std::size_t k = 0; k < shard.final_rows.size(); ++k)
      next_values[static_cast<std::size_t>(shard.final_rows[k])] = final_values[k];

  std::vector<float>& advantages = advantages_[index];
  advantages.resize(count);
  generalised_advantages({.slots = static_cast<std::int64_t>(n),
                          .rewards = rewards_[index],
                          .values = values,
                          .next_values = next_values,
                          .ends = ends},
                         options_.discount, options_.gae_lambda, advantages);
  for (std::size_t row = 0; row < count; ++row) {
    const std::int64_t to = gathered_[index][row];
    if (to < 0) continue;
    all_.advantages[static_cast<std::size_t>(to)] = advantages[row];
    all_.targets[static_cast<std::size_t>(to)] = advantages[row] + values[row];
  }
}

/// log π(a | o) of what was done, before the policies move; returns their entropy.
double ControlAgent::score_densities() {
  const std::int64_t m = policy_.particle_count(), n = all_.rows, seen = policy_.observation_size(),
                     act = policy_.distribution().actions(), k = policy_.distribution().outputs();
  std::vector<double> entropies(static_cast<std::size_t>(m));
  parallel_for(m, [&](std::int64_t i) {
    thread_local std::vector<float> outputs;
    const auto parameters =
        policy_.parameters(i, {all_.observations.data() + i * n * seen, n, seen}, {resized(outputs, n * k), n, k});
    // Those that count come first.
    const auto scale = std::span(all_.scale).subspan(static_cast<std::size_t>(i * n), static_cast<std::size_t>(n));
    const std::int64_t counted = std::ranges::count_if(scale, [](float c) { return c != 0; });
    entropies[static_cast<std::size_t>(i)] =
        policy_.distribution().mean_entropy({parameters.outputs.block(0, counted), parameters.constants});
    if (options_.clip_ratio > 0)
      policy_.distribution().log_density(parameters, {all_.actions.data() + i * n * act, n, act},
                                         {all_.log_density.data() + i * n, static_cast<std::size_t>(n)});
  });
  double mean = 0;
  for (const double entropy : entropies) mean += entropy / static_cast<double>(m);
  return mean;
}

ValueRows ControlAgent::value_rows(const Collected& rows) const {
  const std::int64_t m = policy_.particle_count(), seen = policy_.observation_size();
  return {.particles = m,
          .rows = rows.rows,
          .observations = {rows.observations.data(), m * rows.rows, seen},
          .times = rows.times,
          .targets = rows.targets,
          .scale = rows.scale};
}

void ControlAgent::update() {
  if (options_.minibatches == 1) {
    for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) step(all_);
    return;
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(all_.rows));
  for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
    Draws draws({.seed = seed_,
                 .step = static_cast<std::uint64_t>(iterations_ * options_.epochs + epoch),
                 .stream = Stream::minibatch},
                0);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    for (std::size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[draws.integer(static_cast<std::uint32_t>(i + 1))]);
    for (std::int64_t part = 0; part < options_.minibatches; ++part) {
      const std::int64_t begin = part * all_.rows / options_.minibatches,
                         end = (part + 1) * all_.rows / options_.minibatches;
      if (begin == end) continue;
      pick({order.data() + begin, static_cast<std::size_t>(end - begin)});
      step(minibatch_);
    }
  }
}

/// Copies these rows of every particle to `minibatch_`.
void ControlAgent::pick(std::span<const std::int64_t> chosen) {
  const std::int64_t m = policy_.particle_count(), seen = policy_.observation_size(),
                     act = policy_.distribution().actions(), n = std::ssize(chosen);
  minibatch_.rows = n;
  resized(minibatch_.observations, m * n * seen), resized(minibatch_.actions, m * n * act);
  const auto columns = [](Collected& rows) {
    return std::array{&rows.times, &rows.scale, &rows.advantages, &rows.targets, &rows.log_density};
  };
  const auto from = columns(all_), to = columns(minibatch_);
  for (auto* numbers : to) resized(*numbers, m * n);
  const float larger = static_cast<float>(all_.rows) / static_cast<float>(n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t old = i * all_.rows + chosen[static_cast<std::size_t>(k)], place = i * n + k;
      std::copy_n(all_.observations.data() + old * seen, seen, minibatch_.observations.data() + place * seen);
      std::copy_n(all_.actions.data() + old * act, act, minibatch_.actions.data() + place * act);
      for (std::size_t column = 0; column < to.size(); ++column)
        (*to[column])[static_cast<std::size_t>(place)] = (*from[column])[static_cast<std::size_t>(old)];
      minibatch_.scale[static_cast<std::size_t>(place)] *= larger;
    }
}

/// One update of all policies and of the baseline.
void ControlAgent::step(const Collected& rows) {
  const std::int64_t m = policy_.particle_count(), n = rows.rows, act = policy_.distribution().actions();
  scale_.resize(rows.scale.size());
  for (std::int64_t i = 0; i < m; ++i) {
    // 1/(rows) becomes 1/(α rows), or 1/(α paths).
    double factor = 1 / alpha();
    if (!options_.policy.posterior.flat_prior && options_.gradient_scale == GradientScale::per_episode)
      factor *= steps_per_path(i);
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
  sampler_.step(policy_.particles(), policy_.posterior(), batch);
  policy_.refresh();
  baseline_->learn(value_rows(rows));
}

/// Rows of particle i for one path: what a mean over steps is multiplied with to be a mean over paths.
double ControlAgent::steps_per_path(std::int64_t i) const {
  double steps = 0, paths = 0;
  for (const RolloutShard& shard : rollouts_.shards()) {
    if (shard.particle != i) continue;
    paths += static_cast<double>(shard.episodes.size());
    for (std::int64_t row = 0; row < shard.rows(); ++row) steps += double{shard.counts[static_cast<std::size_t>(row)]};
  }
  return steps / std::max(paths, 1.0);
}

void ControlAgent::save(Snapshot& snapshot) const {
  Snapshot policy, rollouts, baseline, sampler, rewards;
  policy_.save(policy);
  rollouts_.save(rollouts);
  baseline_->save(baseline);
  sampler_.save(sampler);
  reward_moments_.save(rewards);
  for (std::size_t i = 0; i < running_returns_.size(); ++i)
    rewards.put("returns" + std::to_string(i), running_returns_[i]);
  snapshot.put("iterations", iterations_);
  snapshot.put_part("policy", policy);
  snapshot.put_part("rollouts", rollouts);
  snapshot.put_part("baseline", baseline);
  snapshot.put_part("sampler", sampler);
  snapshot.put_part("rewards", rewards);
}

void ControlAgent::restore(const Snapshot& snapshot) {
  iterations_ = snapshot.get_scalar<std::int64_t>("iterations");
  policy_.restore(snapshot.part("policy"));
  rollouts_.restore(snapshot.part("rollouts"));
  baseline_->restore(snapshot.part("baseline"));
  sampler_.restore(snapshot.part("sampler"));
  const Snapshot rewards = snapshot.part("rewards");
  reward_moments_.restore(rewards);
  for (std::size_t i = 0; i < running_returns_.size(); ++i)
    rewards.get("returns" + std::to_string(i), std::span(running_returns_[i]));
}

}  // namespace stein::agents
