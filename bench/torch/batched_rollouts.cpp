#include <stein/bench/torch/batched_rollouts.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/runs/repetitions.h>
#include <stein/torch/tensor_view.h>

#include <c10/core/InferenceMode.h>
#include <algorithm>
#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;

std::span<float> writable_numbers(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

BatchedNetwork::BatchedNetwork(const Layout& layout, MatrixView<const float> rows) {
  for (const LayoutEntry& entry : layout.entries()) {
    const at::Tensor view = entry_view(rows, entry);
    if (entry.role == Role::weight)
      weights.push_back(view);
    else if (entry.name == "constants")
      constants = view;
    else
      biases.push_back(view);
  }
}

BatchedNetwork BatchedNetwork::block(std::int64_t first, std::int64_t count) const {
  BatchedNetwork part = *this;
  for (auto* tensors : {&part.weights, &part.biases})
    for (at::Tensor& tensor : *tensors) tensor = tensor.narrow(0, first, count);
  if (constants.defined()) part.constants = constants.narrow(0, first, count);
  return part;
}

BatchedRollouts::BatchedRollouts(const envs::ControlEntry::Builder& builder, const agents::RolloutShape& shape,
                                 const std::vector<std::int64_t>& hidden, double initial_deviation, std::uint64_t seed)
    : shape_(shape), initial_deviation_(initial_deviation), seed_(seed) {
  const envs::ControlSpec spec = builder.spec();
  discrete_ = spec.discrete();
  const std::int64_t m = shape.particles, slots = shape.slots, seen = std::ssize(spec.observation),
                     act = std::ssize(spec.action);
  // A whole path begins within the steps and lasts for the horizon at most.
  const std::int64_t horizon = builder.make(1)->horizon();
  const std::int64_t most = shape.steps + (shape.whole_paths ? horizon : 0);
  observations_ = at::zeros({most, m, slots, seen}), actions_ = at::zeros({most, m, slots, act});
  for (at::Tensor* tensor : {&rewards_, &ends_, &counts_, &times_}) *tensor = at::zeros({most, m, slots});

  const std::int64_t count = std::min<std::int64_t>(m, thread_count());
  for (std::int64_t g = 0; g < count; ++g) {
    const std::int64_t first = g * m / count, particles = (g + 1) * m / count - first;
    Group group{.first = first, .particles = particles, .environment = builder.make(particles * slots, first * slots)};
    for (std::int64_t t = 0; t < most; ++t) {
      const auto part = [&](const at::Tensor& all) { return all.select(0, t).narrow(0, first, particles); };
      group.views.push_back(
          {part(observations_), part(actions_), part(rewards_), part(ends_), part(counts_), part(times_)});
    }
    std::vector<std::int64_t> widths = hidden;
    widths.push_back(discrete_ ? spec.choices : act);
    for (const std::int64_t width : widths) group.layers.push_back(at::empty({particles, slots, width}));
    if (discrete_) {
      group.chances = at::empty({particles, slots, 1});
      group.reached = at::empty({particles, slots, spec.choices});
    }
    group.episode_times.assign(static_cast<std::size_t>(particles * slots), 0);
    if (!shape.whole_paths)
      group.environment->reset(runs::derived_seed({.seed = seed, .step = 0, .stream = Stream::environment}));
    groups_.push_back(std::move(group));
  }
}

std::int64_t BatchedRollouts::steps() const {
  std::int64_t most = 0;
  for (const Group& group : groups_) most = std::max(most, group.steps);
  return most;
}

void BatchedRollouts::collect(const BatchedNetwork& network) {
  parallel_for(std::ssize(groups_), [&](std::int64_t i) { play(groups_[static_cast<std::size_t>(i)], network); });
  const c10::InferenceMode no_autograd;
  for (const Group& group : groups_)
    counts_.narrow(0, group.steps, steps() - group.steps).narrow(1, group.first, group.particles).zero_();
  ++collections_;
}

void BatchedRollouts::play(Group& group, const BatchedNetwork& all) {
  const c10::InferenceMode no_autograd;
  const BatchedNetwork network = all.block(group.first, group.particles);
  envs::VectorEnvironment& environment = *group.environment;
  if (shape_.whole_paths) {
    environment.reset(runs::derived_seed(
        {.seed = seed_, .step = static_cast<std::uint64_t>(collections_), .stream = Stream::environment}));
    std::ranges::fill(group.episode_times, 0.0F);
  }
  if (!discrete_) group.deviation = (network.constants + std::log(initial_deviation_)).clamp_(-5, 2).exp_();
  bool open = true;  // a path that counts goes on
  for (group.steps = 0; group.steps < shape_.steps || (shape_.whole_paths && open); ++group.steps) {
    const Step& step = group.views[static_cast<std::size_t>(group.steps)];
    std::ranges::copy(environment.observations(), step.observations.data_ptr<float>());
    for (std::size_t l = 0; l < group.layers.size(); ++l) {
      const at::Tensor& inputs = l == 0 ? step.observations : group.layers[l - 1];
      at::baddbmm_out(group.layers[l], network.biases[l], inputs, network.weights[l]);
      if (l + 1 < group.layers.size()) group.layers[l].tanh_();
    }
    draw(group, group.steps, step.actions);
    environment.step(writable_numbers(step.actions));
    open = record(group, group.steps);
  }
}

/// Draws actions with the random numbers of policies::ActionDistribution::draw: a row of the sheet a particle.
void BatchedRollouts::draw(Group& group, std::int64_t t, const at::Tensor& actions) const {
  const NoiseKey noise{.seed = seed_,
                       .step = (static_cast<std::uint64_t>(collections_) << 24) + static_cast<std::uint64_t>(t),
                       .stream = Stream::decision};
  const at::Tensor& outputs = group.layers.back();
  const std::span<float> drawn = writable_numbers(discrete_ ? group.chances : actions);
  const std::size_t share = drawn.size() / static_cast<std::size_t>(group.particles);
  for (std::int64_t i = 0; i < group.particles; ++i) {
    const std::span<float> own = drawn.subspan(static_cast<std::size_t>(i) * share, share);
    const auto row = static_cast<std::uint32_t>(group.first + i);
    if (!discrete_) {
      fill_normal(own, noise, row);
      continue;
    }
    for (std::size_t k = 0; k < own.size(); k += 4) {
      const PhiloxBlock words = random_block(noise, row, static_cast<std::uint32_t>(k / 4));
      for (std::size_t j = k; j < std::min(k + 4, own.size()); ++j)
        own[j] = (static_cast<float>(words[j - k] >> 8) + 0.5F) * 0x1p-24F;
    }
  }
  if (!discrete_) {
    actions.mul_(group.deviation).add_(outputs);
    return;
  }
  // The number of choices whose shares, with those before them, the chance exceeds. Without softmax, whose form for
  // short rows takes longer than everything here.
  at::sub_out(group.reached, outputs, outputs.amax(2, true)).exp_().cumsum_(2);
  const std::int64_t last = group.reached.size(2) - 1;
  const at::Tensor limit = group.reached.narrow(2, last, 1) * group.chances;
  actions.copy_(group.reached.narrow(2, 0, last).le(limit).sum(2, true));
}

bool BatchedRollouts::record(Group& group, std::int64_t t) const {
  const Step& step = group.views[static_cast<std::size_t>(t)];
  const envs::VectorEnvironment& environment = *group.environment;
  std::ranges::copy(environment.rewards(), step.rewards.data_ptr<float>());
  const std::span<float> ends = writable_numbers(step.ends), counts = writable_numbers(step.counts);
  std::ranges::copy(group.episode_times, step.times.data_ptr<float>());
  std::int64_t open = 0;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    float& time = group.episode_times[s];
    counts[s] = t < shape_.steps || time > static_cast<float>(t - shape_.steps) ? 1 : 0;
    ends[s] = environment.terminated()[s] + environment.truncated()[s];
    time = ends[s] > 0 ? 0 : time + 1;
    open += time > static_cast<float>(t + 1 - shape_.steps) ? 1 : 0;
  }
  return open > 0;
}

double largest_difference(const agents::Rollouts& ours, const BatchedRollouts& reference, std::int64_t steps) {
  STEIN_CHECK(std::ssize(ours.shards()) == ours.shape().particles,
              "rollouts: expected a shard a particle, got {} of {}", ours.shards().size(), ours.shape().particles);
  double worst = 0;
  for (const agents::RolloutShard& shard : ours.shards()) {
    const auto compare = [&](std::span<const float> found, const at::Tensor& all) {
      const at::Tensor expected = all.narrow(0, 0, steps).select(1, shard.particle).contiguous();
      const std::span<const float> wanted = writable_numbers(expected);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        worst = std::max(worst, std::abs(double{found[i]} - double{wanted[i]}));
    };
    compare(shard.observations, reference.observations());
    compare(shard.actions, reference.actions());
    compare(shard.rewards, reference.rewards());
    compare(shard.times, reference.times());
    compare(shard.counts, reference.counts());
    std::vector<float> ends(static_cast<std::size_t>(shard.rows()));
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = shard.terminated[i] + shard.truncated[i];
    compare(ends, reference.ends());
  }
  return worst;
}

}  // namespace stein::bench
