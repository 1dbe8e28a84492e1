#include <stein/agents/control/advantages.h>
#include <stein/agents/control/experience.h>
#include <stein/core/parallel.h>
#include <stein/distributed/shared_work.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

namespace stein::agents {
namespace {

using inference::MatrixView;

float* resized(std::vector<float>& numbers, std::int64_t size) {
  numbers.resize(static_cast<std::size_t>(size));
  return numbers.data();
}

}  // namespace

Experience::Experience(const Options& options, const Rollouts& rollouts)
    : options_(options),
      particles_(rollouts.shape().particles),
      counts_(static_cast<std::size_t>(particles_)),
      steps_per_path_(counts_.size()) {
  const std::size_t shards = rollouts.shards().size();
  running_returns_.resize(shards), rewards_.resize(shards), gathered_.resize(shards), estimates_.resize(shards);
  for (std::size_t i = 0; i < shards; ++i)
    running_returns_[i].resize(static_cast<std::size_t>(rollouts.shards()[i].slots));
}

void Experience::take(const Rollouts& rollouts, const policies::ControlPolicy& policy, Baseline& baseline) {
  gather(rollouts, policy);
  measure_paths(rollouts);
  score_rewards(rollouts);
  const std::int64_t shards = std::ssize(rollouts.shards());
  for (std::size_t index = 0; index < estimates_.size(); ++index)
    resized(estimates_[index], 2 * rollouts.shards()[index].rows());
  distributed::shared_for(
      *ranks_, shards,
      [&](std::int64_t i) {
        const auto index = static_cast<std::size_t>(i);
        estimate(rollouts.shards()[index], index, policy, baseline);
      },
      [&](std::int64_t i) { return std::span(estimates_[static_cast<std::size_t>(i)]); });
  parallel_for(shards, [&](std::int64_t i) { place_estimates(static_cast<std::size_t>(i)); });
  judge_baseline();
  if (!options_.normalize_advantages) return;
  if (options_.normalize_together) return standardise(all_.advantages, all_.scale);
  const auto n = static_cast<std::size_t>(all_.rows);
  for (std::size_t i = 0; i < static_cast<std::size_t>(particles_); ++i)
    standardise({all_.advantages.data() + i * n, n}, {all_.scale.data() + i * n, n});
}

/// Advantages are still target − value.
void Experience::judge_baseline() {
  const auto n = static_cast<std::size_t>(all_.rows), m = static_cast<std::size_t>(particles_);
  explained_variance_ = value_loss_ = 0;
  for (std::size_t i = 0; i < m; ++i) {
    const auto of_particle = [&](const std::vector<float>& numbers) { return std::span(numbers).subspan(i * n, n); };
    const auto errors = of_particle(all_.advantages), scale = of_particle(all_.scale);
    explained_variance_ +=
        agents::explained_variance(of_particle(all_.targets), errors, scale) / static_cast<double>(m);
    for (std::size_t k = 0; k < n; ++k)
      value_loss_ += 0.5 * double{scale[k]} * std::pow(double{errors[k]}, 2) / static_cast<double>(m);
  }
}

/// Brings the rows that count together, particle by particle, in the order shard, step, slot.
void Experience::gather(const Rollouts& rollouts, const policies::ControlPolicy& policy) {
  const std::int64_t m = particles_, seen = policy.observation_size(), act = policy.distribution().actions();
  std::ranges::fill(counts_, 0);
  for (const RolloutShard& shard : rollouts.shards())
    counts_[static_cast<std::size_t>(shard.particle)] += shard.counted_rows();
  all_.rows = *std::ranges::max_element(counts_);
  const std::int64_t rows = m * all_.rows;
  std::fill_n(resized(all_.observations, rows * seen), rows * seen, 0.0F);
  std::fill_n(resized(all_.actions, rows * act), rows * act, 0.0F);
  for (auto* numbers : {&all_.times, &all_.scale, &all_.advantages, &all_.targets, &all_.log_density})
    std::fill_n(resized(*numbers, rows), rows, 0.0F);

  std::vector<std::int64_t> next(static_cast<std::size_t>(m)), first;  // of a particle, of a shard
  for (std::int64_t i = 0; i < m; ++i) next[static_cast<std::size_t>(i)] = i * all_.rows;
  for (const RolloutShard& shard : rollouts.shards()) {
    first.push_back(next[static_cast<std::size_t>(shard.particle)]);
    next[static_cast<std::size_t>(shard.particle)] += shard.counted_rows();
  }
  parallel_for(std::ssize(gathered_), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    const RolloutShard& shard = rollouts.shards()[index];
    gathered_[index].assign(static_cast<std::size_t>(shard.rows()), -1);
    std::int64_t to = first[index];
    const float scale = 1 / static_cast<float>(counts_[static_cast<std::size_t>(shard.particle)]);
    for (std::int64_t row = 0, end = 0; row < shard.rows(); row = end) {
      const bool counts = shard.counts[static_cast<std::size_t>(row)] != 0;
      for (end = row + 1; end < shard.rows() && (shard.counts[static_cast<std::size_t>(end)] != 0) == counts;) ++end;
      if (!counts) continue;
      const std::int64_t n = end - row;  // rows that count, one after the other
      std::iota(gathered_[index].begin() + row, gathered_[index].begin() + end, to);
      policy.present({shard.observations.data() + row * seen, n, seen},
                     {all_.observations.data() + to * seen, n, seen});
      std::copy_n(shard.actions.data() + row * act, n * act, all_.actions.data() + to * act);
      std::copy_n(shard.times.data() + row, n, all_.times.data() + to);
      std::fill_n(all_.scale.data() + to, n, scale);
      to += n;
    }
  });
}

void Experience::measure_paths(const Rollouts& rollouts) {
  std::vector<std::int64_t> paths(counts_.size());
  for (const RolloutShard& shard : rollouts.shards()) {
    paths[static_cast<std::size_t>(shard.particle)] += std::ssize(shard.episodes);
    for (const FinishedEpisode& episode : shard.episodes) last_lengths_.push_back(episode.length);
  }
  if (std::ssize(last_lengths_) > 100) last_lengths_.erase(last_lengths_.begin(), last_lengths_.end() - 100);
  double mean = 0;
  for (const std::int64_t length : last_lengths_)
    mean += static_cast<double>(length) / static_cast<double>(last_lengths_.size());
  if (last_lengths_.empty()) mean = static_cast<double>(rollouts.shards().front().environment->horizon());
  for (std::size_t i = 0; i < paths.size(); ++i)
    steps_per_path_[i] =
        rollouts.shape().whole_paths ? static_cast<double>(counts_[i]) / static_cast<double>(paths[i]) : mean;
}

/// The rewards that are learned from, by shard.
void Experience::score_rewards(const Rollouts& rollouts) {
  for (std::size_t index = 0; index < rewards_.size(); ++index) {
    const RolloutShard& shard = rollouts.shards()[index];
    rewards_[index].assign(shard.rewards.begin(), shard.rewards.begin() + shard.rows());
    if (!options_.normalize_rewards) continue;
    const auto n = static_cast<std::size_t>(shard.slots);
    std::vector<float>& running = running_returns_[index];
    for (std::size_t row = 0; row < rewards_[index].size(); ++row) {
      if (shard.counts[row] == 0) continue;
      float& sum = running[row % n];
      sum = static_cast<float>(options_.discount) * sum + shard.rewards[row];
      reward_moments_.add({&sum, 1, 1});
      if (shard.terminated[row] + shard.truncated[row] > 0) sum = 0;
    }
  }
  if (!options_.normalize_rewards) return;
  const auto scale = static_cast<float>(1 / std::sqrt(reward_moments_.variance(0) + 1e-8));
  for (std::vector<float>& rewards : rewards_)
    for (float& reward : rewards) reward = std::clamp(reward * scale, -10.0F, 10.0F);
}

/// V of the states of one shard before every step, and its advantages.
void Experience::estimate(const RolloutShard& shard, std::size_t index, const policies::ControlPolicy& policy,
                          Baseline& baseline) {
  const auto count = static_cast<std::size_t>(shard.rows());
  const auto values = std::span(estimates_[index]).first(count), advantages = std::span(estimates_[index]).last(count);
  thread_local std::vector<float> next_values, ends;
  next_values.resize(count), ends.resize(count);
  value_steps(shard, policy, baseline, values, next_values);
  if (!options_.normalize_rewards && !shard.advantages.empty()) {
    std::copy_n(shard.advantages.begin(), count, advantages.begin());
    return;
  }
  for (std::size_t row = 0; row < count; ++row) ends[row] = shard.terminated[row] + shard.truncated[row];
  generalised_advantages(
      {.slots = shard.slots, .rewards = rewards_[index], .values = values, .next_values = next_values, .ends = ends},
      options_.discount, options_.gae_lambda, advantages);
}

/// V of the states of one shard before and after every step, 0 after a step that nothing follows.
void Experience::value_steps(const RolloutShard& shard, const policies::ControlPolicy& policy, Baseline& baseline,
                             std::span<float> values, std::span<float> next_values) const {
  const std::int64_t seen = policy.observation_size(), rows = shard.rows(), slots = shard.slots;
  const auto count = static_cast<std::size_t>(rows);
  thread_local std::vector<float> presented, final_values, times;
  const auto value_of = [&](const std::vector<float>& observations, std::int64_t k, std::span<const float> at_times,
                            std::span<const float> known, std::span<float> to) {
    if (!shard.values.empty()) return static_cast<void>(std::ranges::copy(known, to.begin()));
    const MatrixView<float> seen_rows{resized(presented, k * seen), k, seen};
    policy.present({observations.data(), k, seen}, seen_rows);
    if (k > 0) baseline.predict(shard.particle, seen_rows, at_times, to);
  };
  value_of(shard.observations, rows, {shard.times.data(), count}, shard.values, values);
  std::copy(values.begin() + slots, values.begin() + rows, next_values.begin());
  if (options_.horizon_is_an_end) {
    std::fill(next_values.end() - slots, next_values.end(), 0.0F);
  } else {
    value_of(shard.next_observations, slots, shard.episode_times, shard.next_values,
             next_values.last(static_cast<std::size_t>(slots)));
    // A value network does not look at the time.
    times.assign(shard.final_rows.size(), 0.0F), final_values.resize(times.size());
    value_of(shard.final_observations, std::ssize(shard.final_rows), times, shard.final_values, final_values);
  }
  for (std::size_t row = 0; row < count; ++row)
    if (shard.terminated[row] + shard.truncated[row] > 0) next_values[row] = 0;
  if (!options_.horizon_is_an_end)
    for (std::size_t k = 0; k < shard.final_rows.size(); ++k)
      next_values[static_cast<std::size_t>(shard.final_rows[k])] = final_values[k];
}

/// Advantages and returns of one shard, to where its rows were gathered.
void Experience::place_estimates(std::size_t index) {
  const std::vector<std::int64_t>& places = gathered_[index];
  const auto values = std::span(estimates_[index]).first(places.size()),
             advantages = std::span(estimates_[index]).last(places.size());
  for (std::size_t row = 0; row < places.size(); ++row) {
    if (places[row] < 0) continue;
    const auto to = static_cast<std::size_t>(places[row]);
    all_.advantages[to] = advantages[row];
    all_.targets[to] = advantages[row] + values[row];
  }
}

const ExperienceRows& Experience::pick(std::span<const std::int64_t> chosen) {
  const std::int64_t m = particles_, n = std::ssize(chosen), before = m * all_.rows,
                     seen = std::ssize(all_.observations) / before, act = std::ssize(all_.actions) / before;
  picked_.rows = n;
  resized(picked_.observations, m * n * seen), resized(picked_.actions, m * n * act);
  const auto columns = [](ExperienceRows& rows) {
    return std::array{&rows.times, &rows.scale, &rows.advantages, &rows.targets, &rows.log_density};
  };
  const auto from = columns(all_), to = columns(picked_);
  for (auto* numbers : to) resized(*numbers, m * n);
  const float larger = static_cast<float>(all_.rows) / static_cast<float>(n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t old = i * all_.rows + chosen[static_cast<std::size_t>(k)], place = i * n + k;
      std::copy_n(all_.observations.data() + old * seen, seen, picked_.observations.data() + place * seen);
      std::copy_n(all_.actions.data() + old * act, act, picked_.actions.data() + place * act);
      for (std::size_t column = 0; column < to.size(); ++column)
        (*to[column])[static_cast<std::size_t>(place)] = (*from[column])[static_cast<std::size_t>(old)];
      picked_.scale[static_cast<std::size_t>(place)] *= larger;
    }
  return picked_;
}

void Experience::save(Snapshot& snapshot) const {
  reward_moments_.save(snapshot);
  for (std::size_t i = 0; i < running_returns_.size(); ++i)
    snapshot.put("returns" + std::to_string(i), running_returns_[i]);
  snapshot.put("lengths", last_lengths_);
}

void Experience::restore(const Snapshot& snapshot) {
  reward_moments_.restore(snapshot);
  for (std::size_t i = 0; i < running_returns_.size(); ++i)
    snapshot.get("returns" + std::to_string(i), std::span(running_returns_[i]));
  last_lengths_ = snapshot.get_vector<std::int64_t>("lengths");
}

}  // namespace stein::agents
