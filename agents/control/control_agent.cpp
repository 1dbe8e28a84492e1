#include <stein/agents/control/control_agent.h>
#include <stein/core/error.h>
#include <stein/core/shuffle.h>
#include <stein/distributed/shared_work.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/runs/repetitions.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stein::agents {
namespace {

using inference::MatrixView;

/// Beyond it squares of gradients, which step size rules look at, are no single-precision numbers any more.
constexpr double largest_inverse_alpha = 1e15;

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

/// Particles climb through a kernel of their weights, or each along what a kernel of their behaviours has made of it.
std::unique_ptr<inference::Sampler<float>> make_sampler(const ControlAgentOptions& options,
                                                        const inference::Ensemble& ensemble) {
  if (!is_stein(options.posterior)) return options.sampler.make(ensemble);
  if (options.kernel_sees == KernelSees::behaviour)
    return std::make_unique<inference::Optimizer<float>>(options.svgd.optimizer, ensemble);
  return std::make_unique<inference::Svgd<float>>(options.svgd, ensemble);
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
      objective_(policy_.distribution(), options.entropy_weight, options.clip_ratio, policy_.device()),
      sampler_(watched(make_sampler(
                   options, policy_.particles().ensemble(part_of(seed, 3), options.policy.posterior.arithmetic))),
               {}, inference::AfterRollback::wait) {
  STEIN_CHECK(is_stein(options.posterior) || sampler_.name() != "svgd",
              "posteriors none and independent have particles that learn on their own, expected another sampler than "
              "'svgd'");
  if (options.kernel_sees == KernelSees::behaviour) behaviour_.emplace(options.svgd.kernel);
  STEIN_CHECK(options.learner == Learner::reinforce || options.baseline == BaselineKind::network,
              "option 'baseline': only reinforce works without a value network");
}

double ControlAgent::alpha() const {
  if (!is_stein(options_.posterior)) return 1;
  const double half_life = options_.alpha_half_life;
  return options_.alpha * (half_life > 0 ? std::exp2(-static_cast<double>(iterations_) / half_life) : 1);
}

/// Norms of gradients are looked at where the sampler asks for them.
std::unique_ptr<inference::Sampler<float>> ControlAgent::watched(std::unique_ptr<inference::Sampler<float>> sampler) {
  gradients_ = dynamic_cast<inference::GradientSampler<float>*>(sampler.get());
  STEIN_CHECK(gradients_ != nullptr, "control agents are moved by samplers of one gradient a step, got '{}'",
              sampler->name());
  gradients_->observe_gradients([this](const inference::Particles<float>& particles) { watch_gradients(particles); },
                                [this](std::int64_t) { return measures_ != nullptr; });
  return sampler;
}

bool ControlAgent::share_with(distributed::Communicator& ranks) {
  if (policy_.particle_count() == 1 && rollouts_.shards().size() == 1) return false;
  const inference::Device device = policy_.device();
  exchange_ = std::make_unique<inference::PartExchange>(ranks, device, inference::join_devices(ranks, device));
  shared_target_.emplace(policy_.target(), *exchange_);
  rollouts_.share_with(ranks);
  experience_.share_with(ranks);
  likelihoods_.share_with(ranks);
  if (!behaviour_) shared_.share_with(ranks);  // for which every rank looks at what all particles would do
  baseline_->share_with(*exchange_);
  return true;
}

inference::Target<float>& ControlAgent::target() {
  return shared_target_ ? static_cast<inference::Target<float>&>(*shared_target_) : policy_.target();
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
  if (options_.decay_steps == 0) return;
  const double done = static_cast<double>(total_steps()) / static_cast<double>(options_.decay_steps);
  const double wanted = std::max(1 - done, smallest_decay);
  if (wanted == decay_) return;
  sampler_.scale_step_size(wanted / decay_);
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

/// Before an update: what prior and repulsion will add to it.
void ControlAgent::look_at_forces(const inference::Batch<float>& batch) {
  forces_.reset();
  if (measures_ == nullptr || measures_->parts || !is_stein(options_.posterior)) return;
  forces_.emplace(target(), policy_.particles(), batch);
  if (behaviour_) forces_->take_repulsion(target(), policy_.particles(), batch, behaviour_->repulsion());
}

/// Of an iteration that is measured. The particles are where the gradient was taken, and it is not clipped yet.
void ControlAgent::watch_gradients(const inference::Particles<float>& particles) {
  if (forces_) forces_->take_gradients(particles);
  const inference::Matrix<float> gradients = inference::host_copy<float>(particles.gradients(), particles.device());
  double sum = 0;
  for (std::int64_t i = 0; i < particles.rows(); ++i) {
    double square = 0;
    for (const float number : gradients.row(i)) square += double{number} * double{number};
    sum += std::sqrt(square);
  }
  measures_->gradient_norm = sum / static_cast<double>(particles.rows());
  measures_->step_size = gradients_->schedule().step_size(gradients_->steps());
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
  baseline_has_seen_ = false;
  if (options_.minibatches == 1) {
    for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch)
      if (const Update made = step(experience_.all()); made != Update::made) return made == Update::last;
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
      const Update made = step(experience_.pick(chosen), chosen);
      if (made != Update::made) return made == Update::last;
    }
  }
  return true;
}

/// One update of all policies and of the baseline. Where the policies went back to earlier ones, which have not made
/// these rollouts, the baseline learns nothing. `own` are rows of every particle's own rollouts, those that are
/// `chosen`.
ControlAgent::Update ControlAgent::step(const ExperienceRows& own, std::span<const std::int64_t> chosen) {
  const ExperienceRows& rows = options_.share_rollouts ? shared_.pool(own, chosen) : own;
  const std::int64_t m = policy_.particle_count(), n = rows.rows, act = policy_.distribution().actions();
  const distributed::PartRange learners = learners_here();
  scale_.resize(rows.scale.size());
  const double inverse_alpha = 1 / alpha();
  if (!(inverse_alpha < largest_inverse_alpha))
    fail(ErrorKind::numeric,
         "alpha has been halved from {} to {} and the gradient of J/α leaves the range of the numbers: expected a "
         "longer alpha_half_life than {} iterations",
         options_.alpha, alpha(), options_.alpha_half_life);
  for (std::int64_t i = learners.first; i < learners.end; ++i) {
    // 1/(rows) becomes 1/(α rows), or 1/(α paths).
    double factor = inverse_alpha;
    if (options_.gradient_scale == GradientScale::per_episode) factor *= experience_.steps_per_path(i);
    for (std::int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<std::size_t>(i * n + k);
      const double weight = options_.discount_weight ? std::pow(options_.discount, double{rows.times[at]}) : 1;
      scale_[at] = static_cast<float>(factor * weight * double{rows.scale[at]});
    }
  }
  log_ratio_.resize(options_.target_kl > 0 ? rows.scale.size() : 0);
  objective_.set_rows({.rows = n,
                       .actions = {rows.actions.data(), m * n, act},
                       .advantages = rows.advantages,
                       .scale = scale_,
                       .log_density = rows.log_density,
                       .log_ratio = log_ratio_});
  const inference::Batch<float> batch{
      .inputs = {.dense = {rows.observations.data(), m * n, policy_.observation_size()}},
      .inputs_per_particle = true,
      .rows = n,
      .data_size = static_cast<double>(n),
      .score = &score_of(rows)};
  look_at_forces(batch);
  const bool went_back = move(batch);
  policy_.refresh();
  objective_.wait();
  if (forces_ && !went_back) measures_->parts = forces_->parts(behaviour_ ? nullptr : &options_.svgd.kernel);
  forces_.reset();
  if (went_back) return Update::went_back;
  if (!baseline_has_seen_) baseline_->observe(value_rows(experience_.all()));
  baseline_has_seen_ = true;
  baseline_->learn(value_rows(own));
  return options_.target_kl > 0 && approximate_kl(rows) > 1.5 * options_.target_kl ? Update::last : Update::made;
}

/// One step of the particles, known to its end. @returns whether they went back to earlier ones
bool ControlAgent::move(const inference::Batch<float>& batch) {
  const inference::StepReport report = sampler_.step(policy_.particles(), target(), batch);
  if (report.settled) return report.went_back;
  return sampler_.settle(policy_.particles(), target(), batch).went_back || report.went_back;
}

/// What an update climbs. All particles have the same rows where the kernel sees behaviour; the one that acted counts
/// every row but those that fill up.
const inference::OutputScore<float>& ControlAgent::score_of(const ExperienceRows& rows) {
  if (!behaviour_) return objective_;
  const auto n = static_cast<std::size_t>(rows.rows);
  counts_.assign(n, 0);
  for (std::size_t at = 0; at < rows.scale.size(); ++at)
    if (rows.scale[at] != 0) counts_[at % n] = 1;
  behaviour_->look_at(policy_, {rows.observations.data(), rows.rows, policy_.observation_size()}, counts_, objective_);
  return behaviour_->score();
}

/// The particles whose rows of an update this process needs: of those alone it makes gradients.
distributed::PartRange ControlAgent::learners_here() const {
  if (behaviour_) return {.first = 0, .end = policy_.particle_count()};
  return distributed::parts_of(exchange_->ranks(), policy_.particle_count());
}

/// Of the policies that the last gradient was taken at from those that played; the mean over particles.
double ControlAgent::approximate_kl(const ExperienceRows& rows) const {
  const std::int64_t m = policy_.particle_count();
  std::vector<double> divergences(static_cast<std::size_t>(m));
  const auto divergence = [&](std::int64_t i) {
    return std::span(divergences).subspan(static_cast<std::size_t>(i), 1);
  };
  const auto look_at = [&](std::int64_t i) {
    for (std::int64_t k = i * rows.rows; k < (i + 1) * rows.rows; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (rows.scale[at] != 0)
        divergence(i).front() += double{rows.scale[at]} * (std::expm1(double{log_ratio_[at]}) - double{log_ratio_[at]});
    }
  };
  distributed::shared_for(exchange_->ranks(), m, look_at,
                          divergence);  // of the ratios that its gradients left on each rank
  return std::accumulate(divergences.begin(), divergences.end(), 0.0) / static_cast<double>(m);
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
  snapshot.put("decay", decay_);
}

void ControlAgent::restore(const Snapshot& snapshot) {
  iterations_ = snapshot.get_scalar<std::int64_t>("iterations");
  policy_.restore(snapshot.part("policy"));
  rollouts_.restore(snapshot.part("rollouts"));
  baseline_->restore(snapshot.part("baseline"));
  sampler_.restore(snapshot.part("sampler"));
  experience_.restore(snapshot.part("rewards"));
  decay_ = snapshot.contains("decay") ? snapshot.get_scalar<double>("decay") : 1;  // older checkpoints: constant steps
}

}  // namespace stein::agents
