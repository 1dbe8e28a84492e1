#include <stein/agents/control/policy_learner.h>
#include <stein/core/error.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/storage/host_copy.h>

#include <cmath>
#include <numeric>

namespace stein::agents {
namespace {

/// Beyond it squares of gradients, which step size rules look at, are no single-precision numbers any more.
constexpr double largest_inverse_alpha = 1e15;

/// Particles climb through a kernel of their weights, or each along what a kernel of their behaviours has made of it.
std::unique_ptr<inference::Sampler<float>> make_sampler(const ControlAgentOptions& options,
                                                        const inference::Ensemble& ensemble) {
  if (!is_stein(options.posterior)) return options.sampler.make(ensemble);
  if (options.kernel_sees == KernelSees::behaviour)
    return std::make_unique<inference::Optimizer<float>>(options.svgd.optimizer, ensemble);
  return std::make_unique<inference::Svgd<float>>(options.svgd, ensemble);
}

}  // namespace

PolicyLearner::PolicyLearner(const ControlAgentOptions& options, policies::ControlPolicy& policy,
                             const Experience& experience, std::uint64_t seed)
    : options_(options),
      policy_(policy),
      experience_(experience),
      objective_(policy.distribution(), options.entropy_weight, options.clip_ratio, policy.device()),
      sampler_(watched(make_sampler(options, policy.particles().ensemble(seed, options.policy.posterior.arithmetic))),
               {}, inference::AfterRollback::wait) {
  STEIN_CHECK(is_stein(options.posterior) || sampler_.name() != "svgd",
              "posteriors none and independent have particles that learn on their own, expected another sampler than "
              "'svgd'");
  if (options.kernel_sees == KernelSees::behaviour) behaviour_.emplace(options.svgd.kernel);
}

/// Norms of gradients are looked at where the sampler asks for them.
std::unique_ptr<inference::Sampler<float>> PolicyLearner::watched(std::unique_ptr<inference::Sampler<float>> sampler) {
  gradients_ = dynamic_cast<inference::GradientSampler<float>*>(sampler.get());
  STEIN_CHECK(gradients_ != nullptr, "control agents are moved by samplers of one gradient a step, got '{}'",
              sampler->name());
  gradients_->observe_gradients([this](const inference::Particles<float>& particles) { watch_gradients(particles); },
                                [this](std::int64_t) { return measures_ != nullptr; });
  return sampler;
}

void PolicyLearner::share_with(inference::PartExchange& exchange) {
  ranks_ = &exchange.ranks();
  shared_target_.emplace(policy_.target(), exchange);
  sampler_.share_moves(*ranks_);
}

inference::Target<float>& PolicyLearner::target() {
  return shared_target_ ? static_cast<inference::Target<float>&>(*shared_target_) : policy_.target();
}

PolicyLearner::Outcome PolicyLearner::update(const ExperienceRows& rows, std::int64_t iteration,
                                             LearningMeasures* measures) {
  measures_ = measures;
  const auto forget = [this] {
    measures_ = nullptr;
    forces_.reset();
  };
  try {
    const Outcome outcome = learn(rows, iteration);
    forget();
    return outcome;
  } catch (...) {
    forget();
    throw;
  }
}

PolicyLearner::Outcome PolicyLearner::learn(const ExperienceRows& rows, std::int64_t iteration) {
  const std::int64_t m = policy_.particle_count(), n = rows.rows, act = policy_.distribution().actions();
  scale_rows(rows, inverse_alpha(iteration));
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
  if (went_back) return Outcome::went_back;
  return options_.target_kl > 0 && approximate_kl(rows) > 1.5 * options_.target_kl ? Outcome::too_far : Outcome::moved;
}

double PolicyLearner::inverse_alpha(std::int64_t iteration) const {
  if (!is_stein(options_.posterior)) return 1;
  const double half_life = options_.alpha_half_life;
  const double alpha = options_.alpha * (half_life > 0 ? std::exp2(-static_cast<double>(iteration) / half_life) : 1);
  if (!(1 / alpha < largest_inverse_alpha))
    fail(ErrorKind::numeric,
         "alpha has been halved from {} to {} and the gradient of J/α leaves the range of the numbers: expected a "
         "longer alpha_half_life than {} iterations",
         options_.alpha, alpha, options_.alpha_half_life);
  return 1 / alpha;
}

/// 1/(rows) becomes 1/(α rows), or 1/(α paths): of the particles whose rows this process needs.
void PolicyLearner::scale_rows(const ExperienceRows& rows, double inverse_alpha) {
  const distributed::PartRange learners = learners_here();
  scale_.resize(rows.scale.size());
  for (std::int64_t i = learners.first; i < learners.end; ++i) {
    double factor = inverse_alpha;
    if (options_.gradient_scale == GradientScale::per_episode) factor *= experience_.steps_per_path(i);
    for (std::int64_t k = 0; k < rows.rows; ++k) {
      const auto at = static_cast<std::size_t>(i * rows.rows + k);
      const double weight = options_.discount_weight ? std::pow(options_.discount, double{rows.times[at]}) : 1;
      scale_[at] = static_cast<float>(factor * weight * double{rows.scale[at]});
    }
  }
}

/// Before an update: what prior and repulsion will add to it.
void PolicyLearner::look_at_forces(const inference::Batch<float>& batch) {
  forces_.reset();
  if (measures_ == nullptr || measures_->parts || !is_stein(options_.posterior)) return;
  forces_.emplace(target(), policy_.particles(), batch);
  if (behaviour_) forces_->take_repulsion(target(), policy_.particles(), batch, behaviour_->repulsion());
}

/// Of an iteration that is measured. The particles are where the gradient was taken, and it is not clipped yet.
void PolicyLearner::watch_gradients(const inference::Particles<float>& particles) {
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

/// One step of the particles, known to its end. @returns whether they went back to earlier ones
bool PolicyLearner::move(const inference::Batch<float>& batch) {
  const inference::StepReport report = sampler_.step(policy_.particles(), target(), batch);
  if (report.settled) return report.went_back;
  return sampler_.settle(policy_.particles(), target(), batch).went_back || report.went_back;
}

/// What an update climbs. All particles have the same rows where the kernel sees behaviour; the one that acted counts
/// every row but those that fill up.
const inference::OutputScore<float>& PolicyLearner::score_of(const ExperienceRows& rows) {
  if (!behaviour_) return objective_;
  const auto n = static_cast<std::size_t>(rows.rows);
  counts_.assign(n, 0);
  for (std::size_t at = 0; at < rows.scale.size(); ++at)
    if (rows.scale[at] != 0) counts_[at % n] = 1;
  behaviour_->look_at(policy_, {rows.observations.data(), rows.rows, policy_.observation_size()}, counts_, objective_);
  return behaviour_->score();
}

/// The particles whose rows of an update this process needs: of those alone it makes gradients.
distributed::PartRange PolicyLearner::learners_here() const {
  if (behaviour_) return {.first = 0, .end = policy_.particle_count()};
  return distributed::parts_of(*ranks_, policy_.particle_count());
}

/// Of the policies that the last gradient was taken at from those that played; the mean over particles.
double PolicyLearner::approximate_kl(const ExperienceRows& rows) const {
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
  distributed::shared_for(*ranks_, m, look_at,
                          divergence);  // of the ratios that its gradients left on each rank
  return std::accumulate(divergences.begin(), divergences.end(), 0.0) / static_cast<double>(m);
}

}  // namespace stein::agents
