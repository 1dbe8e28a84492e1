#include <stein/core/error.h>
#include <stein/policies/arm_regressions.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

using Vector = Eigen::Map<Eigen::VectorXd>;
using Matrix = Eigen::Map<Eigen::MatrixXd>;

constexpr double most_numbers = 1 << 28;  // 2 GiB of doubles

}  // namespace

ArmRegressions::ArmRegressions(const envs::BanditSpec& spec, bool intercept, double prior_precision,
                               double prior_squares)
    : spec_(spec), intercept_(intercept), order_(static_cast<std::size_t>(spec.context_size) + (intercept ? 2 : 1)) {
  STEIN_CHECK(prior_precision > 0 && prior_squares >= 0,
              "a ridge regression needs a prior precision > 0 and prior squares ≥ 0, got {} and {}", prior_precision,
              prior_squares);
  const double numbers = static_cast<double>(spec.arms) * static_cast<double>(order_) * static_cast<double>(order_);
  STEIN_CHECK(numbers <= most_numbers,
              "linear regressions for {} arms of {} columns would need {:.1f} GiB; at most 2 GiB are used", spec.arms,
              spec.context_size, numbers * 8 / (1 << 30));
  const auto arms = static_cast<std::size_t>(spec.arms);
  factors_.assign(arms * order_ * order_, 0.0);
  observations_.assign(arms, 0);
  row_.resize(order_);
  work_.resize(order_);
  const auto order = static_cast<Eigen::Index>(order_);
  for (std::size_t arm = 0; arm < arms; ++arm) {
    Matrix lower(factor(arm), order, order);
    lower.diagonal().setConstant(std::sqrt(prior_precision));
    lower(order - 1, order - 1) = std::sqrt(prior_squares);
  }
}

std::span<const ArmRegressions::Prediction> ArmRegressions::predict(const envs::Context& context) {
  load(context, 0);
  const auto order = static_cast<Eigen::Index>(order_);
  Vector work(work_.data(), order);
  predictions_.resize(static_cast<std::size_t>(context.choices(spec_)));
  for (std::size_t place = 0; place < predictions_.size(); ++place) {
    const auto arm = static_cast<std::size_t>(context.arm(static_cast<std::int64_t>(place)));
    // Forward substitution of v = L⁻¹x. The last row of the factor is (L⁻¹b)ᵀ, so the last place ends at −v·L⁻¹b.
    const Matrix lower(factor(arm), order, order);
    std::copy(row_.begin(), row_.end(), work_.begin());
    double leverage = 0;
    for (Eigen::Index k = 0; k + 1 < order; ++k) {
      if (work[k] == 0) continue;
      const double v = work[k] / lower(k, k);
      leverage += v * v;
      work.tail(order - k - 1) -= v * lower.col(k).tail(order - k - 1);
    }
    predictions_[place] = {.mean = -work[order - 1], .leverage = leverage};
  }
  return predictions_;
}

void ArmRegressions::observe(const envs::Context& context, std::int64_t arm, double reward, double weight) {
  static_cast<void>(context.place_of(arm, spec_));
  STEIN_CHECK(std::isfinite(reward), "a reward must be finite, got {}", reward);
  STEIN_CHECK(std::isfinite(weight) && weight >= 0, "a weight must be finite and at least 0, got {}", weight);
  load(context, reward);
  if (weight != 1)
    for (double& number : row_) number *= std::sqrt(weight);
  double* lower = factor(static_cast<std::size_t>(arm));
  for (std::size_t k = 0; k < order_; ++k) {
    if (row_[k] == 0) continue;
    double* column = lower + k * order_;
    const double length = std::hypot(column[k], row_[k]);
    const double cosine = column[k] / length, sine = row_[k] / length;
    column[k] = length;
    for (std::size_t i = k + 1; i < order_; ++i) {
      const double old = column[i];
      column[i] = cosine * old + sine * row_[i];
      row_[i] = cosine * row_[i] - sine * old;
    }
  }
  observations_[static_cast<std::size_t>(arm)] += weight;
}

double ArmRegressions::squares(std::int64_t arm) const {
  const double root = factors_[(static_cast<std::size_t>(arm) + 1) * order_ * order_ - 1];
  return root * root;
}

void ArmRegressions::load(const envs::Context& context, double last) {
  context.check(spec_);
  std::fill(row_.begin(), row_.end(), 0.0);
  for (const std::int32_t column : context.active) row_[static_cast<std::size_t>(column)] = 1;
  std::copy(context.dense.begin(), context.dense.end(), row_.begin());
  if (intercept_) row_[order_ - 2] = 1;
  row_[order_ - 1] = last;
}

void ArmRegressions::save(Snapshot& snapshot) const {
  const auto order = static_cast<std::int64_t>(order_);
  snapshot.put("factors", std::span<const double>(factors_), {spec_.arms, order, order});
  snapshot.put("weights", observations_);
}

void ArmRegressions::restore(const Snapshot& snapshot) {
  snapshot.get("factors", std::span(factors_));
  if (snapshot.contains("weights")) {
    snapshot.get("weights", std::span(observations_));
  } else {  // older checkpoints, of which none has weights
    std::vector<std::int64_t> counts(observations_.size());
    snapshot.get("observations", std::span(counts));
    std::ranges::copy(counts, observations_.begin());
  }
}

}  // namespace stein::policies
