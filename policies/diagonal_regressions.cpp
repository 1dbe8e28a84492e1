#include <stein/core/error.h>
#include <stein/policies/diagonal_regressions.h>

#include <algorithm>

namespace stein::policies {

DiagonalRegressions::DiagonalRegressions(const envs::BanditSpec& spec, const Setup& setup)
    : spec_(spec), intercept_(setup.intercept) {
  const bool disjoint = setup.form == RegressionForm::disjoint, common = setup.form == RegressionForm::common;
  STEIN_CHECK(setup.prior_precision > 0, "a regression needs a prior precision > 0, got {}", setup.prior_precision);
  STEIN_CHECK(disjoint || spec.arm_features > 0,
              "regression={} needs arms with features, and those of '{}' have none; regression=disjoint needs none",
              common ? "common" : "hybrid", spec.name);
  context_columns_ = static_cast<std::size_t>(spec.context_size) + (intercept_ ? 1 : 0);
  own_columns_ = common ? 0 : context_columns_;
  shared_columns_ =
      disjoint ? 0 : std::max<std::size_t>(context_columns_, 1) * static_cast<std::size_t>(spec.arm_features);
  const std::size_t all_own = static_cast<std::size_t>(spec.arms) * own_columns_;
  STEIN_CHECK((all_own + shared_columns_) * 16 <= std::size_t{2} << 30,
              "the coefficients of {} arms of '{}', {} of each and {} shared, need more than 2 GiB", spec.arms,
              spec.name, own_columns_, shared_columns_);
  own_ = {std::vector<double>(all_own), std::vector<double>(all_own, setup.prior_precision)};
  shared_ = {std::vector<double>(shared_columns_), std::vector<double>(shared_columns_, setup.prior_precision)};
  row_.resize(std::max<std::size_t>(context_columns_, 1) + shared_columns_);
}

std::span<const DiagonalRegressions::Prediction> DiagonalRegressions::predict(const envs::Context& context) {
  load(context);
  predictions_.resize(static_cast<std::size_t>(context.choices(spec_)));
  const auto add = [](Prediction& to, double w, double mean, double precision) {
    to.mean += w * mean;
    to.leverage += w * w / precision;
  };
  for (std::size_t place = 0; place < predictions_.size(); ++place) {
    Prediction& prediction = predictions_[place] = {};
    const std::size_t first = static_cast<std::size_t>(context.arm(static_cast<std::int64_t>(place))) * own_columns_;
    for (std::size_t j = 0; j < own_columns_; ++j)
      add(prediction, row_[j], own_.mean[first + j], own_.precision[first + j]);
    if (shared_columns_ == 0) continue;
    multiply_features(context, place);
    const double* const features = row_.data() + row_.size() - shared_columns_;
    for (std::size_t j = 0; j < shared_columns_; ++j)
      add(prediction, features[j], shared_.mean[j], shared_.precision[j]);
  }
  return predictions_;
}

void DiagonalRegressions::move(const envs::Context& context, std::int64_t arm, double step, double weight) {
  const auto place = static_cast<std::size_t>(context.place_of(arm, spec_));
  load(context);
  const auto move_one = [&](double w, double& mean, double& precision) {
    mean += step * w / precision;
    precision += weight * w * w;
  };
  const std::size_t first = static_cast<std::size_t>(arm) * own_columns_;
  for (std::size_t j = 0; j < own_columns_; ++j) move_one(row_[j], own_.mean[first + j], own_.precision[first + j]);
  if (shared_columns_ == 0) return;
  multiply_features(context, place);
  const double* const features = row_.data() + row_.size() - shared_columns_;
  for (std::size_t j = 0; j < shared_columns_; ++j) move_one(features[j], shared_.mean[j], shared_.precision[j]);
}

void DiagonalRegressions::load(const envs::Context& context) {
  context.check(spec_);
  if (context_columns_ == 0) row_[0] = 1;  // z_a = f_a
  if (spec_.active_columns > 0) std::fill_n(row_.begin(), context_columns_, 0.0);
  for (const std::int32_t column : context.active) row_[static_cast<std::size_t>(column)] = 1;
  std::ranges::copy(context.dense, row_.begin());
  if (intercept_) row_[context_columns_ - 1] = 1;
}

void DiagonalRegressions::multiply_features(const envs::Context& context, std::size_t place) {
  const auto width = static_cast<std::size_t>(spec_.arm_features);
  const auto features = context.arm_features.subspan(place * width, width);
  double* product = row_.data() + row_.size() - shared_columns_;
  for (std::size_t i = 0; i < shared_columns_ / width; ++i)
    for (const float feature : features) *product++ = row_[i] * double{feature};
}

void DiagonalRegressions::save(Snapshot& snapshot) const {
  snapshot.put("own_means", own_.mean);
  snapshot.put("own_precisions", own_.precision);
  snapshot.put("shared_means", shared_.mean);
  snapshot.put("shared_precisions", shared_.precision);
}

void DiagonalRegressions::restore(const Snapshot& snapshot) {
  snapshot.get("own_means", std::span(own_.mean));
  snapshot.get("own_precisions", std::span(own_.precision));
  snapshot.get("shared_means", std::span(shared_.mean));
  snapshot.get("shared_precisions", std::span(shared_.precision));
}

}  // namespace stein::policies
