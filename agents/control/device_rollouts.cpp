#include <stein/agents/control/device_rollouts.h>
#include <stein/agents/control/rollout_places.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/models/mlp_driver.h>
#include <stein/inference/storage/copy_rows.h>

#include <algorithm>

namespace stein::agents {
namespace {

envs::AnalyticTask task_of(const envs::ControlEntry::Builder& builder) {
  auto task = builder.analytic();
  STEIN_CHECK(task.has_value(), "{}: expected a task that is data, a simulator moves it on the processor alone",
              builder.spec().name);
  return *std::move(task);
}

/// From the host to a row of a device; makes the row where it has another size.
template <class Scalar>
void copy_in(std::span<const Scalar> from, inference::Matrix<Scalar>& to, inference::Device device) {
  if (to.columns() != std::ssize(from)) to = inference::Matrix<Scalar>(1, std::ssize(from), device);
  inference::copy_there<Scalar>(from, to.row(0), device);
}

/// All that a row of a device has.
template <class Scalar>
std::vector<Scalar> numbers_of(const inference::Matrix<Scalar>& row) {
  const inference::Matrix<Scalar> home = row.to({});
  return {home.row(0).begin(), home.row(0).end()};
}

/// The numbers of a row of a device at home.
template <class Scalar>
class Home {
 public:
  /// @param together  all in one copy; else part by part, as they are taken
  Home(const inference::Matrix<Scalar>& from, bool together) : from_(from) {
    if (together) all_ = from.to({});
  }

  /// Numbers first, first + 1, …, `count` of them.
  void take(std::int64_t first, std::int64_t count, std::vector<Scalar>& to) const {
    to.resize(static_cast<std::size_t>(count));
    if (!all_.empty()) return static_cast<void>(std::copy_n(all_.row(0).begin() + first, count, to.begin()));
    inference::copy_home<Scalar>(from_.row(0).subspan(static_cast<std::size_t>(first), to.size()), to, from_.device());
  }

 private:
  const inference::Matrix<Scalar>& from_;
  inference::Matrix<Scalar> all_;
};

/// What a device says of the ends of paths in a shard, by row; rows without an end have old numbers.
struct EndsOfShard {
  std::vector<float> observations;   ///< [rows, O]
  std::vector<float> total_rewards;  ///< [rows]
  std::vector<double> discounted;    ///< [rows]
  std::vector<float> values;         ///< [rows]; empty: none were made
};

/// The episodes of a shard that ended and count, in order.
/// @param steps_before  since the reset, before this collection
void gather_episodes(RolloutShard& shard, const EndsOfShard& ends, std::int64_t observation_size,
                     std::int64_t steps_before) {
  shard.final_observations.clear(), shard.final_rows.clear(), shard.episodes.clear(), shard.final_values.clear();
  for (std::int64_t row = 0; row < shard.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    const bool terminated = shard.terminated[at] != 0;
    if (shard.counts[at] == 0 || !(terminated || shard.truncated[at] != 0)) continue;
    shard.add_episode({.particle = shard.particle,
                       .length = static_cast<std::int64_t>(shard.times[at]) + 1,
                       .total_reward = ends.total_rewards[at],
                       .discounted_reward = ends.discounted[at],
                       .terminated = terminated},
                      steps_before + row / shard.slots + 1);
    if (terminated) continue;
    shard.final_rows.push_back(row);
    if (!ends.values.empty()) shard.final_values.push_back(ends.values[at]);
    const auto end = ends.observations.begin() + row * observation_size;
    shard.final_observations.insert(shard.final_observations.end(), end, end + observation_size);
  }
}

}  // namespace

DeviceRollouts::DeviceRollouts(inference::Device device, const envs::ControlEntry::Builder& builder,
                               const RolloutShape& shape, std::uint64_t environment_seed)
    : device_(device),
      task_(task_of(builder)),
      spec_(builder.spec()),
      shape_(shape),
      seed_(environment_seed),
      capacity_(shape.steps + (shape.whole_paths ? task_.options.horizon : 0)),
      state_(1, std::ssize(spec_.state) * slots(), device),
      total_rewards_(1, slots(), device),
      lengths_(1, slots(), device),
      discounted_(1, slots(), device),
      factor_(1, slots(), device),
      taken_(1, slots(), device),
      observations_(1, slots() * capacity_ * std::ssize(spec_.observation), device),
      actions_(1, slots() * capacity_ * std::ssize(spec_.action), device),
      end_observations_(1, observations_.columns(), device),
      next_observations_(1, slots() * std::ssize(spec_.observation), device),
      ended_discounted_(1, slots() * capacity_, device) {
  for (auto* numbers : {&rewards_, &terminated_, &truncated_, &counts_, &times_, &ended_rewards_})
    *numbers = Numbers<float>(1, slots() * capacity_, device);
  const std::vector<double> ones(static_cast<std::size_t>(slots()), 1.0);
  copy_in<double>(ones, factor_, device_);
  rollout_driver(device_).begin(device_.index, task_, {.seed = seed_, .first_slot = 0, .steps = 0}, memory(),
                                next_observations_.view().data);
  if (!shape.whole_paths) copy_in<float>(ages_at_start(shape, task_.options.horizon), lengths_, device_);
}

envs::SlotMemory DeviceRollouts::memory() {
  return {.slots = slots(),
          .state = state_.view().data,
          .total_rewards = total_rewards_.view().data,
          .lengths = lengths_.view().data};
}

PolicyPlan DeviceRollouts::policy_plan(const policies::ControlPolicy& policy) {
  const inference::MatrixView<const float> weights = policy.weights();
  copy_in<float>({weights.data, static_cast<std::size_t>(weights.rows * weights.stride)}, weights_, device_);
  std::vector<float> units;
  for (const policies::ColumnUnit& unit : policy.observation_units())
    units.insert(units.end(), {unit.mean, unit.scale});
  if (!units.empty()) copy_in<float>(units, units_, device_);
  return {.network = PerceptronShape(policy.weight_layout(), policy.activation()),
          .weights = weights_.view().data,
          .stride = weights.stride,
          .draw = policy.distribution().row_draw(),
          .units = units.empty() ? nullptr : units_.view().data};
}

ValuePlan DeviceRollouts::value_plan(const ValuedBy& valued) {
  const inference::MatrixView<const float> weights = valued.weights;
  const bool shared = weights.rows == 1;
  STEIN_CHECK(
      (shared || weights.rows == shape_.particles) && std::ssize(valued.units) == 2 * weights.rows,
      "rollouts on a device: expected value networks and units of {} particles, or of one for all, got {} and {}",
      shape_.particles, weights.rows, valued.units.size() / 2);
  copy_in<float>({weights.data, static_cast<std::size_t>(weights.rows * weights.stride)}, value_weights_, device_);
  std::vector<float> units = valued.units;
  for (std::int64_t i = weights.rows; i < shape_.particles; ++i)
    units.insert(units.end(), {valued.units[0], valued.units[1]});
  copy_in<float>(units, value_units_, device_);
  if (values_.empty()) {
    for (auto* numbers : {&values_, &end_values_}) *numbers = Numbers<float>(1, slots() * capacity_, device_);
    next_values_ = Numbers<float>(1, slots(), device_);
  }
  if (valued.advantage && advantages_.empty()) advantages_ = Numbers<float>(1, slots() * capacity_, device_);
  return {.network = PerceptronShape(valued.layout, valued.activation),
          .weights = value_weights_.view().data,
          .stride = shared ? 0 : weights.stride,
          .units = value_units_.view().data,
          .advantage = valued.advantage.value_or(AdvantageStep{}),
          .horizon_is_an_end = valued.horizon_is_an_end};
}

RolloutRows DeviceRollouts::rows() {
  return {.capacity = capacity_,
          .steps = taken_.view().data,
          .observations = observations_.view().data,
          .actions = actions_.view().data,
          .rewards = rewards_.view().data,
          .terminated = terminated_.view().data,
          .truncated = truncated_.view().data,
          .counts = counts_.view().data,
          .times = times_.view().data,
          .end_observations = end_observations_.view().data,
          .total_rewards = ended_rewards_.view().data,
          .discounted = ended_discounted_.view().data,
          .next_observations = next_observations_.view().data,
          .values = values_.view().data,
          .next_values = next_values_.view().data,
          .end_values = end_values_.view().data,
          .advantages = has_advantages_ ? advantages_.view().data : nullptr};
}

void DeviceRollouts::launch(const policies::ControlPolicy& policy, std::uint64_t environment_seed,
                            const NoiseKey& decisions, const ValuedBy* valued) {
  if (shape_.whole_paths) seed_ = environment_seed, steps_ = 0;
  has_valued_ = valued != nullptr;
  has_advantages_ = has_valued_ && valued->advantage.has_value();
  const ValuePlan value = has_valued_ ? value_plan(*valued) : ValuePlan{};
  const RolloutPlan plan{.particles = shape_.particles,
                         .slots = shape_.slots,
                         .steps = shape_.steps,
                         .whole_paths = shape_.whole_paths,
                         .discount = shape_.discount,
                         .environment_seed = seed_,
                         .steps_before = steps_,
                         .decisions = decisions,
                         .policy = policy_plan(policy),
                         .value = value,
                         .sums = {.sum = discounted_.view().data, .factor = factor_.view().data},
                         .rows = rows()};
  if (const auto failure = rollout_driver(device_).collect(device_.index, task_, memory(), plan))
    fail(ErrorKind::numeric,
         "{}: expected actions inside their bounds and finite rewards and observations, slot {} has others in step {}",
         spec_.name, failure->slot, steps_ + failure->step);
  if (!shape_.whole_paths) steps_ += shape_.steps;
}

ValuedRows DeviceRollouts::valued_rows() const {
  STEIN_CHECK(!values_.empty(), "rollouts on a device: expected a launch with value networks before its values");
  return {.capacity = capacity_,
          .values = numbers_of(values_),
          .end_values = numbers_of(end_values_),
          .next_values = numbers_of(next_values_),
          .advantages = numbers_of(advantages_)};
}

bool DeviceRollouts::fits(const policies::ControlPolicy& policy, const ValuedBy& valued) const {
  RolloutPlan plan{};
  plan.slots = shape_.slots;
  plan.policy.network = PerceptronShape(policy.weight_layout(), policy.activation());
  plan.value.network = PerceptronShape(valued.layout, valued.activation);
  const cuda::SharedPlaces places(plan, static_cast<int>(std::ssize(spec_.observation)));
  return std::int64_t{places.size} * std::int64_t{sizeof(float)} <=
         inference::mlp_driver(device_).shared_bytes(device_.index);
}

void DeviceRollouts::bring_home(std::span<RolloutShard> shards) const {
  const std::vector<std::int64_t> taken = numbers_of(taken_);
  for (std::size_t i = 0; i < shards.size(); ++i) shards[i].steps = taken[i];
  const bool together = !shape_.whole_paths;  // every shard fills its room
  const Home observations(observations_, together), actions(actions_, together), rewards(rewards_, together),
      terminated(terminated_, together), truncated(truncated_, together), counts(counts_, together),
      times(times_, together), ends(end_observations_, together), total_rewards(ended_rewards_, together),
      next_observations(next_observations_, true), lengths(lengths_, true);
  const Home discounted(ended_discounted_, together);
  const Numbers<float> none;
  const auto valued = [&](const Numbers<float>& numbers) -> const Numbers<float>& {
    return has_valued_ ? numbers : none;
  };
  const Home advantages(has_advantages_ ? advantages_ : none, together);
  const Home values(valued(values_), together), end_values(valued(end_values_), together),
      next_values(valued(next_values_), true);
  const std::int64_t seen = std::ssize(spec_.observation), acts = std::ssize(spec_.action);
  parallel_for(std::ssize(shards), [&](std::int64_t i) {
    RolloutShard& shard = shards[static_cast<std::size_t>(i)];
    const std::int64_t slot = first_slot_of(shard), row = slot * capacity_, rows = shard.rows();
    observations.take(row * seen, rows * seen, shard.observations);
    actions.take(row * acts, rows * acts, shard.actions);
    rewards.take(row, rows, shard.rewards);
    terminated.take(row, rows, shard.terminated);
    truncated.take(row, rows, shard.truncated);
    counts.take(row, rows, shard.counts);
    times.take(row, rows, shard.times);
    next_observations.take(slot * seen, shard.slots * seen, shard.next_observations);
    lengths.take(slot, shard.slots, shard.episode_times);
    EndsOfShard found;
    ends.take(row * seen, rows * seen, found.observations);
    total_rewards.take(row, rows, found.total_rewards);
    discounted.take(row, rows, found.discounted);
    shard.values.clear(), shard.advantages.clear();
    if (has_advantages_) advantages.take(row, rows, shard.advantages);
    if (has_valued_) {
      values.take(row, rows, shard.values);
      next_values.take(slot, shard.slots, shard.next_values);
      end_values.take(row, rows, found.values);
    }
    gather_episodes(shard, found, seen, shape_.whole_paths ? 0 : steps_ - shape_.steps);
  });
}

std::vector<ShardProgress> DeviceRollouts::progress(std::span<const RolloutShard> shards) const {
  const Home states(state_, true), total_rewards(total_rewards_, true), lengths(lengths_, true),
      observations(next_observations_, true);
  const Home discounted(discounted_, true), factor(factor_, true);
  const std::int64_t seen = std::ssize(spec_.observation), width = std::ssize(spec_.state);
  std::vector<ShardProgress> all;
  std::vector<float> numbers;
  for (const RolloutShard& shard : shards) {
    ShardProgress& found = all.emplace_back(ShardProgress{.slots = {.seed = seed_, .steps = steps_}});
    const std::int64_t slot = first_slot_of(shard);
    found.slots.states.resize(static_cast<std::size_t>(shard.slots * width));
    for (std::int64_t k = 0; k < width; ++k) {
      states.take(k * slots() + slot, shard.slots, numbers);
      for (std::int64_t i = 0; i < shard.slots; ++i)
        found.slots.states[static_cast<std::size_t>(i * width + k)] = numbers[static_cast<std::size_t>(i)];
    }
    observations.take(slot * seen, shard.slots * seen, found.slots.observations);
    total_rewards.take(slot, shard.slots, found.slots.total_rewards);
    lengths.take(slot, shard.slots, found.slots.lengths);
    discounted.take(slot, shard.slots, found.discounted);
    factor.take(slot, shard.slots, found.factor);
  }
  return all;
}

void DeviceRollouts::go_on_from(std::span<const RolloutShard> shards) {
  const auto n = static_cast<std::size_t>(slots());
  std::vector<float> states(n * spec_.state.size()), total_rewards(n), lengths(n),
      observations(n * spec_.observation.size());
  std::vector<double> discounted(n), factor(n);
  for (const RolloutShard& shard : shards) {
    const envs::SlotProgress progress = shard.environment->progress();
    const auto slot = static_cast<std::size_t>(first_slot_of(shard)), width = spec_.state.size();
    seed_ = progress.seed, steps_ = progress.steps;
    const auto put = [](const auto& from, auto& to, std::size_t first) {
      std::ranges::copy(from, to.begin() + static_cast<std::ptrdiff_t>(first));
    };
    for (std::size_t i = 0; i < progress.states.size(); ++i)
      states[i % width * n + slot + i / width] = static_cast<float>(progress.states[i]);
    put(progress.observations, observations, slot * spec_.observation.size());
    put(progress.total_rewards, total_rewards, slot), put(progress.lengths, lengths, slot);
    put(shard.discounted, discounted, slot), put(shard.factor, factor, slot);
  }
  copy_in<float>(states, state_, device_), copy_in<float>(observations, next_observations_, device_);
  copy_in<float>(total_rewards, total_rewards_, device_), copy_in<float>(lengths, lengths_, device_);
  copy_in<double>(discounted, discounted_, device_), copy_in<double>(factor, factor_, device_);
}

}  // namespace stein::agents
