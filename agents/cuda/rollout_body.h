// What a block of the kernel of rollouts does: up to 64 slots of one particle through all steps, observation, policy,
// draw, step and value, and then advantages backwards. A block is phases with a barrier between them: a phase is a
// function of a thread, its registers and the shared memory, and the kernel and the tests both put phases in order by
// `play`.
#pragma once

#include <stein/agents/control/rollout_places.h>
#include <stein/agents/cuda/perceptron_body.h>
#include <stein/envs/cuda/slot_episode.h>
#include <stein/policies/column_unit.h>

namespace stein::agents::cuda {

inline constexpr int rollout_threads = 256;  ///< of a block: slots have the first of them, layers all

/// The registers of a thread that has a slot.
template <class Task>
struct SlotThread {
  envs::cuda::SlotEpisode<Task> episode;
  double discounted, factor;
};

/// What a step of a slot says to its block; all are no for a thread without a slot.
struct StepFlags {
  bool open;       ///< a whole path has to be finished
  bool truncated;  ///< the value of the end is asked for; a path that does not count is never so long
  bool failed;     ///< the action is not allowed, or the reward or observation is not finite
};

/// A block, as each of its threads sees it.
template <class Task>
class RolloutBlock {
 public:
  static constexpr int seen_size = Task::observation_size, action_size = Task::action_size;

  STEIN_HOST_DEVICE RolloutBlock(const Task& task, const envs::cuda::SlotRules<Task>& rules,
                                 const envs::SlotMemory& memory, const RolloutPlan& plan, std::int64_t block,
                                 float* shared)
      : task_(task),
        rules_(rules),
        memory_(memory),
        plan_(plan),
        places_(plan, seen_size),
        shared_(shared),
        shard_(block),
        particle_(block / plan.shards_of_particle()),
        first_(block % plan.shards_of_particle() * shard_slots),
        slots_(static_cast<int>(plan.slots - first_ < shard_slots ? plan.slots - first_ : shard_slots)),
        tiles_((slots_ + tile_slots - 1) / tile_slots),
        row_((particle_ * plan.slots + first_) * plan.rows.capacity) {}

  STEIN_HOST_DEVICE bool has_slot(int thread) const { return thread < slots_; }
  /// Number of a thread's slot among those of all particles.
  STEIN_HOST_DEVICE std::int64_t slot(int thread) const { return particle_ * plan_.slots + first_ + thread; }
  STEIN_HOST_DEVICE const RolloutPlan& plan() const { return plan_; }

  /// Phase: weights into shared memory, the episodes under way into registers; whole paths begin anew.
  STEIN_HOST_DEVICE void load(int thread, int threads, SlotThread<Task>& own) const {
    load_weights(plan_.policy.network, plan_.policy.weights + particle_ * plan_.policy.stride, shared_, thread,
                 threads);
    if (plan_.values_steps())
      load_weights(plan_.value.network, plan_.value.weights + particle_ * plan_.value.stride, shared_ + places_.value,
                   thread, threads);
    if (!has_slot(thread)) return;
    const std::int64_t at = slot(thread);
    if (plan_.whole_paths) {
      begin(thread, 0, own);
    } else {
      own.episode = envs::cuda::load_episode<Task>(memory_, at);
      own.discounted = plan_.sums.sum[at], own.factor = plan_.sums.factor[at];
    }
  }

  /// Phase: what the networks see of step t; `t` past the last step: of what follows it.
  STEIN_HOST_DEVICE void present(int thread, std::int64_t t, bool last, const SlotThread<Task>& own) const {
    if (!has_slot(thread)) return;
    float seen[seen_size];
    task_.observe(own.episode.state, seen);
    float* const to = last ? plan_.rows.next_observations + slot(thread) * seen_size
                           : plan_.rows.observations + row(thread, t) * seen_size;
    for (int k = 0; k < seen_size; ++k) to[k] = seen[k];
    show(thread, seen);
  }
  /// Phase: what the networks see of the end that the slot's path has come to in step t.
  STEIN_HOST_DEVICE void present_end(int thread, std::int64_t t, bool truncated) const {
    if (!truncated) return;
    float seen[seen_size];
    for (int k = 0; k < seen_size; ++k) seen[k] = plan_.rows.end_observations[row(thread, t) * seen_size + k];
    show(thread, seen);
  }

  /// Phases: layer l of the policy, and of the value network.
  STEIN_HOST_DEVICE void pass_policy(int thread, int threads, int l) const {
    pass_layer(plan_.policy.network, l, shared_, below(l), above(l), tiles_, places_.pitch, thread, threads);
  }
  STEIN_HOST_DEVICE void pass_value(int thread, int threads, int l) const {
    pass_layer(plan_.value.network, l, shared_ + places_.value, below(l), above(l), tiles_, places_.pitch, thread,
               threads);
  }
  /// Phases: the value of step t, and of the end that a path has come to in it.
  STEIN_HOST_DEVICE void keep_value(int thread, std::int64_t t) const {
    if (has_slot(thread)) plan_.rows.values[row(thread, t)] = value_of(thread);
  }
  STEIN_HOST_DEVICE void keep_end_value(int thread, std::int64_t t, bool truncated) const {
    if (truncated) plan_.rows.end_values[row(thread, t)] = value_of(thread);
  }

  /// Phase: an action is drawn and taken.
  STEIN_HOST_DEVICE StepFlags act(int thread, std::int64_t t, SlotThread<Task>& own) const {
    if (!has_slot(thread)) return {};
    const std::int64_t at = row(thread, t);
    float action[action_size], seen[seen_size];
    draw(thread, t, action);
    for (int a = 0; a < action_size; ++a) plan_.rows.actions[at * action_size + a] = action[a];
    const bool allowed = rules_.allow(action);
    rules_.map(action);
    const float time = own.episode.length;
    // A slot that has finished its last path goes on beside the others, and does not count.
    const bool counts = t < plan_.steps || time > static_cast<float>(t - plan_.steps);
    const envs::cuda::SlotStep made = own.episode.step(task_, rules_.horizon, action, seen);
    own.discounted += own.factor * static_cast<double>(made.reward);
    own.factor *= plan_.discount;
    plan_.rows.rewards[at] = made.reward;
    plan_.rows.terminated[at] = made.terminated;
    plan_.rows.truncated[at] = made.truncated;
    plan_.rows.counts[at] = counts ? 1.0F : 0.0F;
    plan_.rows.times[at] = time;
    if (made.ended()) {
      for (int k = 0; k < seen_size; ++k) plan_.rows.end_observations[at * seen_size + k] = seen[k];
      plan_.rows.total_rewards[at] = own.episode.total_reward;
      plan_.rows.discounted[at] = own.discounted;
      begin(thread, t + 1, own);
    }
    return {.open = own.episode.length > static_cast<float>(t + 1 - plan_.steps),
            .truncated = made.truncated != 0,
            .failed = !allowed || !made.finite};
  }

  /// Phase: what the next launch goes on from; where there are values, advantages from the last step backwards.
  STEIN_HOST_DEVICE void finish(int thread, std::int64_t steps, const SlotThread<Task>& own) const {
    if (thread == 0) plan_.rows.steps[shard_] = steps;
    if (!has_slot(thread)) return;
    const std::int64_t at = slot(thread);
    envs::cuda::store_episode(memory_, at, own.episode);
    plan_.sums.sum[at] = own.discounted, plan_.sums.factor[at] = own.factor;
    if (!plan_.values_steps()) return;
    float next = plan_.value.horizon_is_an_end ? 0 : value_of(thread), after = 0;
    plan_.rows.next_values[at] = next;
    if (plan_.rows.advantages == nullptr) return;
    for (std::int64_t t = steps; t-- > 0;) {
      const std::int64_t here = row(thread, t);
      const float value = plan_.rows.values[here], truncated = plan_.rows.truncated[here],
                  end = plan_.rows.terminated[here] + truncated;
      const bool goes_on = truncated != 0 && !plan_.value.horizon_is_an_end;
      if (end > 0) next = goes_on ? plan_.rows.end_values[here] : 0;
      after = plan_.value.advantage(plan_.rows.rewards[here], value, next, end, after);
      plan_.rows.advantages[here] = after;
      next = value;
    }
  }

 private:
  STEIN_HOST_DEVICE std::int64_t row(int thread, std::int64_t t) const { return row_ + t * slots_ + thread; }
  /// @param steps  of this launch that come before the episode
  STEIN_HOST_DEVICE void begin(int thread, std::int64_t steps, SlotThread<Task>& own) const {
    own.episode.begin(task_, plan_.environment_seed, static_cast<std::uint64_t>(plan_.steps_before + steps),
                      static_cast<std::uint32_t>(slot(thread)));
    own.discounted = 0, own.factor = 1;
  }
  STEIN_HOST_DEVICE void show(int thread, const float (&seen)[seen_size]) const {
    const float* const units = plan_.policy.units;
    for (int k = 0; k < seen_size; ++k)
      shared_[places_.inputs + k * places_.pitch + thread] =
          units != nullptr ? policies::ColumnUnit{units[2 * k], units[2 * k + 1]}(seen[k]) : seen[k];
  }
  /// What layer l reads and writes: the observations stay, layers take turns with two rooms.
  STEIN_HOST_DEVICE const float* below(int l) const {
    return shared_ + (l == 0 ? places_.inputs : l % 2 == 1 ? places_.first : places_.second);
  }
  STEIN_HOST_DEVICE float* above(int l) const { return shared_ + (l % 2 == 0 ? places_.first : places_.second); }

  STEIN_HOST_DEVICE void draw(int thread, std::int64_t t, float (&action)[action_size]) const {
    const PerceptronShape& network = plan_.policy.network;
    NoiseKey noise = plan_.decisions;
    noise.step += static_cast<std::uint64_t>(t);
    const policies::StridedNumbers outputs{above(network.layers - 1) + thread, places_.pitch};
    for (int a = 0; a < action_size; ++a)
      action[a] = plan_.policy.draw(outputs, shared_ + network.shared_constant, noise,
                                    static_cast<std::uint32_t>(particle_), first_ + thread, a);
  }
  STEIN_HOST_DEVICE float value_of(int thread) const {
    const float* const unit = plan_.value.units + 2 * particle_;
    return unit[0] + unit[1] * above(plan_.value.network.layers - 1)[thread];
  }

  const Task& task_;
  const envs::cuda::SlotRules<Task>& rules_;
  const envs::SlotMemory& memory_;
  const RolloutPlan& plan_;
  SharedPlaces places_;
  float* shared_;
  std::int64_t shard_, particle_, first_;
  int slots_, tiles_;
  std::int64_t row_;
};

/// The phases of a block in order.
/// @param threads  what runs phases in all threads of the block:
///                   count()           of threads
///                   each(phase)       phase(thread, own) in every thread, a barrier after it
///                   any(phase)        the same of a phase that answers; whether it said yes in any thread
///                   fail(step, slot)  keeps the first step that failed
///                 `own` are the registers of a thread: .slot, a SlotThread, and .flags, the StepFlags of its last step
template <class Task, class Threads>
STEIN_HOST_DEVICE void play(const RolloutBlock<Task>& block, Threads& threads) {
  const RolloutPlan& plan = block.plan();
  const int count = threads.count();
  const auto value_layers = [&] {
    for (int l = 0; l < plan.value.network.layers; ++l)
      threads.each([&](int thread, auto&) { block.pass_value(thread, count, l); });
  };
  threads.each([&](int thread, auto& own) { block.load(thread, count, own.slot); });
  std::int64_t t = 0;
  for (bool open = true; t < plan.steps || (plan.whole_paths && open); ++t) {
    threads.each([&](int thread, auto& own) { block.present(thread, t, false, own.slot); });
    if (plan.values_steps()) {
      value_layers();
      threads.each([&](int thread, auto&) { block.keep_value(thread, t); });
    }
    for (int l = 0; l < plan.policy.network.layers; ++l)
      threads.each([&](int thread, auto&) { block.pass_policy(thread, count, l); });
    open = threads.any([&](int thread, auto& own) {
      own.flags = block.act(thread, t, own.slot);
      if (own.flags.failed) threads.fail(t, block.slot(thread));
      return own.flags.open;
    });
    if (!plan.values_steps() || plan.value.horizon_is_an_end) continue;
    if (!threads.any([&](int, auto& own) { return own.flags.truncated; })) continue;
    threads.each([&](int thread, auto& own) { block.present_end(thread, t, own.flags.truncated); });
    value_layers();
    threads.each([&](int thread, auto& own) { block.keep_end_value(thread, t, own.flags.truncated); });
  }
  threads.each([&](int thread, auto& own) { block.present(thread, t, true, own.slot); });
  if (plan.values_steps() && !plan.value.horizon_is_an_end) value_layers();
  threads.each([&](int thread, auto& own) { block.finish(thread, t, own.slot); });
}

}  // namespace stein::agents::cuda
