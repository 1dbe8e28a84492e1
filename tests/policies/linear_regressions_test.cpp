#include <stein/core/rng.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/linear_regressions.h>

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "core/error_matcher.h"
#include "policies/arm_contexts.h"

namespace stein::policies {
namespace {

std::unique_ptr<envs::BanditEnvironment> make_bandit(const std::string& name) {
  const auto builder = envs::bandits().at(name).builder();
  OptionTable table;
  builder->describe(table);
  return builder->make({});
}

using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

/// The same regression of one arm from sums over all its interactions, solved at once in long double.
struct Batch {
  Matrix precision;
  Vector moment;
  long double reward_squares = 0;

  Batch(Eigen::Index columns, double prior_precision)
      : precision(Matrix::Identity(columns, columns) * static_cast<long double>(prior_precision)),
        moment(Vector::Zero(columns)) {}
  static Vector features(const envs::BanditSpec& spec, const envs::Context& context) {
    Vector x = Vector::Zero(spec.context_size + 1);
    for (const std::int32_t column : context.active) x[column] = 1;
    for (std::size_t i = 0; i < context.dense.size(); ++i) x[static_cast<Eigen::Index>(i)] = context.dense[i];
    x[spec.context_size] = 1;
    return x;
  }
  void observe(const Vector& x, double reward) {
    for (Eigen::Index column = 0; column < x.size(); ++column)
      if (x[column] != 0) precision.col(column) += x[column] * x;
    moment += reward * x;
    reward_squares += static_cast<long double>(reward) * reward;
  }
};

TEST_CASE("after 50,000 interactions the factor still agrees with the batch solution", "[policies][linear]") {
  const auto [name, interactions] = GENERATE(
      table<std::string, std::int64_t>({{"mushroom-synthetic", 50'000}, {"linear", 50'000}, {"wheel", 50'000}}));
  INFO(name);
  const auto bandit = make_bandit(name);
  const envs::BanditSpec& spec = bandit->spec();
  constexpr double prior_precision = 0.25, prior_squares = 12;
  LinearRegressions regressions(spec, {.prior_precision = prior_precision, .prior_squares = prior_squares});
  Batch batch(spec.context_size + 1, prior_precision);
  const std::int64_t arm = 1;
  for (std::int64_t step = 0; step < interactions; ++step) {
    const envs::Context context = bandit->observe(3, step);
    const double reward = bandit->reward(arm);
    regressions.observe(context, arm, reward);
    batch.observe(Batch::features(spec, context), reward);
  }
  CHECK(regressions.observations(arm) == static_cast<double>(interactions));
  CHECK(regressions.observations(0) == 0);
  const Eigen::LLT<Matrix> factor(batch.precision);
  const Vector coefficients = factor.solve(batch.moment);
  const long double squares = prior_squares + batch.reward_squares - batch.moment.dot(coefficients);
  CHECK(regressions.squares(arm) == Approx(static_cast<double>(squares)).epsilon(1e-8));
  CHECK(regressions.squares(0) == Approx(prior_squares).epsilon(1e-14));
  for (std::int64_t step = interactions; step < interactions + 200; ++step) {
    const envs::Context context = bandit->observe(3, step);
    const auto predictions = regressions.predict(context);
    const Vector x = Batch::features(spec, context);
    REQUIRE(predictions[1].mean == Approx(static_cast<double>(x.dot(coefficients))).margin(1e-8).epsilon(0));
    REQUIRE(predictions[1].leverage == Approx(static_cast<double>(x.dot(factor.solve(x)))).epsilon(1e-8));
    REQUIRE(predictions[0].mean == 0);
    REQUIRE(predictions[0].leverage == Approx(static_cast<double>(x.dot(x)) / prior_precision).epsilon(1e-14));
  }
}

TEST_CASE("one-hot columns and the same zeros and ones as dense numbers give the same bits", "[policies][linear]") {
  const auto bandit = make_bandit("mushroom-synthetic");
  envs::BanditSpec dense_spec = bandit->spec();
  dense_spec.active_columns = 0;
  LinearRegressions sparse(bandit->spec(), {}), dense(dense_spec, {});
  std::vector<float> numbers;
  for (std::int64_t step = 0; step < 200; ++step) {
    const envs::Context context = bandit->observe(5, step);
    numbers.assign(static_cast<std::size_t>(dense_spec.context_size), 0);
    for (const std::int32_t column : context.active) numbers[static_cast<std::size_t>(column)] = 1;
    const envs::Context as_numbers{.dense = numbers, .active = {}};
    const auto a = sparse.predict(context), b = dense.predict(as_numbers);
    REQUIRE(a[1].mean == b[1].mean);
    REQUIRE(a[1].leverage == b[1].leverage);
    sparse.observe(context, 1, bandit->reward(1));
    dense.observe(as_numbers, 1, bandit->reward(1));
  }
}

/// All coefficients of all arms at once: the normal equations of the whole system, arm after arm, and behind them what
/// arms share.
class WholeSystem {
 public:
  WholeSystem(const envs::BanditSpec& spec, const LinearRegressions::Setup& setup)
      : spec_(spec),
        setup_(setup),
        columns_(spec.context_size + (setup.intercept ? 1 : 0)),
        own_(setup.form == RegressionForm::common ? 0 : columns_),
        shared_(setup.form == RegressionForm::disjoint ? 0 : std::max<Eigen::Index>(columns_, 1) * spec.arm_features),
        precision_(Eigen::MatrixXd::Identity(size(), size()) * setup.prior_precision),
        moment_(Eigen::VectorXd::Zero(size())),
        squares_(static_cast<std::size_t>(spec.arms), setup.prior_squares) {}

  Eigen::VectorXd row(const envs::Context& context, std::int64_t arm) const {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(columns_), whole = Eigen::VectorXd::Zero(size());
    for (const std::int32_t column : context.active) x[column] = 1;
    for (std::size_t i = 0; i < context.dense.size(); ++i) x[static_cast<Eigen::Index>(i)] = context.dense[i];
    if (setup_.intercept) x[columns_ - 1] = 1;
    if (own_ > 0) whole.segment(arm * own_, own_) = x;
    if (shared_ == 0) return whole;
    if (columns_ == 0) x = Eigen::VectorXd::Ones(1);
    const auto place = context.place_of(arm, spec_);
    for (Eigen::Index i = 0; i < x.size(); ++i)
      for (Eigen::Index j = 0; j < spec_.arm_features; ++j)
        whole[size() - shared_ + i * spec_.arm_features + j] =
            x[i] * context.arm_features[static_cast<std::size_t>(place * spec_.arm_features + j)];
    return whole;
  }
  void observe(const envs::Context& context, std::int64_t arm, double reward, double weight) {
    const Eigen::VectorXd w = row(context, arm);
    precision_ += weight * w * w.transpose();
    moment_ += weight * reward * w;
    for (std::size_t other = 0; other < squares_.size(); ++other)
      if (shared_ > 0 || other == static_cast<std::size_t>(arm)) squares_[other] += weight * reward * reward;
  }
  void solve() {
    solver_.compute(precision_);
    coefficients_ = solver_.solve(moment_);
  }
  double mean(const Eigen::VectorXd& w) const { return w.dot(coefficients_); }
  double leverage(const Eigen::VectorXd& w) const { return w.dot(solver_.solve(w)); }
  double squares(std::int64_t arm) const {
    const double all = squares_[static_cast<std::size_t>(arm)];
    if (shared_ > 0) return all - moment_.dot(coefficients_);
    return all - moment_.segment(arm * own_, own_).dot(coefficients_.segment(arm * own_, own_));
  }

 private:
  Eigen::Index size() const { return spec_.arms * own_ + shared_; }

  envs::BanditSpec spec_;
  LinearRegressions::Setup setup_;
  Eigen::Index columns_, own_, shared_;
  Eigen::MatrixXd precision_;
  Eigen::VectorXd moment_, coefficients_;
  std::vector<double> squares_;
  Eigen::LDLT<Eigen::MatrixXd> solver_;
};

TEST_CASE("all forms agree with the normal equations of the whole system", "[policies][linear]") {
  using test::ArmContexts;
  const auto form = GENERATE(RegressionForm::disjoint, RegressionForm::common, RegressionForm::hybrid);
  const bool intercept = GENERATE(true, false);
  const auto context = GENERATE(ArmContexts::Kind::dense, ArmContexts::Kind::one_hot, ArmContexts::Kind::none);
  const bool weighted = GENERATE(true, false);
  CAPTURE(static_cast<int>(form), intercept, static_cast<int>(context), weighted);
  ArmContexts contexts(context, {.arms = 6, .features = 3, .some_present = true});
  const LinearRegressions::Setup setup{
      .form = form, .intercept = intercept, .prior_precision = 0.7, .prior_squares = 3};
  LinearRegressions regressions(contexts.spec(), setup);
  WholeSystem reference(contexts.spec(), setup);
  Draws draws({.seed = 3, .step = 0, .stream = Stream::test}, 0);
  double weights = 0;
  for (std::int64_t step = 0; step < 300; ++step) {
    const envs::Context& now = contexts.draw(step);
    const std::int64_t arm = now.arm(draws.integer(static_cast<std::uint32_t>(now.choices(contexts.spec()))));
    const double reward = 1 + draws.normal(), weight = weighted ? draws.uniform(0, 3) : 1;
    regressions.observe(now, arm, reward, weight);
    reference.observe(now, arm, reward, weight);
    if (form != RegressionForm::disjoint || arm == 2) weights += weight;
  }
  reference.solve();
  CHECK(regressions.observations(2) == Approx(weights).epsilon(1e-13));
  for (std::int64_t arm = 0; arm < 6; ++arm)
    CHECK(regressions.squares(arm) == Approx(reference.squares(arm)).epsilon(1e-10));
  for (std::int64_t step = 300; step < 330; ++step) {
    const envs::Context& now = contexts.draw(step);
    const auto predictions = regressions.predict(now);
    REQUIRE(std::ssize(predictions) == now.choices(contexts.spec()));
    for (std::size_t place = 0; place < predictions.size(); ++place) {
      const Eigen::VectorXd w = reference.row(now, now.arm(static_cast<std::int64_t>(place)));
      REQUIRE(predictions[place].mean == Approx(reference.mean(w)).margin(1e-10).epsilon(1e-10));
      REQUIRE(predictions[place].leverage == Approx(reference.leverage(w)).margin(1e-13).epsilon(1e-10));
    }
  }
}

TEST_CASE("regressions go on from where they were saved, with factors for observed arms only", "[policies][linear]") {
  const auto form = GENERATE(RegressionForm::disjoint, RegressionForm::common, RegressionForm::hybrid);
  test::ArmContexts contexts(test::ArmContexts::Kind::dense, {.arms = 1000, .features = 3, .some_present = true});
  LinearRegressions first(contexts.spec(), {.form = form}), second(contexts.spec(), {.form = form});
  const auto meet = [&](LinearRegressions& regressions, std::int64_t step) {
    const envs::Context& now = contexts.draw(step);
    regressions.observe(now, now.arm(step % 2), static_cast<double>(step % 3));
  };
  for (std::int64_t step = 0; step < 10; ++step) meet(first, step), meet(second, step + 5);
  Snapshot saved;
  first.save(saved);
  second.restore(saved);
  CHECK(saved.size_of("arms") == (form == RegressionForm::common ? 0 : 10));
  for (std::int64_t step = 10; step < 20; ++step) meet(first, step), meet(second, step);
  Snapshot at_end, restored_at_end;
  first.save(at_end), second.save(restored_at_end);
  for (const auto& [key, array] : at_end.arrays()) CHECK(restored_at_end.arrays().at(key).bytes == array.bytes);
}

// One arm after the other, order by order, as versions before regressions of arms with features wrote them: A = 1 + 3²,
// b = 2 · 3, Σ r² = 2², so L = √10, (L⁻¹b)ᵀ = 6/√10, and the rest 4 − 36/10.
TEST_CASE("checkpoints that hold a factor of every arm are still read", "[policies][linear]") {
  const envs::BanditSpec line{.name = "line", .arms = 2, .context_size = 1};
  const double root = std::sqrt(10.0);
  Snapshot older;
  older.put("factors", std::vector<double>{1, 0, 0, 0, root, 6 / root, 0, std::sqrt(0.4)});
  const bool oldest = GENERATE(true, false);
  if (oldest)
    older.put("observations", std::vector<std::int64_t>{0, 1});
  else
    older.put("weights", std::vector<double>{0, 1});
  LinearRegressions regressions(line, {.intercept = false});
  regressions.restore(older);
  CHECK(regressions.observations(1) == 1);
  CHECK(regressions.squares(1) == Approx(0.4).epsilon(1e-14));
  const std::vector<float> x{2};
  const auto predictions = regressions.predict({.dense = x});
  CHECK(predictions[0].leverage == 4);
  CHECK(predictions[1].mean == Approx(2 * 0.6).epsilon(1e-14));
  CHECK(predictions[1].leverage == Approx(0.4).epsilon(1e-14));
}

TEST_CASE("only arms that were observed take room, up to 2 GiB", "[policies][linear][slow]") {
  // 9,600 columns of 9,600 rows: .69 GiB an arm, and as much for the prior.
  const envs::BanditSpec spec{.name = "wide", .arms = 1'000'000, .context_size = 9599, .active_columns = 1};
  LinearRegressions regressions(spec, {.intercept = false});
  const std::vector<std::int32_t> column{7};
  const auto observe = [&](std::int32_t arm) {
    regressions.observe({.active = column, .present = std::span(&arm, 1)}, arm, 1);
  };
  observe(999'999);
  CHECK_ERROR(observe(0), usage, "wide", "2.1 GiB", "2 arms");
  CHECK_NOTHROW(observe(999'999));
}

TEST_CASE("forms with features of arms need arms that have some", "[policies][linear]") {
  const envs::BanditSpec line{.name = "line", .arms = 2, .context_size = 1};
  CHECK_ERROR(LinearRegressions(line, {.form = RegressionForm::common}), usage, "regression=common", "'line'");
  CHECK_ERROR(LinearRegressions(line, {.form = RegressionForm::hybrid}), usage, "regression=hybrid", "disjoint");
}

TEST_CASE("a regression refuses what does not fit its bandit", "[policies][linear]") {
  const auto bandit = make_bandit("wheel");
  LinearRegressions regressions(bandit->spec(), {});
  const std::vector<float> three{1, 2, 3};
  const std::vector<std::int32_t> columns{1};
  CHECK_ERROR(regressions.predict({.dense = three, .active = {}}), usage, "2 numbers", "3");
  CHECK_ERROR(regressions.predict({.dense = {}, .active = columns}), usage, "2 numbers", "0");
  CHECK_ERROR(regressions.observe(bandit->observe(1, 0), 5, 1.0), usage, "arm", "5");
  CHECK_ERROR(regressions.observe(bandit->observe(1, 0), 0, std::nan("")), usage, "reward", "nan");
  CHECK_ERROR(LinearRegressions(bandit->spec(), {.prior_precision = 0}), usage, "> 0");
  envs::BanditSpec huge = bandit->spec();
  huge.context_size = 100'000;
  CHECK_ERROR(LinearRegressions(huge, {}), usage, "GiB");
  Snapshot snapshot;
  LinearRegressions(make_bandit("linear")->spec(), {}).save(snapshot);
  CHECK_ERROR(regressions.restore(snapshot), data, "factors");
}

}  // namespace
}  // namespace stein::policies
