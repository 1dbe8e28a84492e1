#include <stein/core/rng.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/arm_regressions.h>

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "core/error_matcher.h"

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
  ArmRegressions regressions(spec, true, prior_precision, prior_squares);
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
  ArmRegressions sparse(bandit->spec(), true, 1, 0), dense(dense_spec, true, 1, 0);
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

TEST_CASE("a regression refuses what does not fit its bandit", "[policies][linear]") {
  const auto bandit = make_bandit("wheel");
  ArmRegressions regressions(bandit->spec(), true, 1, 0);
  const std::vector<float> three{1, 2, 3};
  const std::vector<std::int32_t> columns{1};
  CHECK_ERROR(regressions.predict({.dense = three, .active = {}}), usage, "2 numbers", "3");
  CHECK_ERROR(regressions.predict({.dense = {}, .active = columns}), usage, "2 numbers", "0");
  CHECK_ERROR(regressions.observe(bandit->observe(1, 0), 5, 1.0), usage, "arm", "5");
  CHECK_ERROR(regressions.observe(bandit->observe(1, 0), 0, std::nan("")), usage, "reward", "nan");
  CHECK_ERROR(ArmRegressions(bandit->spec(), true, 0, 0), usage, "> 0");
  envs::BanditSpec huge = bandit->spec();
  huge.context_size = 100'000;
  CHECK_ERROR(ArmRegressions(huge, true, 1, 0), usage, "GiB");
  Snapshot snapshot;
  ArmRegressions(make_bandit("linear")->spec(), true, 1, 0).save(snapshot);
  CHECK_ERROR(regressions.restore(snapshot), data, "factors");
}

}  // namespace
}  // namespace stein::policies
