// Policies on one stream, against sums that are made event by event.
#include <stein/core/rng.h>
#include <stein/policies/uniform.h>
#include <stein/replay/logging_policy.h>
#include <stein/replay/policy_comparison.h>
#include <stein/replay/policy_replay.h>
#include <stein/replay/synthetic_news.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::replay;

namespace {

const envs::BanditSpec few_articles{
    .name = "news", .arms = 500, .context_size = 6, .arm_features = 6, .reward_low = 0, .reward_high = 1};

/// Chooses the first article with probability 0.7, else any other.
class MostlyFirst final : public policies::BanditPolicy {
 public:
  explicit MostlyFirst(std::uint64_t seed) : seed_(seed) {}
  policies::Decision decide(const envs::Context& context, std::int64_t step, policies::Propensities) override {
    const auto others = static_cast<double>(context.present.size() - 1);
    propensities_.assign(context.present.size(), 0.3 / others);
    propensities_[0] = 0.7;
    Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
    return {.action = context.arm(static_cast<std::int64_t>(draws.categorical(propensities_))),
            .propensities = propensities_};
  }

 private:
  std::uint64_t seed_;
  std::vector<double> propensities_;
};

std::unique_ptr<JudgedPolicy> judged_at_once(std::unique_ptr<policies::BanditPolicy> policy) {
  const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 0};
  return std::make_unique<PolicyReplay>(
      std::make_unique<policies::BanditLearner>(options, few_articles, 0, std::move(policy)), DeliveryOptions{},
      ConfidenceSequence(0, 1));
}

PolicyComparison comparison(std::vector<std::string> estimators) {
  PolicyComparison all({.estimators = std::move(estimators)}, few_articles);
  all.add("first", judged_at_once(std::make_unique<MostlyFirst>(1)));
  all.add("uniform",
          judged_at_once(std::make_unique<policies::Uniform>(policies::Uniform::Options{}, few_articles, 3)));
  all.add("logged", std::make_unique<LoggingPolicy>(ConfidenceSequence(0, 1)));
  return all;
}

std::vector<LoggedEvent> events_from(std::int64_t first, std::int64_t end) {
  SyntheticNews news({.seed = 4, .lifetime = 1000});
  std::vector<LoggedEvent> events;
  for (std::int64_t i = first; i < end; ++i) events.push_back(news.event(i));
  return events;
}

}  // namespace

TEST_CASE("on a uniform log replay is the mean reward of accepted events", "[replay][comparison]") {
  PolicyComparison all = comparison({});
  const std::vector<LoggedEvent> events = events_from(0, 4000);
  all.take(events);
  double reward = 0, accepted = 0, log_reward = 0;
  MostlyFirst same(1);
  for (std::size_t i = 0; i < events.size(); ++i) {
    log_reward += events[i].reward;
    const auto decision = same.decide(events[i].context(), static_cast<std::int64_t>(i), policies::Propensities::none);
    if (decision.action != events[i].action) continue;
    ++accepted, reward += events[i].reward;
  }
  REQUIRE(all.contenders().size() == 3);
  CHECK(static_cast<double>(all.contenders()[0].policy->accepted()) == accepted);
  CHECK(all.contenders()[0].estimates[0].estimate().value == Approx(reward / accepted));
  CHECK(all.contenders()[2].policy->accepted() == 4000);
  CHECK(all.contenders()[2].policy->reward() == log_reward);
  REQUIRE(all.pairs().size() == 3);
  CHECK(all.pairs()[1].differences[0].difference().value == Approx(reward / accepted - log_reward / 4000));
}

TEST_CASE("the error of the direct method is that of doubly robust, asked for or not", "[replay][comparison]") {
  PolicyComparison alone = comparison({"dm", "ips"}), both = comparison({"dm", "dr"});
  CHECK(std::ranges::equal(alone.ways(), std::vector<std::string>{"replay", "dm", "ips"}));
  const std::vector<LoggedEvent> events = events_from(0, 500);
  alone.take(events), both.take(events);
  for (std::size_t i = 0; i < 3; ++i) {
    const ValueEstimate direct = alone.estimate(i, 1), robust = both.estimate(i, 2);
    CHECK(direct.value == both.estimate(i, 1).value);
    CHECK(direct.interval.low == std::min(direct.value, robust.interval.low));
    CHECK(direct.interval.high == std::max(direct.value, robust.interval.high));
    CHECK(direct.effective_sample_size == robust.effective_sample_size);
    const ValueEstimate difference = alone.difference(i, 1), robust_difference = both.difference(i, 2);
    CHECK(difference.interval.low == std::min(difference.value, robust_difference.interval.low));
    CHECK(difference.interval.high == std::max(difference.value, robust_difference.interval.high));
  }
}

TEST_CASE("estimators are given the exact propensities, and predictions that precede the rewards",
          "[replay][comparison]") {
  PolicyComparison all = comparison({"ips", "dm", "dr"});
  CHECK(std::ranges::equal(all.ways(), std::vector<std::string>{"replay", "ips", "dm", "dr"}));
  const std::vector<LoggedEvent> events = events_from(0, 300);
  all.take(events);
  RewardModel model(few_articles);
  double ips = 0, dm = 0, dr = 0, log_dm = 0;
  for (const LoggedEvent& event : events) {
    std::vector<double> predicted;
    model.take(event, predicted);
    REQUIRE(predicted.size() == 20);
    const auto place = static_cast<std::size_t>(event.place());
    const double weight = 20 * (place == 0 ? 0.7 : 0.3 / 19);
    double expected = 0;
    for (std::size_t k = 0; k < 20; ++k) expected += (k == 0 ? 0.7 : 0.3 / 19) * predicted[k];
    ips += weight * event.reward, dm += expected;
    dr += expected + weight * (event.reward - predicted[place]);
    log_dm += predicted[place];
  }
  const auto value = [&](std::size_t policy, std::size_t way) {
    return all.contenders()[policy].estimates[way].estimate().value;
  };
  CHECK(value(0, 1) == Approx(ips / 300));
  CHECK(value(0, 2) == Approx(dm / 300));
  CHECK(value(0, 3) == Approx(dr / 300));
  CHECK(value(2, 2) == Approx(log_dm / 300));
  CHECK(all.contenders()[0].weights.largest() == Approx(14));
  CHECK(all.contenders()[1].weights.mean() == Approx(1));
}

TEST_CASE("an event counts for as many as it stands for", "[replay][comparison]") {
  PolicyComparison all = comparison({"ips", "snips"});
  std::vector<LoggedEvent> events = events_from(0, 2000);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].weight = 1 + static_cast<double>(i % 4);
    events[i].propensity = i % 3 == 0 ? 0.1 : 0.04;
  }
  all.take(events);
  MostlyFirst same(1);
  double accepted = 0, rewards = 0, sum = 0, sum_rewards = 0, count = 0, log_rewards = 0, ratios = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const LoggedEvent& event = events[i];
    const auto decision = same.decide(event.context(), static_cast<std::int64_t>(i), policies::Propensities::none);
    const double ratio = (event.place() == 0 ? 0.7 : 0.3 / 19) / event.propensity, w = event.weight;
    if (decision.action == event.action)
      accepted += w / event.propensity, rewards += w / event.propensity * event.reward;
    count += w, log_rewards += w * event.reward;
    sum += w * ratio, sum_rewards += w * ratio * event.reward, ratios += ratio;
  }
  REQUIRE(rewards > 0);
  CHECK(all.estimate(0, 0).value == Approx(rewards / accepted));
  CHECK(all.estimate(0, 1).value == Approx(sum_rewards / count));
  CHECK(all.estimate(0, 2).value == Approx(sum_rewards / sum));
  CHECK(all.estimate(2, 0).value == Approx(log_rewards / count));
  CHECK(all.estimate(2, 0).effective_sample_size == Approx(count * count / (2000 * (1 + 4 + 9 + 16) / 4.0)));
  CHECK(all.contenders()[0].weights.mean() == Approx(ratios / 2000));  // weights of the estimate, not of the events
}

TEST_CASE("rewards without bounds have the interval of their own mean, of the level that was asked for",
          "[replay][comparison]") {
  PolicyComparison all({.level = 0.8}, few_articles);
  all.add("logged", std::make_unique<LoggingPolicy>(std::nullopt));
  std::vector<LoggedEvent> events = events_from(0, 400);
  double squares = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].reward = i % 2 == 0 ? 3 : -1;
    squares += (events[i].reward - 1) * (events[i].reward - 1);
  }
  all.take(events);
  CHECK(all.interval(0).high == Approx(1 + 1.281552 * std::sqrt(squares) / 400));
  CHECK(all.interval(0).low == Approx(1 - 1.281552 * std::sqrt(squares) / 400));
}

TEST_CASE("the direct method does not lift rare rewards", "[replay][comparison]") {
  envs::BanditSpec clicks_only = few_articles;
  clicks_only.bounded = true;
  PolicyComparison all({.estimators = {"dm", "dr"}}, clicks_only);
  all.add("uniform",
          judged_at_once(std::make_unique<policies::Uniform>(policies::Uniform::Options{}, few_articles, 3)));
  // 20 articles, of which each has about 1,500 events and 7 clicks; 150 ± 12.2 of the 30,000 events pay.
  std::vector<LoggedEvent> events = events_from(0, 30'000);
  double clicks = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (std::size_t k = 0; k < events[i].present.size(); ++k) events[i].present[k] = static_cast<std::int32_t>(k);
    Draws draws({.seed = 9, .step = i, .stream = Stream::test}, 0);
    events[i].action = draws.integer(20);
    events[i].reward = draws.uniform() < 0.005 ? 1 : 0;
    clicks += events[i].reward;
  }
  all.take(events);
  // Predictions at rewards of chance 0.005 fall below 0 often; their mean is that of the clicks but for what the prior
  // holds back and for the error of six coefficients an article.
  CHECK(all.estimate(0, 1).value == Approx(clicks / 30'000).epsilon(0.15));
  CHECK(all.estimate(0, 2).value == Approx(clicks / 30'000).epsilon(0.15));
}

TEST_CASE("a model of rewards says nothing that is far from what the bandit can pay", "[replay][comparison]") {
  envs::BanditSpec bounded{.name = "line", .arms = 1, .context_size = 1, .reward_low = 0, .reward_high = 1};
  const auto predicted_at = [&](float x) {
    RewardModel model(bounded);
    std::vector<double> predictions;
    for (const float seen : {0.0F, 1.0F, 0.0F, 1.0F})
      model.take({.dense = {seen}, .present = {0}, .reward = seen}, predictions);
    predictions.clear();
    model.take({.dense = {x}, .present = {0}}, predictions);
    return predictions.at(0);
  };
  CHECK(predicted_at(100) > 2);
  CHECK(predicted_at(-100) < -1);
  const double below = predicted_at(-1);
  CHECK(below < 0);
  bounded.bounded = true;
  CHECK(predicted_at(100) == 2);
  CHECK(predicted_at(-100) == -1);
  CHECK(predicted_at(-1) == below);
}

TEST_CASE("a model of rewards never sees the reward that it predicts", "[replay][comparison]") {
  std::vector<LoggedEvent> events = events_from(0, 60);
  RewardModel model(few_articles), same(few_articles);
  std::vector<double> before, after;
  for (std::size_t i = 0; i < events.size(); ++i) {
    model.take(events[i], before);
    if (i + 1 == events.size()) events[i].reward = 1 - events[i].reward;
    same.take(events[i], after);
  }
  CHECK(before == after);
}

TEST_CASE("blocks do not matter, and a comparison goes on from where it was saved", "[replay][comparison]") {
  PolicyComparison whole = comparison({"snips", "dr"}), parts = comparison({"snips", "dr"}),
                   restored = comparison({"snips", "dr"});
  const std::vector<LoggedEvent> events = events_from(0, 900);
  whole.take(events);
  parts.take(std::span(events).first(317));
  Snapshot saved;
  parts.save(saved);
  restored.restore(saved);
  restored.take(std::span(events).subspan(317));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(restored.contenders()[i].policy->events() == 900);
    for (std::size_t way = 0; way < 3; ++way) {
      CHECK(restored.contenders()[i].estimates[way].estimate().value ==
            whole.contenders()[i].estimates[way].estimate().value);
      CHECK(restored.pairs()[i].differences[way].difference().standard_error ==
            whole.pairs()[i].differences[way].difference().standard_error);
    }
    CHECK(restored.contenders()[i].weights.effective_sample_size() ==
          whole.contenders()[i].weights.effective_sample_size());
  }
}

TEST_CASE("estimators that nobody knows, or that are named twice, are refused", "[replay][comparison]") {
  CHECK_ERROR(comparison({"ipss"}), usage, "'ipss'", "'ips'");
  CHECK_ERROR(comparison({"ips", "ips"}), usage, "'ips' twice");
  CHECK_ERROR(comparison({"replay"}), usage, "'replay' twice");
}
