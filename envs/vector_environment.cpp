#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/envs/fused/bookkeeping.h>
#include <stein/envs/vector_environment.h>

#include <array>
#include <cmath>
#include <numeric>

namespace stein::envs {
namespace {

/// The numbers of one slot among those of all, [slots, width].
template <class Numbers>
auto row_of(Numbers& numbers, std::int64_t slot, std::size_t width) {
  return std::span(numbers).subspan(static_cast<std::size_t>(slot) * width, width);
}

}  // namespace

Registry<ControlEntry>& controls() {
  static Registry<ControlEntry> registry("environment");
  return registry;
}

std::unique_ptr<SingleEnvironment> ControlEntry::Builder::make_single() const {
  return single_slot_of(make(1));
}

StepReference ControlEntry::Builder::reference(std::int64_t slots) const {
  std::vector<std::shared_ptr<VectorEnvironment>> environments;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    environments.emplace_back(make(1, slot));
    environments.back()->reset(0);
  }
  const std::size_t width = spec().action.size();
  return {.name = "one slot after the other", .step = [environments, width](std::span<const float> actions) {
            for (std::size_t slot = 0; slot < environments.size(); ++slot)
              environments[slot]->step(actions.subspan(slot * width, width));
          }};
}

VectorEnvironment::VectorEnvironment(ControlSpec spec, const ControlOptions& options, std::int64_t slots,
                                     std::int64_t first_slot, std::int64_t share)
    : spec_(std::move(spec)),
      bounds_(spec_, options),
      slots_(slots),
      first_slot_(first_slot),
      horizon_(options.of(spec_).horizon),
      share_(share) {
  STEIN_CHECK(slots >= 1 && slots <= 10'000'000, "{}: expected 1 to 10000000 slots, got {}", spec_.name, slots);
  STEIN_CHECK(first_slot >= 0, "{}: expected a first slot of at least 0, got {}", spec_.name, first_slot);
  STEIN_CHECK(share >= 1 && (share % block_slots == 0 || block_slots % share == 0),
              "{}: expected a share of slots that is a multiple of {} or divides it, got {}", spec_.name, block_slots,
              share);
  const auto n = static_cast<std::size_t>(slots);
  observations_.resize(n * spec_.observation.size());
  final_observations_.resize(observations_.size());
  if (bounds_.maps()) actions_.resize(n * spec_.action.size());
  for (auto* numbers : {&rewards_, &terminated_, &truncated_, &returns_, &lengths_}) numbers->resize(n);
  ended_.resize(n);
  counts_.resize(static_cast<std::size_t>((slots + unit() - 1) / unit()));
  episodes_.resize(n);
}

void VectorEnvironment::reset(std::uint64_t seed) {
  seed_ = seed;
  steps_ = 0;
  episode_count_ = 0;
  for (auto* numbers : {&rewards_, &terminated_, &truncated_}) std::ranges::fill(*numbers, 0.0F);
  std::iota(ended_.begin(), ended_.end(), 0);
  begin_episodes(ended_);
}

void VectorEnvironment::begin_episodes(std::span<const std::int32_t> slots) {
  begin_several(slots, {.seed = seed_, .step = static_cast<std::uint64_t>(steps_), .stream = Stream::context},
                observations_);
  for (const std::int32_t slot : slots) {
    returns_[static_cast<std::size_t>(slot)] = 0;
    lengths_[static_cast<std::size_t>(slot)] = 0;
  }
}

void VectorEnvironment::begin_several(std::span<const std::int32_t> slots, const NoiseKey& key,
                                      std::span<float> observations) {
  const std::size_t width = spec_.observation.size();
  for (const std::int32_t slot : slots) {
    Draws draws(key, static_cast<std::uint32_t>(first_slot_ + slot));
    begin(slot, draws, observations.subspan(static_cast<std::size_t>(slot) * width, width));
  }
}

void VectorEnvironment::step(std::span<const float> actions) {
  STEIN_CHECK(steps_ >= 0, "{}: expected `reset` before the first step", spec_.name);
  STEIN_CHECK(std::ssize(actions) == slots_ * action_size(), "{}: expected {} x {} actions, got {}", spec_.name, slots_,
              action_size(), actions.size());
  if (!bounds_.allow(actions)) bounds_.check(actions, first_slot_, steps_);
  ++steps_;
  parallel_blocks(slots_, share_, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += unit())
      step_block(first, std::min(unit(), end - first), actions);
  });
  gather_episodes();
}

/// All that a step does to slots first … first + count − 1.
void VectorEnvironment::step_block(std::int64_t first, std::int64_t count, std::span<const float> actions) {
  const auto part = [&](auto values, std::int64_t width) {
    return values.subspan(static_cast<std::size_t>(first * width), static_cast<std::size_t>(count * width));
  };
  std::span<const float> given = part(actions, action_size());
  if (bounds_.maps()) {
    bounds_.map(given, part(std::span(actions_), action_size()));
    given = part(std::span(std::as_const(actions_)), action_size());
  }
  const std::span<float> observations = part(std::span(observations_), observation_size());
  const std::span<float> rewards = part(std::span(rewards_), 1);
  advance(first, given, rewards, part(std::span(terminated_), 1), observations);
  std::int64_t& ended = counts_[static_cast<std::size_t>(first / unit())];
  ended = -1;
  if (!fused::all_finite(observations) || !fused::all_finite(rewards)) return;
  const auto from = static_cast<std::size_t>(first);
  ended = fused::count_step({.first = first,
                             .slots = count,
                             .horizon = static_cast<float>(horizon_),
                             .rewards = &rewards_[from],
                             .terminated = &terminated_[from],
                             .truncated = &truncated_[from],
                             .returns = &returns_[from],
                             .lengths = &lengths_[from],
                             .ended = &ended_[from]});
  if (ended > 0) finish_episodes(first, ended);
}

/// Keeps the ends of the first `count` slots of ended_[first …], and begins anew.
void VectorEnvironment::finish_episodes(std::int64_t first, std::int64_t count) {
  const auto from = static_cast<std::size_t>(first);
  const std::size_t width = spec_.observation.size();
  const auto ended = std::span(ended_).subspan(from, static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < ended.size(); ++k) {
    const auto i = static_cast<std::size_t>(ended[k]);
    episodes_[from + k] = {.slot = ended[k],
                           .length = static_cast<std::int64_t>(lengths_[i]),
                           .total_reward = returns_[i],
                           .terminated = terminated_[i] != 0};
    for (std::size_t o = i * width; o < (i + 1) * width; ++o) final_observations_[o] = observations_[o];
  }
  if (auto_reset_) begin_episodes(ended);
}

/// Puts the episodes of all blocks one after the other.
void VectorEnvironment::gather_episodes() {
  episode_count_ = 0;
  for (std::size_t block = 0; block < counts_.size(); ++block) {
    if (counts_[block] < 0) fail_outcome();
    const auto from = episodes_.begin() + static_cast<std::int64_t>(block) * unit();
    std::copy(from, from + counts_[block], episodes_.begin() + static_cast<std::int64_t>(episode_count_));
    episode_count_ += static_cast<std::size_t>(counts_[block]);
  }
}

void VectorEnvironment::fail_outcome() const {
  const auto is_wrong = [](float value) { return !std::isfinite(value); };
  const auto wrong = std::ranges::find_if(observations_, is_wrong);
  const std::int64_t i = wrong - observations_.begin();
  if (wrong == observations_.end()) {
    const auto reward = std::ranges::find_if(rewards_, is_wrong);
    fail(ErrorKind::numeric, "{}: the reward of slot {} is {} after step {}", spec_.name,
         first_slot_ + (reward - rewards_.begin()), *reward, steps_ - 1);
  }
  fail(ErrorKind::numeric, "{}: the observation '{}' of slot {} is {} after step {}", spec_.name,
       spec_.observation[static_cast<std::size_t>(i % observation_size())].name, first_slot_ + i / observation_size(),
       *wrong, steps_ - 1);
}

void VectorEnvironment::set_state(std::int64_t slot, std::span<const double> state) {
  STEIN_CHECK(slot >= 0 && slot < slots_, "{}: expected a slot from 0 to {}, got {}", spec_.name, slots_ - 1, slot);
  check_state(spec_, state);
  write_state(slot, state, row_of(observations_, slot, spec_.observation.size()));
}

std::vector<double> VectorEnvironment::state(std::int64_t slot) const {
  STEIN_CHECK(slot >= 0 && slot < slots_, "{}: expected a slot from 0 to {}, got {}", spec_.name, slots_ - 1, slot);
  std::vector<double> numbers(spec_.state.size());
  read_state(slot, numbers);
  return numbers;
}

void VectorEnvironment::set_lengths(std::span<const float> lengths) {
  const auto fits = [&](float length) { return length >= 0 && length < static_cast<float>(horizon_); };
  STEIN_CHECK(std::ssize(lengths) == slots_ && std::ranges::all_of(lengths, fits),
              "{}: expected the lengths of {} episodes, each from 0 to {} steps", spec_.name, slots_, horizon_ - 1);
  std::ranges::copy(lengths, lengths_.begin());
}

SlotProgress VectorEnvironment::progress() const {
  SlotProgress found{.seed = seed_,
                     .steps = steps_,
                     .states = std::vector<double>(static_cast<std::size_t>(slots_) * spec_.state.size()),
                     .observations = observations_,
                     .total_rewards = returns_,
                     .lengths = lengths_};
  for (std::int64_t slot = 0; slot < slots_; ++slot) read_state(slot, row_of(found.states, slot, spec_.state.size()));
  return found;
}

void VectorEnvironment::set_progress(const SlotProgress& progress) {
  const auto n = static_cast<std::size_t>(slots_), width = spec_.state.size();
  STEIN_CHECK(progress.states.size() == n * width && progress.observations.size() == observations_.size() &&
                  progress.total_rewards.size() == n && progress.lengths.size() == n,
              "{}: expected the progress of {} slots, got {} states, {} observations, {} rewards and {} lengths",
              spec_.name, slots_, progress.states.size(), progress.observations.size(), progress.total_rewards.size(),
              progress.lengths.size());
  seed_ = progress.seed, steps_ = progress.steps, episode_count_ = 0;
  for (auto* numbers : {&rewards_, &terminated_, &truncated_}) std::ranges::fill(*numbers, 0.0F);
  for (std::int64_t slot = 0; slot < slots_; ++slot)
    write_state(slot, row_of(progress.states, slot, width), row_of(observations_, slot, spec_.observation.size()));
  observations_ = progress.observations, returns_ = progress.total_rewards, lengths_ = progress.lengths;
}

/// By the name that a snapshot gives them.
template <class Self>
auto VectorEnvironment::kept_numbers(Self& self) {
  return std::array{std::pair{"observations", &self.observations_},
                    std::pair{"final_observations", &self.final_observations_},
                    std::pair{"rewards", &self.rewards_},
                    std::pair{"terminated", &self.terminated_},
                    std::pair{"truncated", &self.truncated_},
                    std::pair{"returns", &self.returns_},
                    std::pair{"lengths", &self.lengths_}};
}

void VectorEnvironment::save(Snapshot& snapshot) const {
  snapshot.put_text("environment", fmt::format("{} version {}", spec_.name, spec_.version));
  snapshot.put("slots", std::vector<std::int64_t>{slots_, first_slot_, horizon_, steps_});
  snapshot.put("seed", seed_);
  for (const auto& [name, numbers] : kept_numbers(*this)) snapshot.put(name, *numbers);
  std::vector<double> ended;
  for (const Episode& episode : episodes())
    ended.insert(ended.end(), {static_cast<double>(episode.slot), static_cast<double>(episode.length),
                               episode.total_reward, episode.terminated ? 1.0 : 0.0});
  snapshot.put("ended", ended);
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
  for (const auto& [name, numbers] : kept_numbers(*this)) snapshot.get(name, std::span(*numbers));
  const auto ended = snapshot.get_vector<double>("ended");
  episode_count_ = std::min(ended.size() / 4, episodes_.size());
  for (std::size_t k = 0; k < episode_count_; ++k)
    episodes_[k] = {.slot = static_cast<std::int64_t>(ended[4 * k]),
                    .length = static_cast<std::int64_t>(ended[4 * k + 1]),
                    .total_reward = ended[4 * k + 2],
                    .terminated = ended[4 * k + 3] != 0};
  restore_states(snapshot.part("states"));
}

}  // namespace stein::envs
