#include <stein/bench/torch/batched_agent.h>
#include <stein/core/error.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/runs/repetitions.h>

#include <c10/core/InferenceMode.h>
#include <algorithm>
#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;

/// As in ControlAgent: different streams of randomness for what one seed makes.
std::uint64_t part_of(std::uint64_t seed, std::uint64_t part) {
  return runs::derived_seed({.seed = seed, .step = part, .stream = Stream::initial_values}, 0xFFFFFFFF);
}

policies::ControlPolicy::Options policy_options(const agents::ControlAgentOptions& options) {
  STEIN_CHECK(options.learner == agents::Learner::reinforce && agents::is_stein(options.posterior) &&
                  options.baseline == agents::BaselineKind::linear && options.normalize_advantages &&
                  options.gae_lambda == 1 && options.entropy_weight == 0 && !options.normalize_rewards &&
                  !options.discount_weight && options.alpha_half_life == 0 &&
                  options.gradient_scale == agents::GradientScale::per_step && !options.policy.discrete &&
                  options.policy.deviation == policies::Deviation::constant && !options.policy.normalize_observations,
              "batched agent: expected the defaults of reinforce with a Stein posterior and actions that are numbers");
  policies::ControlPolicy::Options policy = options.policy;
  policy.particles = options.particles;
  return policy;
}

/// [steps, M, S, ·] as [M, n, ·].
at::Tensor by_particle(const at::Tensor& steps) {
  return steps.transpose(0, 1).contiguous().flatten(1, 2);
}

/// Means over the rows [M, n] that count: [M, 1].
at::Tensor mean_over(const at::Tensor& rows, const at::Tensor& counts) {
  return (rows * counts).sum(1, true) / counts.sum(1, true);
}

template <class T>
std::span<const float> numbers(const T& tensor) {
  return {tensor.template data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

BatchedAgent::BatchedAgent(const agents::ControlAgentOptions& options, const envs::ControlEntry::Builder& environment,
                           std::uint64_t seed)
    : options_(options),
      policy_(policy_options(options), environment.spec(), part_of(seed, 0)),
      rollouts_(environment,
                {.particles = options.particles,
                 .slots = options.slots,
                 .steps = options.steps,
                 .whole_paths = true,
                 .discount = options.discount},
                options.policy.hidden, options.policy.initial_deviation, part_of(seed, 1)),
      objective_(policy_.distribution(), 0, 0),
      sampler_(std::make_unique<Svgd<float>>(options.svgd, policy_.particles().ensemble(part_of(seed, 3)))),
      weights_(options.particles, policy_.posterior().weight_layout().size()),
      coefficients_(at::zeros({options.particles, 2 * policy_.observation_size() + 4, 1}, at::kDouble)) {}

void BatchedAgent::iterate() {
  collect();
  take_rows();
  make_features();
  make_advantages();
  move();
  refit();
}

void BatchedAgent::collect() {
  const Layout& layout = policy_.posterior().weight_layout();
  const MatrixView<float> rows = weights_.view();
  policy_.posterior().effective_weights(policy_.particles().coordinates(), {}, rows);
  rollouts_.collect(BatchedNetwork(layout, rows));
}

/// The rows that count, particle by particle: what goes on beside the last whole paths is a third of all.
void BatchedAgent::take_rows() {
  const c10::InferenceMode no_autograd;
  const at::Tensor all = by_particle(rollouts_.counts());
  std::vector<at::Tensor> chosen;
  std::int64_t most = 0;
  for (const at::Tensor& counts : all.unbind(0)) {
    chosen.push_back(counts.nonzero().squeeze(1));
    most = std::max(most, chosen.back().size(0));
  }
  const auto taken = [&](const at::Tensor& steps) {
    const at::Tensor rows = by_particle(steps);
    std::vector<std::int64_t> shape = rows.sizes().vec();
    shape[1] = most;
    at::Tensor some = at::zeros(shape);
    for (std::int64_t i = 0; i < some.size(0); ++i) {
      const at::Tensor& index = chosen[static_cast<std::size_t>(i)];
      at::Tensor own = some.select(0, i).narrow(0, 0, index.size(0));
      at::index_select_out(own, rows.select(0, i), 0, index);
    }
    return some;
  };
  observations_ = taken(rollouts_.observations());
  actions_ = taken(rollouts_.actions());
  times_ = taken(rollouts_.times());
  counts_ = taken(rollouts_.counts());
  returns_ = taken(discounted_returns());
}

/// Of every step to the end of its path, [steps, M, S].
at::Tensor BatchedAgent::discounted_returns() const {
  const at::Tensor rewards = rollouts_.rewards(), keeps = (1 - rollouts_.ends()).mul_(options_.discount);
  const at::Tensor all = at::empty_like(rewards);
  const std::vector<at::Tensor> reward = rewards.unbind(0), keep = keeps.unbind(0), to = all.unbind(0);
  at::Tensor after = at::zeros_like(reward[0]);
  for (std::size_t t = reward.size(); t-- > 0;) {
    at::Tensor now = to[t];
    at::addcmul_out(now, reward[t], keep[t], after);
    after = now;
  }
  return all;
}

/// [o, o², t, t², t³, 1], o limited to ±10 and t in hundreds of steps.
void BatchedAgent::make_features() {
  const c10::InferenceMode no_autograd;
  const std::int64_t seen = policy_.observation_size();
  features_ = at::ones({observations_.size(0), observations_.size(1), 2 * seen + 4}, at::kDouble);
  const at::Tensor limited = features_.narrow(2, 0, seen), time = features_.select(2, 2 * seen);
  limited.copy_(observations_.clamp(-10, 10));
  at::Tensor square = features_.narrow(2, seen, seen), time2 = features_.select(2, 2 * seen + 1),
             time3 = features_.select(2, 2 * seen + 2);
  at::mul_out(square, limited, limited);
  time.copy_(times_).div_(100);
  at::mul_out(time2, time, time);
  at::mul_out(time3, time2, time);
}

/// Returns less the baseline, with mean 0 and sd 1 for every particle.
void BatchedAgent::make_advantages() {
  const c10::InferenceMode no_autograd;
  const at::Tensor values = features_.bmm(coefficients_).squeeze(2).to(at::kFloat);
  const at::Tensor better = returns_ - values, centred = better - mean_over(better, counts_);
  const at::Tensor deviation = mean_over(centred.square(), counts_).sqrt_();
  advantages_ = centred.div_(at::where(deviation > 1e-8, deviation, at::ones_like(deviation)));
}

/// The gradient of J/α, which is over all particles at once, and the Stein step.
void BatchedAgent::move() {
  const std::int64_t m = options_.particles, n = counts_.size(1), act = policy_.distribution().actions();
  const at::Tensor scale = counts_ / counts_.sum(1, true).mul_(options_.alpha);
  objective_.set_rows({.rows = n,
                       .actions = {actions_.data_ptr<float>(), m * n, act},
                       .advantages = numbers(advantages_),
                       .scale = numbers(scale)});
  const Batch<float> batch{.inputs = {.dense = {observations_.data_ptr<float>(), m * n, policy_.observation_size()}},
                           .inputs_per_particle = true,
                           .rows = n,
                           .data_size = static_cast<double>(n),
                           .score = &objective_};
  sampler_.step(policy_.particles(), policy_.posterior(), batch);
}

/// Least squares with a ridge of 1e-5, all particles at once.
void BatchedAgent::refit() {
  const c10::InferenceMode no_autograd;
  const at::Tensor counted = features_ * counts_.unsqueeze(2), transposed = counted.transpose(1, 2);
  const at::Tensor gram = transposed.bmm(features_), moment = transposed.bmm(returns_.unsqueeze(2).to(at::kDouble));
  gram.diagonal(0, 1, 2).add_(1e-5);
  coefficients_ = at::cholesky_solve(moment, at::linalg_cholesky(gram));
}

double difference_after(std::int64_t iterations, agents::ControlAgent& ours, BatchedAgent& reference) {
  const Particles<float> start = reference.particles();
  for (std::int64_t k = 0; k < iterations; ++k) ours.iterate(), reference.iterate();
  const MatrixView<const float> before = start.values(), found = ours.policy().particles().values(),
                                expected = reference.particles().values();
  double way = 0, apart = 0;
  for (std::int64_t i = 0; i < before.rows; ++i)
    for (std::int64_t q = 0; q < before.columns; ++q) {
      way += std::pow(double{expected(i, q)} - double{before(i, q)}, 2);
      apart += std::pow(double{expected(i, q)} - double{found(i, q)}, 2);
    }
  return std::sqrt(apart / way);
}

}  // namespace stein::bench
