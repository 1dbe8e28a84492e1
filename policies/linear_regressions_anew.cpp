// Regressions made anew from a window of interactions: sums of products of rows, and one Cholesky factorisation each.
#include <stein/core/error.h>
#include <stein/policies/bandit_policy.h>
#include <stein/policies/fused/triangular_factor.h>
#include <stein/policies/linear_regressions.h>

#include <algorithm>
#include <numeric>

namespace stein::policies {
namespace {

/// Rows that are added together: of 56 numbers they and the tiles that they are added to stay in the first-level cache.
constexpr std::size_t block_rows = 32;
/// Numbers behind a row that fill_row may write to.
constexpr std::size_t numbers_behind = 8;

void check_lengths(const InteractionBatch& window, const envs::BanditSpec& spec) {
  const auto holds = [&](std::ptrdiff_t length, std::int64_t columns) { return length == window.rows * columns; };
  STEIN_CHECK(
      holds(std::ssize(window.dense), spec.dense_columns()) && holds(std::ssize(window.active), spec.active_columns) &&
          holds(std::ssize(window.arm_features), spec.arm_features) && holds(std::ssize(window.actions), 1) &&
          holds(std::ssize(window.rewards), 1) && (window.weights.empty() || holds(std::ssize(window.weights), 1)),
      "a window of {} interactions with '{}': expected {} dense numbers, {} active columns, {} features of the "
      "chosen arm, an action and a reward for each, got {}, {}, {}, {} and {} in all, and {} weights",
      window.rows, spec.name, spec.dense_columns(), spec.active_columns, spec.arm_features, window.dense.size(),
      window.active.size(), window.arm_features.size(), window.actions.size(), window.rewards.size(),
      window.weights.size());
}

double weight_of(const InteractionBatch& window, std::size_t i) {
  return window.weights.empty() ? 1.0 : double{window.weights[i]};
}

}  // namespace

void LinearRegressions::make_anew(const InteractionBatch& window) {
  check_lengths(window, spec_);
  forget();
  if (form_ == RegressionForm::hybrid) {
    for (std::size_t i = 0; i < window.actions.size(); ++i)
      observe(context_of(window, static_cast<std::int64_t>(i), spec_), window.actions[i], double{window.rewards[i]},
              weight_of(window, i));
    return;
  }
  sort(window);
  if (block_.size() == 0) block_ = Numbers(block_rows * own_.stride() + numbers_behind);
  std::size_t first = 0;
  for (std::size_t k = 0; k < ends_.size(); first = ends_[k++]) {
    if (ends_[k] == first) continue;
    regress(window, std::span(order_).subspan(first, ends_[k] - first),
            disjoint() ? own_factor(static_cast<std::int64_t>(k)) : shared_factor_);
  }
  for (std::size_t i = 0; i < window.actions.size(); ++i)
    observations_[sum_of(window.actions[i])] += weight_of(window, i);
}

void LinearRegressions::forget() {
  std::ranges::fill(observations_, 0.0);
  for (std::size_t place = 1; place < own_factors_.size(); ++place) set_prior(own_, own_columns_, own_factors_[place]);
  set_prior(shared_, shared_columns_, shared_factor_);
}

/// By counting: the interactions of an arm stay in their order.
void LinearRegressions::sort(const InteractionBatch& window) {
  order_.resize(window.actions.size());
  ends_.assign(observations_.size(), 0);
  for (const std::int32_t arm : window.actions) {
    envs::check_arm(spec_, arm);
    ++ends_[sum_of(arm)];
  }
  std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), std::size_t{0});
  for (std::size_t i = 0; i < order_.size(); ++i)
    order_[ends_[sum_of(window.actions[i])]++] = static_cast<std::int32_t>(i);
}

void LinearRegressions::regress(const InteractionBatch& window, std::span<const std::int32_t> which, Numbers& factor) {
  const FactorShape& shape = disjoint() ? own_ : shared_;
  for (std::size_t j = 0; j < shape.columns; ++j) {
    double& number = factor.data()[(1 + j) * shape.stride() + j];  // of the prior's factor, which is diagonal
    number *= number;
  }
  for (std::size_t first = 0; first < which.size(); first += block_rows) {
    const std::span<const std::int32_t> rows = which.subspan(first, std::min(block_rows, which.size() - first));
    double* row = block_.data();
    for (const std::int32_t i : rows) write_row(window, i, row), row += shape.stride();
    fused::add_products(factor.data(), shape, block_.data(), rows.size());
  }
  if (fused::factorise(factor.data(), shape)) return;
  set_prior(shape, shape.columns - 1, factor);
  for (const std::int32_t i : which) {
    write_row(window, i, block_.data());
    fused::rotate_in(factor.data(), shape, block_.data());
  }
}

void LinearRegressions::write_row(const InteractionBatch& window, std::int32_t number, double* row) {
  const auto i = static_cast<std::size_t>(number);
  write_row(context_of(window, number, spec_), window.actions[i], double{window.rewards[i]}, weight_of(window, i), row);
}

}  // namespace stein::policies
