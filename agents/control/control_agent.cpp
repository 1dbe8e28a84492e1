#include <stein/agents/control/control_agent.h>
#include <stein/core/error.h>
#include <stein/core/shuffle.h>
#include <stein/runs/repetitions.h>

#include <algorithm>
#include <cmath>

namespace stein::agents {
namespace {

constexpr double smallest_decay = 0.01;  // of a step size

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
  STEIN_CHECK(options.kernel_sees == KernelSees::weights || (stein && options.share_rollouts),
              "option 'kernel_sees': behaviour is that of a Stein posterior's particles at states which all of them "
              "learn from, expected share_rollouts=true, got {}",
              stein ? "false" : "a posterior without a kernel");
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
          .discount = options.discount,
          .staggered = options.staggered};
}

/// A value network computes and starts as the policy does.
ValueNetworkOptions value_options(const ControlAgentOptions& options) {
  ValueNetworkOptions value = options.value;
  value.initial_weights = options.policy.initial_weights;
  value.initial_spread = options.policy.initial_spread;
  value.arithmetic = options.policy.posterior.arithmetic;
  return value;
}

/// Where what is learned is found and the particles move: on the device of the rollouts, unless their networks cannot
/// be there, or a kernel looks at what they say on the host.
inference::Device learning_device(const ControlAgentOptions& options, inference::Device rollouts) {
  const bool there =
      policies::ControlPolicy::on_devices(policy_options(options)) && options.kernel_sees == KernelSees::weights;
  return there ? rollouts : inference::Device{};
}

/// Different streams of randomness for what one seed makes.
std::uint64_t part_of(std::uint64_t seed, std::uint64_t part) {
  return runs::derived_seed({.seed = seed, .step = part, .stream = Stream::initial_values}, 0xFFFFFFFF);
}

}  // namespace

ControlAgent::ControlAgent(const ControlAgentOptions& options, const envs::ControlEntry::Builder& environment,
                           std::uint64_t seed, inference::Device device)
    : options_(fitting(checked(options))),
      seed_(seed),
      policy_(policy_options(options), environment.spec(), part_of(seed, 0), learning_device(options, device)),
      rollouts_(environment, shape_of(options), part_of(seed, 1), device),
      baseline_(make_baseline(options.baseline, value_options(options), policy_.particle_count(),
                              policy_.observation_size(), part_of(seed, 2), options.shared_critic, policy_.device())),
      experience_({.discount = options.discount,
                   .gae_lambda = options.gae_lambda,
                   .horizon_is_an_end = options.learner == Learner::reinforce,
                   .normalize_advantages = options.normalize_advantages,
                   .normalize_together = options.shared_critic,
                   .normalize_rewards = options.normalize_rewards},
                  rollouts_),
      likelihoods_(policy_, experience_),
      shared_(options.importance_limit),
      learner_(options_, policy_, experience_, part_of(seed, 3)) {
  STEIN_CHECK(options.learner == Learner::reinforce || options.baseline == BaselineKind::network,
              "option 'baseline': only reinforce works without a value network");
}

bool ControlAgent::share_with(distributed::Communicator& ranks) {
  if (policy_.particle_count() == 1 && rollouts_.shards().size() == 1) return false;
  const inference::Device device = policy_.device();
  exchange_ = std::make_unique<inference::PartExchange>(ranks, device, inference::join_devices(ranks, device));
  learner_.share_with(*exchange_);
  rollouts_.share_with(ranks);
  experience_.share_with(ranks);
  likelihoods_.share_with(ranks);
  // For a kernel of behaviour every rank looks at what all particles would do.
  if (options_.kernel_sees == KernelSees::weights) shared_.share_with(ranks);
  baseline_->share_with(*exchange_);
  return true;
}

IterationReport ControlAgent::iterate(Measured measured) {
  IterationReport report;
  if (measured == Measured::yes) measures_ = &report.measures.emplace();
  const std::int64_t before = total_steps();
  decay_step_sizes();
  const std::optional<ValuedBy> valued_by = networks_to_value_with();
  rollouts_.collect(policy_, valued_by ? &*valued_by : nullptr);
  report.steps = total_steps() - before;
  for (const RolloutShard& shard : rollouts_.shards())
    report.episodes.insert(report.episodes.end(), shard.episodes.begin(), shard.episodes.end());
  experience_.take(rollouts_, policy_, *baseline_);
  look_before();
  if (options_.share_rollouts) {
    shared_.take(policy_, experience_.all());
    if (measures_ != nullptr) measures_->effective_share = shared_.effective_share();
  }
  bool moved = false;
  try {
    moved = update();
  } catch (const Error& error) {
    measures_ = nullptr;
    if (error.kind() != ErrorKind::numeric) throw;
    fail(ErrorKind::numeric, "seed {}, iteration {}: {}", seed_, iterations_, error.what());
  }
  if (measures_ != nullptr) measures_->change = likelihoods_.change(options_.clip_ratio);
  measures_ = nullptr;
  if (moved) {
    baseline_->refit(value_rows(experience_.all()));
    observe();
  }
  ++iterations_;
  return report;
}

/// Those of the baseline where rollouts are made on a device, which can value steps as it makes them, and make their
/// advantages unless these are of normalised rewards.
std::optional<ValuedBy> ControlAgent::networks_to_value_with() const {
  if (!rollouts_.on_device()) return {};
  std::optional<ValuedBy> networks = baseline_->networks();
  if (!networks) return {};
  networks->horizon_is_an_end = options_.learner == Learner::reinforce;
  if (!options_.normalize_rewards) networks->advantage = AdvantageStep::of(options_.discount, options_.gae_lambda);
  return networks;
}

/// Linearly in the steps taken, and never below 1 %, so that a longer run still moves.
void ControlAgent::decay_step_sizes() {
  double wanted = 1;
  if (options_.decay_steps > 0)
    wanted =
        std::max(1 - static_cast<double>(total_steps()) / static_cast<double>(options_.decay_steps), smallest_decay);
  constexpr std::int64_t most_halvings = 100;  // and far from the end of the numbers
  if (options_.step_half_life > 0)
    wanted = std::ldexp(wanted, -static_cast<int>(std::min(iterations_ / options_.step_half_life, most_halvings)));
  if (wanted == decay_) return;
  learner_.scale_step_size(wanted / decay_);
  baseline_->scale_step_size(wanted / decay_);
  decay_ = wanted;
}

/// Before the policies move: log π(a | o) of what was done, and where it is measured what policies and baseline are
/// like.
void ControlAgent::look_before() {
  if (measures_ == nullptr) {
    if (options_.clip_ratio > 0 || options_.share_rollouts) likelihoods_.look();
    return;
  }
  likelihoods_.look(*measures_);
  measures_->explained_variance = experience_.explained_variance();
  measures_->value_loss = experience_.value_loss();
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
  using Outcome = PolicyLearner::Outcome;
  baseline_has_seen_ = false;
  if (options_.minibatches == 1) {
    for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch)
      if (const Outcome outcome = step(experience_.all()); outcome != Outcome::moved)
        return outcome != Outcome::went_back;
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
      const std::span<const std::int64_t> chosen(order.data() + begin, static_cast<std::size_t>(end - begin));
      const Outcome outcome = step(experience_.pick(chosen), chosen);
      if (outcome != Outcome::moved) return outcome != Outcome::went_back;
    }
  }
  return true;
}

/// One update of all policies and of the baseline. Where the policies went back to earlier ones, which have not made
/// these rollouts, the baseline learns nothing. `own` are rows of every particle's own rollouts, those that are
/// `chosen`.
PolicyLearner::Outcome ControlAgent::step(const ExperienceRows& own, std::span<const std::int64_t> chosen) {
  const ExperienceRows& rows = options_.share_rollouts ? shared_.pool(own, chosen) : own;
  const PolicyLearner::Outcome outcome = learner_.update(rows, iterations_, measures_);
  if (outcome == PolicyLearner::Outcome::went_back) return outcome;
  if (!baseline_has_seen_) baseline_->observe(value_rows(experience_.all()));
  baseline_has_seen_ = true;
  baseline_->learn(value_rows(own));
  return outcome;
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
  snapshot.put_saved("sampler", learner_);
  snapshot.put_saved("rewards", experience_);
  snapshot.put("decay", decay_);
}

void ControlAgent::restore(const Snapshot& snapshot) {
  iterations_ = snapshot.get_scalar<std::int64_t>("iterations");
  policy_.restore(snapshot.part("policy"));
  rollouts_.restore(snapshot.part("rollouts"));
  baseline_->restore(snapshot.part("baseline"));
  learner_.restore(snapshot.part("sampler"));
  experience_.restore(snapshot.part("rewards"));
  decay_ = snapshot.contains("decay") ? snapshot.get_scalar<double>("decay") : 1;  // older checkpoints: constant steps
}

}  // namespace stein::agents
