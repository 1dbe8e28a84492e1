// Estimators against their formulas, and on many logs of which the truth is known.
#include <stein/core/rng.h>
#include <stein/replay/value_estimate.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

using namespace stein;
using namespace stein::replay;

namespace {

/// Among 1,000 intervals of which each misses with a chance of 5 %, more misses than this have a chance of 4e-6; a mean
/// error beyond 4.9 of its standard errors, of 1e-6.
constexpr int most_misses = 83;
constexpr int logs = 1000, events_a_log = 1500, arms = 3;

/// A bandit of three arms with two kinds of context: chances of a reward of 1, the log's propensities, the judged
/// policy's.
constexpr std::array<std::array<double, arms>, 2> chances{{{0.1, 0.3, 0.5}, {0.6, 0.2, 0.3}}};
constexpr std::array<std::array<double, arms>, 2> logged{{{0.5, 0.3, 0.2}, {0.2, 0.4, 0.4}}};
constexpr std::array<std::array<double, arms>, 2> judged{{{0.1, 0.2, 0.7}, {0.7, 0.3, 0}}};
constexpr std::array<std::array<double, arms>, 2> rival{{{0.3, 0.3, 0.4}, {0.4, 0.3, 0.3}}};

double value_of(const std::array<std::array<double, arms>, 2>& policy) {
  double value = 0;
  for (std::size_t x = 0; x < 2; ++x)
    for (std::size_t a = 0; a < arms; ++a) value += 0.5 * policy[x][a] * chances[x][a];
  return value;
}

/// What is said of rewards and propensities.
struct Beliefs {
  bool right_model = true, right_propensities = true;
};

/// Event `i` of a log as it is told of a policy.
struct Story {
  std::size_t context, arm;
  double reward;

  Story(std::uint64_t log, std::uint32_t i) {
    Draws draws({.seed = 5, .step = log, .stream = Stream::test}, i);
    context = draws.integer(2);
    arm = draws.categorical(logged[context]);
    reward = draws.uniform() < chances[context][arm] ? 1 : 0;
  }
  JudgedEvent of(const std::array<std::array<double, arms>, 2>& policy, Beliefs beliefs = {}) const {
    const auto predicted = [&](std::size_t a) {
      return beliefs.right_model ? chances[context][a] : 0.9 - 0.3 * static_cast<double>(a);
    };
    JudgedEvent event{.reward = reward,
                      .logged_propensity = beliefs.right_propensities ? logged[context][arm] : 1.0 / arms,
                      .target_propensity = policy[context][arm],
                      .predicted = predicted(arm)};
    for (std::size_t a = 0; a < arms; ++a) event.expected += policy[context][a] * predicted(a);
    return event;
  }
};

/// Means over many logs: of the error in its own standard deviations, and the share of intervals that miss.
struct ManyLogs {
  double bias = 0;  ///< mean error in standard errors of that mean
  int misses = 0;
};

template <class Estimate>
ManyLogs over_logs(double truth, const Estimate& estimate) {
  double sum = 0, squares = 0;
  ManyLogs found;
  for (int log = 0; log < logs; ++log) {
    const ValueEstimate one = estimate(static_cast<std::uint64_t>(log));
    const double error = one.value - truth;
    sum += error, squares += error * error;
    found.misses += truth < one.interval.low || truth > one.interval.high;
  }
  const double mean = sum / logs;
  found.bias = mean / std::sqrt((squares / logs - mean * mean) / logs);
  return found;
}

ManyLogs judge(const std::string& name, Beliefs beliefs = {}) {
  const EstimatorEntry& entry = estimators().at(name);
  return over_logs(value_of(judged), [&](std::uint64_t log) {
    ValueEstimator estimator;
    for (std::uint32_t i = 0; i < events_a_log; ++i)
      estimator.add(entry.terms(Story(log, i).of(judged, beliefs), {.clip_weight = 1e9, .switch_weight = 1e9}));
    return estimator.estimate();
  });
}

}  // namespace

TEST_CASE("estimators are unbiased and their intervals cover, over a thousand logs", "[replay][estimators][slow]") {
  for (const std::string name : {"ips", "clipped-ips", "dm", "dr", "switch"}) {
    CAPTURE(name);
    const ManyLogs found = judge(name);
    CHECK(std::abs(found.bias) <= 4.9);
    if (name != "dm") CHECK(found.misses <= most_misses);  // how its terms spread is no measure of its error
  }
  // The bias of a ratio is of the order of 1/n, far below its error: its intervals cover.
  CHECK(judge("snips").misses <= most_misses);
}

TEST_CASE("doubly robust stays unbiased with a wrong model or with wrong propensities", "[replay][estimators][slow]") {
  const ManyLogs wrong_model = judge("dr", {.right_model = false}),
                 wrong_propensities = judge("dr", {.right_propensities = false});
  CHECK(std::abs(wrong_model.bias) <= 4.9);
  CHECK(wrong_model.misses <= most_misses);
  CHECK(std::abs(wrong_propensities.bias) <= 4.9);
  // What the others make of it: the test would see it.
  CHECK(std::abs(judge("dm", {.right_model = false}).bias) > 20);
  CHECK(std::abs(judge("ips", {.right_propensities = false}).bias) > 20);
  CHECK(std::abs(judge("dr", {.right_model = false, .right_propensities = false}).bias) > 20);
}

TEST_CASE("the interval of the direct method covers whatever its model, by what doubly robust says of its error",
          "[replay][estimators][slow]") {
  const Registry<EstimatorEntry>& all = estimators();
  CHECK(all.at("dm").error_by == "dr");
  for (const bool right_model : {true, false}) {
    CAPTURE(right_model);
    const ManyLogs found = over_logs(value_of(judged), [&](std::uint64_t log) {
      ValueEstimator direct, robust;
      for (std::uint32_t i = 0; i < events_a_log; ++i) {
        const JudgedEvent event = Story(log, i).of(judged, {.right_model = right_model});
        direct.add(all.at("dm").terms(event, {})), robust.add(all.at("dr").terms(event, {}));
      }
      const ValueEstimate estimate = with_error_of(robust.estimate(), direct.estimate());
      CHECK(estimate.value == direct.estimate().value);
      CHECK(estimate.interval.low <= estimate.value);
      CHECK(estimate.interval.high >= estimate.value);
      return estimate;
    });
    CHECK(found.misses <= most_misses);
  }
}

TEST_CASE("weights without a finite square say of no event", "[replay][estimators]") {
  ValueEstimator estimator;
  estimator.add({.numerator = 1e300, .denominator = 1, .weight = 1e300});
  estimator.add({.numerator = 0, .denominator = 1, .weight = 1});
  CHECK(estimator.estimate().effective_sample_size == 0);
}

TEST_CASE("the difference of two policies on one log is unbiased and its interval covers",
          "[replay][estimators][slow]") {
  const double truth = value_of(judged) - value_of(rival);
  for (const std::string name : {"ips", "snips", "dr"}) {
    CAPTURE(name);
    const EstimatorEntry& entry = estimators().at(name);
    double paired = 0, apart = 0;
    const ManyLogs found = over_logs(truth, [&](std::uint64_t log) {
      PairedValues pair;
      ValueEstimator one, other;
      for (std::uint32_t i = 0; i < events_a_log; ++i) {
        const Story story(log, i);
        const EstimatorTerms first = entry.terms(story.of(judged), {}), second = entry.terms(story.of(rival), {});
        pair.add(first, second);
        one.add(first), other.add(second);
      }
      const ValueEstimate estimate = pair.difference();
      CHECK(estimate.value == Approx(one.estimate().value - other.estimate().value).margin(1e-12));
      paired += estimate.standard_error;
      apart += std::hypot(one.estimate().standard_error, other.estimate().standard_error);
      return estimate;
    });
    if (name != "snips") CHECK(std::abs(found.bias) <= 4.9);
    CHECK(found.misses <= most_misses);
    CHECK(paired < apart);  // what they have in common cancels
  }
}

TEST_CASE("every estimator is its formula", "[replay][estimators]") {
  const std::vector<JudgedEvent> events{
      {1, 0.5, 0.25, 0.7, 0.4}, {0, 0.1, 0.9, 0.2, 0.6}, {1, 0.8, 0, 0.3, 0.1}, {1, 0.02, 0.5, 0.5, 0.45}};
  const std::array<double, 4> w{0.5, 9, 0, 25};
  const EstimatorOptions options{.clip_weight = 10, .switch_weight = 20};
  std::map<std::string, ValueEstimate> found;
  for (const auto& [name, entry] : estimators().entries()) {
    ValueEstimator estimator;
    for (const JudgedEvent& event : events) estimator.add(entry.terms(event, options));
    found[name] = estimator.estimate();
  }
  CHECK(found["ips"].value == Approx((w[0] + w[3]) / 4));
  CHECK(found["clipped-ips"].value == Approx((w[0] + 10) / 4));
  CHECK(found["snips"].value == Approx((w[0] + w[3]) / 34.5));
  CHECK(found["dm"].value == Approx((0.4 + 0.6 + 0.1 + 0.45) / 4));
  CHECK(found["dr"].value == Approx((1.55 + 0.5 * 0.3 - 9 * 0.2 + 25 * 0.5) / 4));
  CHECK(found["switch"].value == Approx((1.55 + 0.5 * 0.3 - 9 * 0.2) / 4));
  CHECK(found["ips"].effective_sample_size == Approx(34.5 * 34.5 / (0.25 + 81 + 625)));
  CHECK(found["clipped-ips"].effective_sample_size == Approx(19.5 * 19.5 / (0.25 + 81 + 100)));
  CHECK(found["dm"].effective_sample_size == Approx(4));
  CHECK(found["switch"].effective_sample_size == Approx(9.5 * 9.5 / (0.25 + 81)));

  const double mean = 25.5 / 4;
  double squares = 0;
  for (const double x : {0.5, 0.0, 0.0, 25.0}) squares += (x - mean) * (x - mean);
  CHECK(found["ips"].standard_error == Approx(std::sqrt(squares) / 4));
  const double ratio = 25.5 / 34.5;
  double influence = 0;
  for (std::size_t i = 0; i < 4; ++i) influence += std::pow(w[i] * (events[i].reward - ratio), 2);
  CHECK(found["snips"].standard_error == Approx(std::sqrt(influence) / 34.5));
  CHECK(found["snips"].interval.high - ratio == Approx(1.959964 * found["snips"].standard_error));
}

TEST_CASE("differences and ratios of two values have the spread of their joint influences", "[replay][estimators]") {
  const std::vector<EstimatorTerms> first{{1, 2, 2}, {0, 1, 1}, {3, 4, 4}, {0.5, 0.5, 0.5}},
      second{{0, 1, 1}, {2, 8, 8}, {1, 1, 1}, {0, 3, 3}};
  PairedValues pair;
  for (std::size_t i = 0; i < 4; ++i) pair.add(first[i], second[i]);
  const double one = 4.5 / 7.5, other = 3.0 / 13;
  double squares = 0;
  for (std::size_t i = 0; i < 4; ++i)
    squares += std::pow((first[i].numerator - one * first[i].denominator) / (7.5 / 4) -
                            (second[i].numerator - other * second[i].denominator) / (13.0 / 4),
                        2);
  const ValueEstimate found = pair.difference();
  CHECK(found.value == Approx(one - other));
  CHECK(found.standard_error == Approx(std::sqrt(squares) / 4));
  CHECK(found.effective_sample_size == Approx(169.0 / 75));  // of the first 56.25 / 21.25

  const double ratio = one / other;
  squares = 0;
  for (std::size_t i = 0; i < 4; ++i)
    squares += std::pow((first[i].numerator - one * first[i].denominator) / (7.5 / 4) / other -
                            ratio * (second[i].numerator - other * second[i].denominator) / (13.0 / 4) / other,
                        2);
  CHECK(pair.ratio().value == Approx(ratio));
  CHECK(pair.ratio().standard_error == Approx(std::sqrt(squares) / 4));
  CHECK(pair.ratio().effective_sample_size == Approx(169.0 / 75));
}

TEST_CASE("weights are summed up as they are", "[replay][estimators]") {
  WeightDiagnostics weights, later;
  for (const double w : {0.0, 2.0, 0.0, 1.0, 5.0}) weights.add(w);
  Snapshot saved;
  weights.save(saved);
  later.restore(saved);
  for (const WeightDiagnostics* each : {&weights, &later}) {
    CHECK(each->mean() == Approx(8.0 / 5));
    CHECK(each->largest() == 5);
    CHECK(each->effective_sample_size() == Approx(64.0 / 30));
    CHECK(each->share_of_zeros() == Approx(0.4));
  }
}

TEST_CASE("estimates go on from where they were saved", "[replay][estimators]") {
  const EstimatorEntry& entry = estimators().at("snips");
  ValueEstimator whole, first, second;
  PairedValues all, before, after;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const EstimatorTerms one = entry.terms(Story(1, i).of(judged), {}), other = entry.terms(Story(1, i).of(rival), {});
    whole.add(one), all.add(one, other);
    if (i == 50) {
      Snapshot estimate, difference;
      first.save(estimate), before.save(difference);
      second.restore(estimate), after.restore(difference);
    }
    (i < 50 ? first : second).add(one), (i < 50 ? before : after).add(one, other);
  }
  CHECK(second.estimate().standard_error == whole.estimate().standard_error);
  CHECK(after.difference().standard_error == all.difference().standard_error);
  CHECK(after.difference().value == all.difference().value);
}
