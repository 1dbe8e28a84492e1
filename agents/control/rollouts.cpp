#include <stein/agents/control/device_rollouts.h>
#include <stein/agents/control/rollouts.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/distributed/shared_work.h>
#include <stein/runs/repetitions.h>

#include <algorithm>
#include <string>

namespace stein::agents {
namespace {

using inference::MatrixView;

/// Seed of the environments: another one every time that paths begin anew.
std::uint64_t environment_seed(std::uint64_t seed, std::int64_t collection) {
  return runs::derived_seed(
      {.seed = seed, .step = static_cast<std::uint64_t>(collection), .stream = Stream::environment});
}

/// What a shard needs while it plays, reused by the thread.
struct Scratch {
  std::vector<float> presented, outputs;
};

Scratch& scratch_of(const RolloutShard& shard, const policies::ControlPolicy& policy) {
  thread_local Scratch scratch;
  const auto n = static_cast<std::size_t>(shard.slots);
  scratch.presented.resize(n * static_cast<std::size_t>(policy.observation_size()));
  scratch.outputs.resize(n * static_cast<std::size_t>(policy.distribution().outputs()));
  return scratch;
}

}  // namespace

std::vector<float> ages_at_start(const RolloutShape& shape, std::int64_t horizon) {
  const std::int64_t all = shape.particles * shape.slots;
  std::vector<float> ages(static_cast<std::size_t>(all), 0.0F);
  if (!shape.staggered) return ages;
  for (std::int64_t i = 0; i < all; ++i) {
    const std::int64_t particle = i / shape.slots, slot = i % shape.slots, place = slot * shape.particles + particle;
    const std::int64_t age = place * horizon / all;
    ages[static_cast<std::size_t>(i)] = static_cast<float>(age);
  }
  return ages;
}

Rollouts::Rollouts(const envs::ControlEntry::Builder& builder, const RolloutShape& shape, std::uint64_t seed,
                   inference::Device device)
    : shape_(shape), seed_(seed) {
  STEIN_CHECK(shape.particles >= 1 && shape.slots >= 1 && shape.steps >= 1,
              "rollouts: expected at least 1 particle, slot and step, got {}, {} and {}", shape.particles, shape.slots,
              shape.steps);
  for (std::int64_t particle = 0; particle < shape.particles; ++particle)
    for (std::int64_t slot = 0; slot < shape.slots; slot += shard_slots) {
      RolloutShard shard{.particle = particle, .first_slot = slot, .slots = std::min(shard_slots, shape.slots - slot)};
      shard.environment = builder.make(shard.slots, particle * shape.slots + slot);
      const auto n = static_cast<std::size_t>(shard.slots);
      shard.next_observations.resize(n * shard.environment->spec().observation.size());
      shard.episode_times.resize(n);
      shard.discounted.resize(n);
      shard.factor.assign(n, 1.0);
      shards_.push_back(std::move(shard));
    }
  if (device.kind != inference::Device::Kind::host) {
    on_device_ = std::make_unique<DeviceRollouts>(device, builder, shape, environment_seed(seed, 0));
  } else if (!shape.whole_paths) {
    const std::vector<float> ages = ages_at_start(shape, shards_.front().environment->horizon());
    for (RolloutShard& shard : shards_) {
      const std::int64_t first = shard.particle * shape.slots + shard.first_slot;
      std::copy_n(ages.begin() + first, shard.slots, shard.episode_times.begin());
      shard.environment->reset(environment_seed(seed, 0));
      shard.environment->set_lengths(shard.episode_times);
    }
  }
}

Rollouts::Rollouts(Rollouts&&) noexcept = default;
Rollouts::~Rollouts() = default;

void Rollouts::collect(const policies::ControlPolicy& policy, const ValuedBy* valued) {
  const auto part = [&](std::int64_t i) -> RolloutShard& { return shards_[static_cast<std::size_t>(i)]; };
  if (on_device_) {
    if (valued != nullptr && !on_device_->fits(policy, *valued)) valued = nullptr;
    on_device_->launch(policy, environment_seed(seed_, collections_), decisions(0), valued);
    on_device_->bring_home(shards_);
  } else {
    distributed::share_work(
        *ranks_, std::ssize(shards_),
        [&](distributed::PartRange own) {
          parallel_for(own.end - own.first, [&](std::int64_t k) { play(part(own.first + k), policy); });
        },
        [&](std::int64_t i, std::string& message) { part(i).write(message); },
        [&](std::int64_t i, std::string_view& message) { part(i).read(message); });
  }
  for (const RolloutShard& shard : shards_) total_steps_ += shard.counted_rows();
  ++collections_;
}

void Rollouts::play(RolloutShard& shard, const policies::ControlPolicy& policy) const {
  envs::VectorEnvironment& environment = *shard.environment;
  const std::int64_t slots = shard.slots, seen = policy.observation_size(), act = policy.distribution().actions();
  const auto n = static_cast<std::size_t>(slots), width = static_cast<std::size_t>(seen);
  Scratch& scratch = scratch_of(shard, policy);
  const MatrixView<float> presented{scratch.presented.data(), slots, seen},
      outputs{scratch.outputs.data(), slots, policy.distribution().outputs()};
  shard.final_observations.clear();
  shard.final_rows.clear();
  shard.episodes.clear();
  if (shape_.whole_paths) {
    environment.reset(environment_seed(seed_, collections_));
    std::ranges::fill(shard.episode_times, 0.0F);
    std::ranges::fill(shard.discounted, 0.0);
    std::ranges::fill(shard.factor, 1.0);
  }
  std::int64_t open = slots;  // slots that have a path to finish
  for (shard.steps = 0; shard.steps < shape_.steps || (shape_.whole_paths && open > 0); ++shard.steps) {
    const std::int64_t t = shard.steps, first = t * slots;
    const auto at = static_cast<std::size_t>(first);
    shard.reserve(first + slots);
    std::ranges::copy(environment.observations(), shard.observations.begin() + static_cast<std::ptrdiff_t>(at * width));
    policy.present({environment.observations().data(), slots, seen}, presented);
    const MatrixView<float> actions{shard.actions.data() + first * act, slots, act};
    policy.distribution().draw(policy.parameters(shard.particle, presented, outputs), decisions(t),
                               static_cast<std::uint32_t>(shard.particle), shard.first_slot, actions);
    environment.step({actions.data, static_cast<std::size_t>(slots * act)});
    std::ranges::copy(environment.rewards(), shard.rewards.begin() + first);
    std::ranges::copy(environment.terminated(), shard.terminated.begin() + first);
    std::ranges::copy(environment.truncated(), shard.truncated.begin() + first);
    for (std::size_t s = 0; s < n; ++s) {
      // A slot that has finished its last path goes on beside the others, and does not count.
      shard.counts[at + s] = t < shape_.steps || shard.episode_times[s] > static_cast<float>(t - shape_.steps) ? 1 : 0;
      shard.times[at + s] = shard.episode_times[s];
      shard.discounted[s] += shard.factor[s] * double{shard.rewards[at + s]};
      shard.factor[s] *= shape_.discount;
      shard.episode_times[s] += 1;
    }
    for (const envs::Episode& episode : environment.episodes()) {
      const auto s = static_cast<std::size_t>(episode.slot);
      if (shard.counts[at + s] != 0) {
        shard.add_episode({.particle = shard.particle,
                           .length = episode.length,
                           .total_reward = episode.total_reward,
                           .discounted_reward = shard.discounted[s],
                           .terminated = episode.terminated},
                          environment.steps());
        if (!episode.terminated) {
          shard.final_rows.push_back(first + episode.slot);
          const auto last = environment.final_observations().subspan(s * width, width);
          shard.final_observations.insert(shard.final_observations.end(), last.begin(), last.end());
        }
      }
      shard.episode_times[s] = 0;
      shard.discounted[s] = 0;
      shard.factor[s] = 1;
    }
    if (shape_.whole_paths && t + 1 >= shape_.steps)
      open = std::ranges::count_if(shard.episode_times,
                                   [&](float time) { return time > static_cast<float>(t + 1 - shape_.steps); });
  }
  std::ranges::copy(environment.observations(), shard.next_observations.begin());
}

/// Of the draws of a step: every step of the run has a number of its own, and so a sheet of random numbers.
NoiseKey Rollouts::decisions(std::int64_t step) const {
  return {.seed = seed_,
          .step = (static_cast<std::uint64_t>(collections_) << 24) + static_cast<std::uint64_t>(step),
          .stream = Stream::decision};
}

/// What two runs must have in common for one to go on with the other's rollouts.
std::string Rollouts::identity() const {
  return fmt::format("{} version {}, {} particles with {} slots", spec().name, spec().version, shape_.particles,
                     shape_.slots);
}

void Rollouts::save(Snapshot& snapshot) const {
  snapshot.put_text("identity", identity());
  snapshot.put("collections", std::vector<std::int64_t>{collections_, total_steps_});
  if (shape_.whole_paths) return;  // nothing goes on
  const std::vector<ShardProgress> elsewhere =
      on_device_ ? on_device_->progress(shards_) : std::vector<ShardProgress>{};
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const RolloutShard& shard = shards_[i];
    if (on_device_) shard.environment->set_progress(elsewhere[i].slots);  // the form is that of the host
    Snapshot part;
    part.put_saved("environment", *shard.environment);
    part.put("episode_times", shard.episode_times);
    part.put("discounted", on_device_ ? elsewhere[i].discounted : shard.discounted);
    part.put("factor", on_device_ ? elsewhere[i].factor : shard.factor);
    snapshot.put_part("shard" + std::to_string(i), part);
  }
}

void Rollouts::restore(const Snapshot& snapshot) {
  if (snapshot.get_text("identity") != identity())
    fail(ErrorKind::data, "the saved rollouts are of {}, expected {}", snapshot.get_text("identity"), identity());
  const auto counts = snapshot.get_vector<std::int64_t>("collections");
  collections_ = counts.at(0), total_steps_ = counts.at(1);
  if (shape_.whole_paths) return;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const Snapshot part = snapshot.part("shard" + std::to_string(i));
    shards_[i].environment->restore(part.part("environment"));
    part.get("episode_times", std::span(shards_[i].episode_times));
    part.get("discounted", std::span(shards_[i].discounted));
    part.get("factor", std::span(shards_[i].factor));
  }
  if (on_device_) on_device_->go_on_from(shards_);
}

}  // namespace stein::agents
