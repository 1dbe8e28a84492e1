#include <stein/core/error.h>
#include <stein/envs/vector_environment.h>

#include <algorithm>
#include <cmath>

namespace stein::envs {
namespace {

/// Whether all are finite, without a branch a number.
bool all_finite(std::span<const float> values) {
  float sum = 0;
  for (const float value : values) sum += value * 0;  // 0, or not a number
  return sum == 0;
}

}  // namespace

Registry<ControlEntry>& controls() {
  static Registry<ControlEntry> registry("environment");
  return registry;
}

VectorEnvironment::VectorEnvironment(ControlSpec spec, const ControlOptions& options, std::int64_t slots,
                                     std::int64_t first_slot)
    : spec_(std::move(spec)),
      options_(checked(options)),
      slots_(slots),
      first_slot_(first_slot),
      horizon_(options.horizon > 0 ? options.horizon : spec_.horizon) {
  STEIN_CHECK(slots >= 1 && slots <= 10'000'000, "{}: expected 1 to 10000000 slots, got {}", spec_.name, slots);
  STEIN_CHECK(first_slot >= 0, "{}: expected a first slot of at least 0, got {}", spec_.name, first_slot);
  STEIN_CHECK(!options.normalize_actions || !spec_.discrete(),
              "option 'normalize_actions': the actions of {} are choices, there is nothing to normalise", spec_.name);
  const auto n = static_cast<std::size_t>(slots);
  observations_.resize(n * spec_.observation.size());
  final_observations_.resize(observations_.size());
  actions_.resize(n * spec_.action.size());
  for (auto* numbers : {&rewards_, &terminated_, &truncated_, &ended_, &returns_, &lengths_}) numbers->resize(n);
  episodes_.reserve(n);
}

std::span<float> VectorEnvironment::row(std::vector<float>& rows, std::int64_t slot) const {
  return std::span(rows).subspan(static_cast<std::size_t>(slot * observation_size()),
                                 static_cast<std::size_t>(observation_size()));
}

void VectorEnvironment::reset(std::uint64_t seed) {
  seed_ = seed;
  steps_ = 0;
  episodes_.clear();
  for (auto* numbers : {&rewards_, &terminated_, &truncated_}) std::ranges::fill(*numbers, 0.0F);
  for (std::int64_t slot = 0; slot < slots_; ++slot) begin_episode(slot);
}

void VectorEnvironment::begin_episode(std::int64_t slot) {
  Draws draws({.seed = seed_, .step = static_cast<std::uint64_t>(steps_), .stream = Stream::context},
              static_cast<std::uint32_t>(first_slot_ + slot));
  begin(slot, draws, row(observations_, slot));
  returns_[static_cast<std::size_t>(slot)] = 0;
  lengths_[static_cast<std::size_t>(slot)] = 0;
}

void VectorEnvironment::check_actions(std::span<const float> actions) const {
  const std::int64_t width = action_size();
  for (std::int64_t slot = 0; slot < slots_; ++slot)
    for (std::int64_t a = 0; a < width; ++a) {
      const float value = actions[static_cast<std::size_t>(slot * width + a)];
      const Quantity& range = spec_.action[static_cast<std::size_t>(a)];
      if (!std::isfinite(value))
        fail(ErrorKind::numeric, "{}: the action '{}' of slot {} is {} at step {}", spec_.name, range.name,
             first_slot_ + slot, value, steps_);
      const double low = options_.normalize_actions ? -1 : range.low,
                   high = options_.normalize_actions ? 1 : range.high;
      STEIN_CHECK(
          !spec_.discrete() || (value == std::floor(value) && value >= 0 && value < static_cast<float>(spec_.choices)),
          "{}: expected a choice from 0 to {}, got {} in slot {} at step {}", spec_.name, spec_.choices - 1, value,
          first_slot_ + slot, steps_);
      STEIN_CHECK(
          spec_.discrete() || options_.clip_actions || (value >= low && value <= high),
          "{}: expected an action '{}' in [{}, {}], got {} in slot {} at step {}; 'clip_actions' would limit it",
          spec_.name, range.name, low, high, value, first_slot_ + slot, steps_);
    }
}

/// What the task is given: the actions themselves, or what they are mapped to.
std::span<const float> VectorEnvironment::bounded(std::span<const float> actions) {
  if (!options_.normalize_actions) return actions;
  const std::size_t width = spec_.action.size();
  for (std::size_t a = 0; a < width; ++a) {
    const auto low = static_cast<float>(spec_.action[a].low), high = static_cast<float>(spec_.action[a].high);
    const float half = (high - low) / 2, middle = (high + low) / 2;
    for (std::size_t i = a; i < actions.size(); i += width)
      actions_[i] = std::clamp(middle + half * actions[i], low, high);
  }
  return actions_;
}

void VectorEnvironment::step(std::span<const float> actions) {
  STEIN_CHECK(steps_ >= 0, "{}: expected `reset` before the first step", spec_.name);
  STEIN_CHECK(std::ssize(actions) == slots_ * action_size(), "{}: expected {} x {} actions, got {}", spec_.name, slots_,
              action_size(), actions.size());
  if (spec_.discrete() || !options_.clip_actions || !all_finite(actions)) check_actions(actions);
  advance(bounded(actions), rewards_, terminated_, observations_);
  ++steps_;
  const auto n = static_cast<std::size_t>(slots_);
  const auto last = static_cast<float>(horizon_);
  float ended = 0;
  for (std::size_t i = 0; i < n; ++i) {
    returns_[i] += rewards_[i];
    lengths_[i] += 1;
    const float over = lengths_[i] >= last ? 1.0F : 0.0F;
    truncated_[i] = over * (1 - terminated_[i]);
    ended_[i] = truncated_[i] + terminated_[i];
    ended += ended_[i];
  }
  episodes_.clear();
  if (!all_finite(observations_))
    for (std::size_t i = 0; i < observations_.size(); ++i)
      if (!std::isfinite(observations_[i]))
        fail(ErrorKind::numeric, "{}: the observation '{}' of slot {} is {} after step {}", spec_.name,
             spec_.observation[i % spec_.observation.size()].name,
             first_slot_ + static_cast<std::int64_t>(i / spec_.observation.size()), observations_[i], steps_ - 1);
  if (ended > 0) finish_episodes();
}

void VectorEnvironment::finish_episodes() {
  for (std::int64_t slot = 0; slot < slots_; ++slot) {
    const auto i = static_cast<std::size_t>(slot);
    if (ended_[i] == 0) continue;
    episodes_.push_back({.slot = slot,
                         .length = static_cast<std::int64_t>(lengths_[i]),
                         .total_reward = returns_[i],
                         .terminated = terminated_[i] != 0});
    std::ranges::copy(row(observations_, slot), row(final_observations_, slot).begin());
    begin_episode(slot);
  }
}

void VectorEnvironment::set_state(std::int64_t slot, std::span<const double> state) {
  STEIN_CHECK(slot >= 0 && slot < slots_, "{}: expected a slot from 0 to {}, got {}", spec_.name, slots_ - 1, slot);
  STEIN_CHECK(state.size() == spec_.state.size(), "{}: expected a state of {} numbers, got {}", spec_.name,
              spec_.state.size(), state.size());
  write_state(slot, state, row(observations_, slot));
}

std::vector<double> VectorEnvironment::state(std::int64_t slot) const {
  STEIN_CHECK(slot >= 0 && slot < slots_, "{}: expected a slot from 0 to {}, got {}", spec_.name, slots_ - 1, slot);
  std::vector<double> numbers(spec_.state.size());
  read_state(slot, numbers);
  return numbers;
}

void VectorEnvironment::save(Snapshot& snapshot) const {
  snapshot.put_text("environment", fmt::format("{} version {}", spec_.name, spec_.version));
  snapshot.put("slots", std::vector<std::int64_t>{slots_, first_slot_, horizon_, steps_});
  snapshot.put("seed", seed_);
  snapshot.put("observations", observations_);
  snapshot.put("returns", returns_);
  snapshot.put("lengths", lengths_);
  Snapshot states;
  save_states(states);
  snapshot.put_part("states", states);
}

void VectorEnvironment::restore(const Snapshot& snapshot) {
  const std::string expected = fmt::format("{} version {}", spec_.name, spec_.version);
  if (snapshot.get_text("environment") != expected)
    fail(ErrorKind::data, "the saved environment is {}, expected {}", snapshot.get_text("environment"), expected);
  const auto counts = snapshot.get_vector<std::int64_t>("slots");
  if (counts.at(0) != slots_ || counts.at(1) != first_slot_ || counts.at(2) != horizon_)
    fail(ErrorKind::data,
         "the saved {} has {} slots from {} on and a horizon of {}, expected {} slots from {} on and {}", spec_.name,
         counts.at(0), counts.at(1), counts.at(2), slots_, first_slot_, horizon_);
  steps_ = counts.at(3);
  seed_ = snapshot.get_scalar<std::uint64_t>("seed");
  snapshot.get("observations", std::span(observations_));
  snapshot.get("returns", std::span(returns_));
  snapshot.get("lengths", std::span(lengths_));
  episodes_.clear();
  restore_states(snapshot.part("states"));
}

}  // namespace stein::envs
