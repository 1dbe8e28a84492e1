#include <stein/core/error.h>
#include <stein/policies/fused/triangular_factor.h>
#include <stein/policies/linear_regressions.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

using Numbers = inference::AlignedBuffer<double>;

/// Numbers that are moved together: a size known to the compiler makes that a few moves, without a call.
constexpr std::size_t block = 8;
constexpr double most_numbers = 1 << 28;  // 2 GiB of doubles

/// In double: the product may be larger than any integer.
double numbers_of(const FactorShape& shape) {
  return (1 + static_cast<double>(shape.columns)) * static_cast<double>(shape.stride());
}

/// For so many arms that were observed; those that were not share the factor of the prior.
void check_size(const envs::BanditSpec& spec, std::size_t arms, const FactorShape& own, const FactorShape& shared) {
  const double numbers = (1 + static_cast<double>(arms)) * numbers_of(own) + numbers_of(shared);
  STEIN_CHECK(numbers <= most_numbers,
              "linear regressions of '{}' would need {:.1f} GiB for {} arms; at most 2 GiB are used", spec.name,
              numbers * 8 / (1 << 30), arms);
}

/// Without reciprocals and padding, [columns, rows].
void append_columns(const Numbers& factor, const FactorShape& shape, std::vector<double>& to) {
  for (std::size_t j = 0; j < shape.columns; ++j) {
    const double* const column = factor.data() + (1 + j) * shape.stride();
    to.insert(to.end(), column, column + shape.rows);
  }
}

void set_columns(Numbers& factor, const FactorShape& shape, const double* from) {
  for (std::size_t j = 0; j < shape.columns; ++j, from += shape.rows) {
    std::copy_n(from, shape.rows, factor.data() + (1 + j) * shape.stride());
    factor.data()[j] = 1 / from[j];
  }
}

}  // namespace

LinearRegressions::LinearRegressions(const envs::BanditSpec& spec, const Setup& setup)
    : spec_(spec),
      form_(setup.form),
      intercept_(setup.intercept),
      prior_diagonal_(std::sqrt(setup.prior_precision)),
      prior_last_(std::sqrt(setup.prior_squares)) {
  STEIN_CHECK(setup.prior_precision > 0 && setup.prior_squares >= 0,
              "a ridge regression needs a prior precision > 0 and prior squares ≥ 0, got {} and {}",
              setup.prior_precision, setup.prior_squares);
  STEIN_CHECK(disjoint() || spec.arm_features > 0,
              "regression={} needs arms with features, and those of '{}' have none; regression=disjoint needs none",
              form_ == RegressionForm::common ? "common" : "hybrid", spec.name);
  context_columns_ = static_cast<std::size_t>(spec.context_size) + (intercept_ ? 1 : 0);
  own_columns_ = form_ == RegressionForm::common ? 0 : context_columns_;
  shared_columns_ =
      disjoint() ? 0 : std::max<std::size_t>(context_columns_, 1) * static_cast<std::size_t>(spec.arm_features);
  own_ = {.columns = own_columns_ + (disjoint() ? 1 : 0), .rows = own_columns_ + shared_columns_ + 1};
  if (!disjoint()) shared_ = {.columns = shared_columns_ + 1, .rows = shared_columns_ + 1};
  check_size(spec_, 1, own_, shared_);

  own_factors_.emplace_back(own_.size());
  set_prior(own_, own_columns_, own_factors_.front());
  shared_factor_ = Numbers(shared_.size());
  set_prior(shared_, shared_columns_, shared_factor_);
  place_of_.assign(static_cast<std::size_t>(spec.arms), 0);
  observations_.assign(disjoint() ? place_of_.size() : 1, 0);
  context_ = Numbers(std::max(own_.stride(), context_columns_ + 1));
  if (context_columns_ == 0 && !disjoint()) context_.data()[0] = 1;  // z_a = f_a
  features_.resize((static_cast<std::size_t>(spec.arm_features) + block - 1) / block * block);
  make_room(1);
}

std::span<const LinearRegressions::Prediction> LinearRegressions::predict(const envs::Context& context) {
  load(context);
  const auto choices = static_cast<std::size_t>(context.choices(spec_));
  make_room(choices);
  for (std::size_t place = 0; place < choices; ++place) {
    if (!disjoint()) fill_row(context, place, own_rows_.data() + place * own_.stride());
    const auto arm = static_cast<std::size_t>(context.arm(static_cast<std::int64_t>(place)));
    factors_[place] = own_factors_[static_cast<std::size_t>(place_of_[arm])].data();
    leverages_[place] = 0;
  }
  const std::span factors(factors_.data(), choices);
  eliminate_own(factors);
  // The last row of the factor is (L⁻¹b)ᵀ, so what is left in a row's last place is −v·L⁻¹b.
  const double* rest = own_rows_.data() + own_columns_;
  std::size_t stride = own_.stride();
  if (!disjoint()) {
    double* const rows = remainders(choices);
    std::ranges::fill(factors, shared_factor_.data());
    fused::eliminate({.factors = factors,
                      .columns = shared_columns_,
                      .stride = shared_.stride(),
                      .from = rows,
                      .from_stride = shared_.stride(),
                      .rows = rows,
                      .squares = leverages_.data()});
    rest = rows + shared_columns_, stride = shared_.stride();
  }
  for (std::size_t place = 0; place < choices; ++place)
    predictions_[place] = {.mean = -rest[place * stride], .leverage = leverages_[place]};
  return {predictions_.data(), choices};
}

/// The row of disjoint regressions is the same for all arms.
void LinearRegressions::eliminate_own(std::span<const double* const> factors) {
  fused::eliminate({.factors = factors,
                    .columns = own_columns_,
                    .stride = own_.stride(),
                    .from = disjoint() ? context_.data() : own_rows_.data(),
                    .from_stride = disjoint() ? 0 : own_.stride(),
                    .rows = own_rows_.data(),
                    .squares = leverages_.data()});
}

void LinearRegressions::observe(const envs::Context& context, std::int64_t arm, double reward, double weight) {
  double* const row = own_rows_.data();
  write_row(context, arm, reward, weight, row);
  if (own_.columns > 0) fused::rotate_in(own_factor(arm).data(), own_, row);
  if (!disjoint()) fused::rotate_in(shared_factor_.data(), shared_, remainders(1));
  observations_[sum_of(arm)] += weight;
}

void LinearRegressions::write_row(const envs::Context& context, std::int64_t arm, double reward, double weight,
                                  double* row) {
  const auto place = static_cast<std::size_t>(context.place_of(arm, spec_));
  STEIN_CHECK(std::isfinite(reward), "a reward must be finite, got {}", reward);
  STEIN_CHECK(std::isfinite(weight) && weight >= 0, "a weight must be finite and at least 0, got {}", weight);
  load(context);
  fill_row(context, place, row);
  row[own_.rows - 1] = reward;
  if (weight != 1)
    for (double& number : std::span(row, own_.rows)) number *= std::sqrt(weight);
}

double LinearRegressions::squares(std::int64_t arm) const {
  const FactorShape& shape = disjoint() ? own_ : shared_;
  const Numbers& factor =
      disjoint() ? own_factors_[static_cast<std::size_t>(place_of_[static_cast<std::size_t>(arm)])] : shared_factor_;
  const double root = factor.data()[shape.columns * shape.stride() + shape.rows - 1];
  return root * root;
}

void LinearRegressions::load(const envs::Context& context) {
  context.check(spec_);
  double* const x = context_.data();
  if (spec_.active_columns > 0) std::fill_n(x, context_columns_, 0.0);
  for (const std::int32_t column : context.active) x[column] = 1;
  std::ranges::copy(context.dense, x);
  if (intercept_) x[context_columns_ - 1] = 1;
}

void LinearRegressions::fill_row(const envs::Context& context, std::size_t place, double* row) {
  if (own_columns_ > 0)
    for (std::size_t k = 0; k < own_.stride(); k += block) std::copy_n(context_.data() + k, block, row + k);
  if (!disjoint()) {
    const auto width = static_cast<std::size_t>(spec_.arm_features);
    std::ranges::copy(context.arm_features.subspan(place * width, width), features_.begin());
    double* product = row + own_columns_;
    // In whole blocks: what is written too far is written again, or lies behind the row.
    for (std::size_t i = 0; i < shared_columns_ / width; ++i, product += width)
      for (std::size_t k = 0; k < features_.size(); k += block)
        for (std::size_t j = k; j < k + block; ++j) product[j] = context_.data()[i] * features_[j];
  }
  row[own_.rows - 1] = 0;
}

double* LinearRegressions::remainders(std::size_t choices) {
  if (own_columns_ == 0) return own_rows_.data();  // nothing was eliminated: the rows are of the same shape
  for (std::size_t place = 0; place < choices; ++place)
    std::copy_n(own_rows_.data() + place * own_.stride() + own_columns_, shared_.rows,
                shared_rows_.data() + place * shared_.stride());
  return shared_rows_.data();
}

void LinearRegressions::make_room(std::size_t choices) {
  if (choices <= factors_.size()) return;
  own_rows_ = Numbers(choices * own_.stride() + block);
  shared_rows_ = Numbers(choices * shared_.stride());
  factors_.resize(choices);
  leverages_.resize(choices);
  predictions_.resize(choices);
}

void LinearRegressions::set_prior(const FactorShape& shape, std::size_t coefficients, Numbers& factor) const {
  std::fill_n(factor.data(), factor.size(), 0.0);
  for (std::size_t j = 0; j < shape.columns; ++j) {
    const double value = j < coefficients ? prior_diagonal_ : prior_last_;
    factor.data()[(1 + j) * shape.stride() + j] = value;
    factor.data()[j] = 1 / value;
  }
}

LinearRegressions::Numbers& LinearRegressions::own_factor(std::int64_t arm) {
  std::int32_t& place = place_of_[static_cast<std::size_t>(arm)];
  if (place == 0) {
    const std::size_t count = own_factors_.size();
    check_size(spec_, count, own_, shared_);
    own_factors_.push_back(own_factors_.front());
    observed_.push_back(static_cast<std::int32_t>(arm));
    place = static_cast<std::int32_t>(count);
  }
  return own_factors_[static_cast<std::size_t>(place)];
}

void LinearRegressions::save(Snapshot& snapshot) const {
  const auto dimension = [](std::size_t size) { return static_cast<std::int64_t>(size); };
  std::vector<double> numbers;
  for (const Numbers& factor : own_factors_) append_columns(factor, own_, numbers);
  snapshot.put("arms", observed_);
  snapshot.put("factors", std::span<const double>(numbers),
               {dimension(own_factors_.size()), dimension(own_.columns), dimension(own_.rows)});
  if (!disjoint()) {
    numbers.clear();
    append_columns(shared_factor_, shared_, numbers);
    snapshot.put("shared", std::span<const double>(numbers), {dimension(shared_.columns), dimension(shared_.rows)});
  }
  snapshot.put("weights", observations_);
}

void LinearRegressions::restore(const Snapshot& snapshot) {
  if (!snapshot.contains("arms")) return restore_older(snapshot);
  const auto arms = snapshot.get_vector<std::int32_t>("arms");
  const std::size_t one = own_.columns * own_.rows;
  std::vector<double> numbers((1 + arms.size()) * one);
  snapshot.get("factors", std::span(numbers));
  std::ranges::fill(place_of_, 0);
  observed_.clear();
  own_factors_.resize(1);
  set_columns(own_factors_.front(), own_, numbers.data());
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (arms[i] < 0 || arms[i] >= spec_.arms || place_of_[static_cast<std::size_t>(arms[i])] != 0)
      fail(ErrorKind::data, "saved regressions of '{}' do not fit {} arms", spec_.name, spec_.arms);
    set_columns(own_factor(arms[i]), own_, numbers.data() + (1 + i) * one);
  }
  if (!disjoint()) {
    numbers.resize(shared_.columns * shared_.rows);
    snapshot.get("shared", std::span(numbers));
    set_columns(shared_factor_, shared_, numbers.data());
  }
  snapshot.get("weights", std::span(observations_));
}

/// Checkpoints of versions that had disjoint regressions only, with a factor of every arm; the oldest have counts in
/// the place of weights.
void LinearRegressions::restore_older(const Snapshot& snapshot) {
  const std::size_t one = own_.columns * own_.rows;
  std::vector<double> numbers(place_of_.size() * one);
  snapshot.get("factors", std::span(numbers));
  if (snapshot.contains("weights")) {
    snapshot.get("weights", std::span(observations_));
  } else {
    std::vector<std::int64_t> counts(observations_.size());
    snapshot.get("observations", std::span(counts));
    std::ranges::copy(counts, observations_.begin());
  }
  for (std::size_t arm = 0; arm < observations_.size(); ++arm)
    if (observations_[arm] > 0)
      set_columns(own_factor(static_cast<std::int64_t>(arm)), own_, numbers.data() + arm * one);
}

}  // namespace stein::policies
