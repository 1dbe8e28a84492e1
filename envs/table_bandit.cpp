#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/envs/table_bandit.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace stein::envs {
namespace {

/// The arm that pays more than any other, if one does.
std::optional<std::size_t> only_best(std::span<const double> rewards) {
  const auto best = std::ranges::max_element(rewards);
  if (std::ranges::count(rewards, *best) > 1) return std::nullopt;
  return static_cast<std::size_t>(best - rewards.begin());
}

}  // namespace

TableBandit::TableBandit(BanditSpec spec, ContextTable contexts, Rewards rewards)
    : spec_(std::move(spec)),
      contexts_(std::make_shared<const ContextTable>(std::move(contexts))),
      rewards_(std::make_shared<const Rewards>(std::move(rewards))),
      context_(static_cast<std::size_t>(contexts_->size())) {
  STEIN_CHECK(spec_.arms >= 2, "'{}' has {} arms, expected two or more", spec_.name, spec_.arms);
  STEIN_CHECK(contexts_->rows() <= std::numeric_limits<std::uint32_t>::max(), "'{}' has {} rows, expected at most {}",
              spec_.name, contexts_->rows(), std::numeric_limits<std::uint32_t>::max());
  const std::int64_t kinds = std::ssize(rewards_->expected) / spec_.arms;
  STEIN_CHECK(std::ssize(rewards_->expected) == kinds * spec_.arms, "'{}' has {} expected rewards for {} arms",
              spec_.name, rewards_->expected.size(), spec_.arms);
  STEIN_CHECK((rewards_->kinds.empty() ? kinds : std::ssize(rewards_->kinds)) == contexts_->rows(),
              "'{}' has {} rows of contexts and {} of rewards", spec_.name, contexts_->rows(),
              rewards_->kinds.empty() ? kinds : std::ssize(rewards_->kinds));
  for (const std::int32_t kind : rewards_->kinds)
    STEIN_CHECK(kind >= 0 && kind < kinds, "'{}' has a row of kind {}, expected one in [0, {})", spec_.name, kind,
                kinds);
  fill_in_spec();
  TableBandit::observe(0, 0);
}

Context TableBandit::observe(std::uint64_t seed, std::int64_t step) {
  seed_ = seed;
  step_ = step;
  Draws draws({seed, static_cast<std::uint64_t>(step), Stream::context}, 0);
  row_ = draws.integer(static_cast<std::uint32_t>(contexts_->rows()));
  contexts_->write(row_, context_);
  return {.dense = context_, .active = {}};
}

double TableBandit::reward(std::int64_t arm) {
  check_arm(spec_, arm);
  const double expected = expected_rewards()[static_cast<std::size_t>(arm)];
  if (rewards_->noise == 0) return expected;
  Draws draws({seed_, static_cast<std::uint64_t>(step_), Stream::reward}, static_cast<std::uint32_t>(arm));
  return expected + rewards_->noise * draws.normal();
}

std::vector<BanditEnvironment::Probe> TableBandit::probes() const {
  std::vector<std::int64_t> first_rows(static_cast<std::size_t>(std::min(spec_.arms, most_probes)), -1);
  for (std::int64_t row = contexts_->rows() - 1; row >= 0; --row)
    if (const auto arm = only_best(expected_from(row)); arm && *arm < first_rows.size()) first_rows[*arm] = row;
  std::vector<Probe> probes;
  for (std::size_t arm = 0; arm < first_rows.size(); ++arm) {
    if (first_rows[arm] < 0) continue;
    const auto expected = expected_from(first_rows[arm]);
    Probe& probe = probes.emplace_back();
    probe.name = spec_.arm_names.empty() ? fmt::format("arm {}", arm) : spec_.arm_names[arm];
    probe.dense.resize(context_.size());
    contexts_->write(first_rows[arm], probe.dense);
    probe.expected_rewards = {expected.begin(), expected.end()};
  }
  return probes;
}

std::span<const double> TableBandit::expected_from(std::int64_t row) const {
  const std::size_t kind = rewards_->kinds.empty()
                               ? static_cast<std::size_t>(row)
                               : static_cast<std::size_t>(rewards_->kinds[static_cast<std::size_t>(row)]);
  const auto arms = static_cast<std::size_t>(spec_.arms);
  return std::span(rewards_->expected).subspan(kind * arms, arms);
}

void TableBandit::fill_in_spec() {
  spec_.context_size = contexts_->size();
  spec_.numbers = contexts_->numbers();
  spec_.reward_low = std::numeric_limits<double>::infinity();
  spec_.reward_high = -spec_.reward_low;
  const double cells = static_cast<double>(contexts_->rows()) * static_cast<double>(spec_.arms);
  double sum = 0, squares = 0;
  for (std::int64_t row = 0; row < contexts_->rows(); ++row) {
    for (const double value : expected_from(row)) {
      spec_.reward_low = std::min(spec_.reward_low, value);
      spec_.reward_high = std::max(spec_.reward_high, value);
      sum += value;
      squares += value * value;
    }
  }
  const double mean = sum / cells;
  spec_.reward_deviation = std::sqrt(std::max(0.0, squares / cells - mean * mean) + rewards_->noise * rewards_->noise);
  spec_.bounded = rewards_->noise == 0 && spec_.reward_low < spec_.reward_high;
}

}  // namespace stein::envs
