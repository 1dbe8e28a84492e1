#include <stein/agents/control/rollout_shard.h>
#include <stein/distributed/shared_work.h>
#include <stein/distributed/snapshot_message.h>

#include <algorithm>
#include <span>

namespace stein::agents {
namespace {

using distributed::read_list, distributed::read_numbers, distributed::write_list, distributed::write_numbers;

/// Calls visit(numbers, width) for everything that has `width` numbers a row.
template <class Shard, class Visit>
void for_each_column(Shard& shard, const Visit& visit) {
  const envs::ControlSpec& spec = shard.environment->spec();
  visit(shard.observations, spec.observation.size());
  visit(shard.actions, spec.action.size());
  for (auto* numbers : {&shard.rewards, &shard.terminated, &shard.truncated, &shard.counts, &shard.times})
    visit(*numbers, std::size_t{1});
}

/// Calls visit(list) for everything that is as long as it happens to be, and for what there is of every slot.
template <class Shard, class Visit>
void for_each_list(Shard& shard, const Visit& visit) {
  visit(shard.final_observations), visit(shard.final_rows), visit(shard.episodes);
  visit(shard.next_observations), visit(shard.episode_times), visit(shard.discounted), visit(shard.factor);
}

}  // namespace

void RolloutShard::reserve(std::int64_t rows) {
  const auto n = static_cast<std::size_t>(rows);
  if (rewards.size() >= n) return;
  for_each_column(*this, [&](auto& numbers, std::size_t width) { numbers.resize(n * width); });
}

std::int64_t RolloutShard::counted_rows() const {
  return std::count(counts.begin(), counts.begin() + rows(), 1.0F);
}

void RolloutShard::write(std::string& message) const {
  Snapshot state;
  environment->save(state);
  write_list(distributed::to_message(state), message);
  write_numbers(std::span(&steps, 1), message);
  const auto n = static_cast<std::size_t>(rows());
  for_each_column(*this, [&](const auto& numbers, std::size_t width) {
    write_numbers(std::span(numbers).first(n * width), message);
  });
  for_each_list(*this, [&](const auto& list) { write_list(list, message); });
}

void RolloutShard::read(std::string_view& message) {
  std::string saved;
  read_list(message, saved);
  environment->restore(distributed::from_message(saved));
  read_numbers(message, std::span(&steps, 1));
  reserve(rows());
  const auto n = static_cast<std::size_t>(rows());
  for_each_column(
      *this, [&](auto& numbers, std::size_t width) { read_numbers(message, std::span(numbers).first(n * width)); });
  for_each_list(*this, [&](auto& list) { read_list(message, list); });
}

}  // namespace stein::agents
