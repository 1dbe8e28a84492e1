#include <stein/bench/eigen_policy.h>
#include <stein/core/rng.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stein::bench {

EigenPolicy::EigenPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : options_(options),
      spec_(spec),
      seed_(seed),
      columns_(spec.context_size * (options.common ? spec.arm_features : 1)),
      generator_(seed) {
  const auto d = static_cast<std::size_t>(columns_);
  const std::size_t regressions = options.common ? 1 : static_cast<std::size_t>(spec.arms);
  inverses_.resize(regressions * d * d);
  for (std::size_t i = 0; i < regressions * d; ++i) inverses_[i * d + i % d] = 1 / options.prior_precision;
  moments_.resize(regressions * d);
  coefficients_.resize(regressions * d);
  counts_.resize(regressions);
  squares_.resize(regressions);
}

policies::Decision EigenPolicy::decide(const envs::Context& context, std::int64_t step, policies::Propensities) {
  predict(context);
  if (options_.alpha > 0)
    judge_by_bounds();
  else
    judge_by_draws(context);
  const auto best = std::ranges::max_element(judgement_);
  std::int64_t place = best - judgement_.begin();
  const double largest = *best;
  if (std::find(best + 1, judgement_.end(), largest) != judgement_.end()) {  // as ours does
    for (double& each : judgement_) each = each == largest ? 1 : 0;
    Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
    place = static_cast<std::int64_t>(draws.categorical(judgement_));
  }
  return {.action = context.arm(place)};
}

void EigenPolicy::predict(const envs::Context& context) {
  const auto choices = context.present.size();
  means_.resize(choices);
  leverages_.resize(choices);
  judgement_.resize(choices);
  if (!options_.common) {
    rows_.assign(context.dense.begin(), context.dense.end());
    regressions_.predict_each(columns_, sums(), context.present.data(), std::ssize(context.present), rows_.data(),
                              means_.data(), leverages_.data());
    return;
  }
  rows_.resize(choices * static_cast<std::size_t>(columns_));
  for (std::size_t place = 0; place < choices; ++place)
    multiply_out(context, place, rows_.data() + place * static_cast<std::size_t>(columns_));
  regressions_.predict_all(columns_, sums(), std::ssize(context.present), rows_.data(), means_.data(),
                           leverages_.data());
}

void EigenPolicy::multiply_out(const envs::Context& context, std::size_t place, double* row) const {
  const auto width = static_cast<std::size_t>(spec_.arm_features);
  const auto features = context.arm_features.subspan(place * width, width);
  for (const float x : context.dense)
    for (const float f : features) *row++ = double{x} * double{f};
}

void EigenPolicy::judge_by_bounds() {
  for (std::size_t place = 0; place < judgement_.size(); ++place)
    judgement_[place] = means_[place] + options_.alpha * std::sqrt(leverages_[place]);
}

void EigenPolicy::judge_by_draws(const envs::Context& context) {
  for (std::size_t place = 0; place < judgement_.size(); ++place) {
    const auto i = options_.common ? 0 : static_cast<std::size_t>(context.present[place]);
    const auto d = static_cast<std::size_t>(columns_);
    const double shape = options_.prior_shape + counts_[i] / 2;
    const double explained = std::inner_product(moments_.begin() + static_cast<std::ptrdiff_t>(i * d),
                                                moments_.begin() + static_cast<std::ptrdiff_t>((i + 1) * d),
                                                coefficients_.begin() + static_cast<std::ptrdiff_t>(i * d), 0.0);
    const double rate = options_.prior_rate + (squares_[i] - explained) / 2;
    const double precision = std::gamma_distribution<double>(shape, 1 / rate)(generator_);
    judgement_[place] = means_[place] + std::sqrt(leverages_[place] / precision) * normal_(generator_);
  }
}

void EigenPolicy::observe(const envs::Context& context, const policies::Outcome& outcome) {
  rows_.resize(static_cast<std::size_t>(columns_));
  if (options_.common)
    multiply_out(context, static_cast<std::size_t>(context.place_of(outcome.action, spec_)), rows_.data());
  else
    std::ranges::copy(context.dense, rows_.begin());
  const std::int64_t regression = options_.common ? 0 : outcome.action;
  regressions_.observe(columns_, sums(), regression, rows_.data(), outcome.reward);
  counts_[static_cast<std::size_t>(regression)] += 1;
  squares_[static_cast<std::size_t>(regression)] += outcome.reward * outcome.reward;
}

}  // namespace stein::bench
