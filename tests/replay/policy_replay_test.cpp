// Replay on made-up news, whose truth is known.
#include <stein/policies/uniform.h>
#include <stein/replay/policy_comparison.h>
#include <stein/replay/policy_replay.h>
#include <stein/replay/synthetic_news.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace stein;
using namespace stein::replay;

namespace {

const envs::BanditSpec many_articles{
    .name = "news", .arms = 1'000'000, .context_size = 6, .arm_features = 6, .reward_low = 0, .reward_high = 1};

/// Chooses the article whose second feature is the largest, and notes what it is told.
class Favourite final : public policies::BanditPolicy {
 public:
  policies::Decision decide(const envs::Context& context, std::int64_t, policies::Propensities) override {
    ++decisions;
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < std::ssize(context.present); ++k)
      if (context.arm_features[static_cast<std::size_t>(6 * k + 1)] >
          context.arm_features[static_cast<std::size_t>(6 * best + 1)])
        best = k;
    propensities_.assign(context.present.size(), 0);
    propensities_[static_cast<std::size_t>(best)] = 1;
    return {.action = context.arm(best), .propensities = propensities_, .deterministic = true};
  }
  void observe(const envs::Context&, const policies::Outcome& outcome) override {
    told.push_back(outcome.action), decided_before.push_back(decisions);
    last = outcome;
  }
  void save(Snapshot& snapshot) const override { snapshot.put("told", told); }
  void restore(const Snapshot& snapshot) override { told = snapshot.get_vector<std::int64_t>("told"); }

  std::int64_t decisions = 0;
  std::vector<std::int64_t> told, decided_before;
  policies::Outcome last;

 private:
  std::vector<double> propensities_;
};

struct Case {
  Favourite* policy;
  std::unique_ptr<PolicyReplay> replay;

  explicit Case(const DeliveryOptions& delivery = {}) {
    auto made = std::make_unique<Favourite>();
    policy = made.get();
    const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 0};
    replay = std::make_unique<PolicyReplay>(
        std::make_unique<policies::BanditLearner>(options, many_articles, 0, std::move(made)), delivery,
        ConfidenceSequence(0, 1));
  }
};

}  // namespace

TEST_CASE("an event is accepted where both chose the same article, and only then learned from", "[replay]") {
  SyntheticNews news({.seed = 2, .lifetime = 1000});
  Case here;
  Favourite same;
  double reward = 0;
  std::vector<std::int64_t> accepted;
  for (std::int64_t i = 0; i < 5000; ++i) {
    const LoggedEvent& event = news.event(i);
    const bool match = same.decide(event.context(), i, policies::Propensities::none).action == event.action;
    CHECK(here.replay->take(event).accepted == match);
    if (!match) continue;
    accepted.push_back(event.action);
    reward += event.reward;
  }
  CHECK(here.policy->told == accepted);
  CHECK(here.replay->events() == 5000);
  CHECK(here.replay->accepted() == std::ssize(accepted));
  CHECK(here.replay->reward() == reward);
  CHECK(here.replay->mean_reward() == Approx(reward / static_cast<double>(accepted.size())));
}

TEST_CASE("a policy is told what the log says of an event, at once or late", "[replay]") {
  for (const std::int64_t delay : {0, 1}) {
    CAPTURE(delay);
    Case here({.delay = delay});
    LoggedEvent event{.present = {3, 8}, .action = 8, .reward = 0.5, .propensity = 0.25, .weight = 3};
    event.dense.assign(6, 1);
    event.arm_features = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
    for (int i = 0; i < 3; ++i) here.replay->take(event);
    REQUIRE(here.policy->told.size() == (delay == 0 ? 3 : 1));  // the first event is due when two have passed
    CHECK(here.policy->last.action == 8);
    CHECK(here.policy->last.reward == 0.5);
    CHECK(here.policy->last.propensity == 0.25);
    CHECK(here.policy->last.weight == 3);
  }
}

TEST_CASE("an event that was not accepted was no pull", "[replay]") {
  const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 2};
  PolicyReplay replay(
      std::make_unique<policies::BanditLearner>(options, many_articles, 0, std::make_unique<Favourite>()), {},
      ConfidenceSequence(0, 1));
  LoggedEvent event{.present = {3, 8}, .action = 8};
  event.dense.assign(6, 1);
  event.arm_features.assign(12, 0);
  for (int i = 0; i < 20; ++i) CHECK_FALSE(replay.take(event).accepted);  // the first of equals is still to be pulled
  event.action = 3;
  CHECK(replay.take(event).accepted);
  event.action = 8;  // has fewer pulls now
  CHECK(replay.take(event).accepted);
  CHECK_FALSE(replay.take(event).accepted);
}

// 1,000 logs of 3,000 events: about 150 accepted in each. The means of the errors of all logs are normal: beyond 4.9 of
// their standard errors with a chance of 1e-6 each.
TEST_CASE("replay is unbiased, and its confidence sequence covers at all times", "[replay][slow]") {
  struct Found {
    double of_accepted = 0, of_accepted_squares = 0;  ///< errors of sums of rewards, given who was accepted
    double of_value = 0, of_value_squares = 0;        ///< errors of mean rewards as the policy's value on all events
    int missed = 0;
  };
  const auto over_logs = [](const auto& make_replay) {
    Found found;
    for (int log = 0; log < 1000; ++log) {
      SyntheticNews news({.seed = log, .lifetime = 1000});
      const std::unique_ptr<PolicyReplay> replay = make_replay(log);
      double accepted = 0, value = 0;
      bool outside = false;
      for (std::int64_t i = 0; i < 3000; ++i) {
        const LoggedEvent& event = news.event(i);
        const auto clicks = news.click_probabilities();
        const Choice choice = replay->take(event, policies::Propensities::exact);
        for (std::size_t k = 0; k < clicks.size(); ++k) value += choice.propensities[k] * clicks[k] / 3000;
        if (!choice.accepted) continue;
        accepted += clicks[static_cast<std::size_t>(event.place())];
        const Interval interval = *replay->interval();
        const double mean = accepted / static_cast<double>(replay->accepted());
        outside = outside || mean < interval.low || mean > interval.high;
      }
      const double error = replay->reward() - accepted, of_value = replay->mean_reward() - value;
      found.of_accepted += error, found.of_accepted_squares += error * error;
      found.of_value += of_value, found.of_value_squares += of_value * of_value;
      found.missed += outside;
    }
    return found;
  };
  const auto check = [](const Found& found) {
    CHECK(std::abs(found.of_accepted) <= 4.9 * std::sqrt(found.of_accepted_squares));
    CHECK(std::abs(found.of_value) <= 4.9 * std::sqrt(found.of_value_squares));
    CHECK(found.missed <= 83);  // more have a chance of 4e-6 where each misses with 5 %, and these miss less
  };
  check(over_logs([](int) { return std::move(Case().replay); }));
  check(over_logs([](int log) {
    const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 0};
    const auto seed = static_cast<std::uint64_t>(log);
    auto uniform = std::make_unique<policies::Uniform>(policies::Uniform::Options{}, many_articles, seed);
    auto learner = std::make_unique<policies::BanditLearner>(options, many_articles, seed, std::move(uniform));
    return std::make_unique<PolicyReplay>(std::move(learner), DeliveryOptions{}, ConfidenceSequence(0, 1));
  }));
}

TEST_CASE("a uniform policy accepts one event in twenty and earns what the log does", "[replay]") {
  SyntheticNews news({.seed = 8});
  const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 0};
  PolicyReplay replay(std::make_unique<policies::BanditLearner>(
                          options, many_articles, 3,
                          std::make_unique<policies::Uniform>(policies::Uniform::Options{}, many_articles, 3)),
                      {}, ConfidenceSequence(0, 1));
  double clicks = 0;
  constexpr double events = 100'000;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    replay.take(news.event(i));
    clicks += news.event(i).reward;
  }
  // Accepted events are binomial(100,000, 1/20): sd 68.9; 6.1 of it, below 1e-9.
  CHECK(std::abs(static_cast<double>(replay.accepted()) - 5000) < 6.1 * 68.9);
  const double log_rate = clicks / events;
  CHECK(std::abs(replay.mean_reward() - log_rate) < 6.1 * std::sqrt(log_rate / 5000));
}

TEST_CASE("outcomes come late and together if asked to", "[replay]") {
  SyntheticNews news({.seed = 2, .lifetime = 1000});
  Case late({.delay = 7, .deliver_every = 10}), at_once;
  std::vector<std::int64_t> accepted_at;
  for (std::int64_t i = 0; i < 5000; ++i) {
    const LoggedEvent& event = news.event(i);
    at_once.replay->take(event);
    if (late.replay->take(event).accepted) accepted_at.push_back(i + 1);
  }
  REQUIRE(late.policy->told.size() > 50);
  CHECK(std::ranges::equal(late.policy->told, std::span(at_once.policy->told).first(late.policy->told.size())));
  for (std::size_t k = 0; k < late.policy->told.size(); ++k) {
    const std::int64_t when = late.policy->decided_before[k];  // events before the delivery
    CHECK(when % 10 == 0);
    CHECK(when >= accepted_at[k] + 7);
    CHECK(when < accepted_at[k] + 17);
  }
}

TEST_CASE("a replay goes on from where it was saved, with what was still to be delivered", "[replay]") {
  const DeliveryOptions delivery{.delay = 50, .deliver_every = 20};
  SyntheticNews news({.seed = 2, .lifetime = 1000});
  Case whole(delivery), first(delivery), second(delivery);
  for (std::int64_t i = 0; i < 1000; ++i) whole.replay->take(news.event(i)), first.replay->take(news.event(i));
  Snapshot saved;
  first.replay->save(saved);
  second.replay->restore(saved);
  for (std::int64_t i = 1000; i < 2000; ++i) whole.replay->take(news.event(i)), second.replay->take(news.event(i));
  CHECK(second.policy->told == whole.policy->told);
  CHECK(second.replay->accepted() == whole.replay->accepted());
  CHECK(second.replay->interval()->low == whole.replay->interval()->low);
}

namespace {

/// Is shown contexts ahead, and notes whether it is asked about others, or learns before it has decided them all.
class Foreseeing final : public policies::BanditPolicy {
 public:
  bool foresees() const override { return true; }
  void foresee(const envs::Context& context) override {
    if (next > 0) {
      CHECK(next == std::ssize(seen));
      seen.clear(), next = 0;
    }
    ++looks;
    seen.emplace_back(context.dense.begin(), context.dense.end());
  }
  policies::Decision decide(const envs::Context& context, std::int64_t step, policies::Propensities wanted) override {
    CHECK(seen.size() != 1);  // it would have been asked about when it is decided
    if (next == std::ssize(seen))
      ++alone;
    else
      CHECK(std::ranges::equal(context.dense, seen[static_cast<std::size_t>(next++)]));
    return favourite.decide(context, step, wanted);
  }
  bool learns_from_minibatches() const override { return true; }
  void learn(const policies::InteractionBatch&) override {
    ++updates;
    CHECK(next == std::ssize(seen));
  }

  std::vector<std::vector<float>> seen;
  std::int64_t next = 0, looks = 0, alone = 0, updates = 0;

 private:
  Favourite favourite;
};

}  // namespace

TEST_CASE("a policy is shown the contexts that it decides before it can learn, and no others", "[replay]") {
  struct Schedule {
    DeliveryOptions delivery;
    std::int64_t learn_every, most_alone;  ///< of 2,000 events
  };
  for (const auto& [delivery, learn_every, most_alone] :
       std::vector<Schedule>{{{}, 1, 2000},
                             {{}, 40, 60},  // the last of 40 outcomes may be any event
                             {{.delay = 6}, 1, 400},
                             {{.deliver_every = 10}, 1, 0},
                             {{.delay = 25, .deliver_every = 10}, 1, 0},
                             {{.delay = 5, .deliver_every = 300}, 3, 0}}) {
    CAPTURE(delivery.delay, delivery.deliver_every, learn_every);
    auto made = std::make_unique<Foreseeing>();
    Foreseeing& policy = *made;
    const policies::BanditLearner::Options options{
        .batch = 1, .updates = 1, .learn_every = learn_every, .forced_pulls = 0};
    auto learner = std::make_unique<policies::BanditLearner>(options, many_articles, 0, std::move(made));
    PolicyComparison all({}, many_articles);
    all.add("foreseeing", std::make_unique<PolicyReplay>(std::move(learner), delivery, ConfidenceSequence(0, 1)));
    SyntheticNews news({.seed = 2, .lifetime = 1000});
    std::vector<LoggedEvent> block;
    for (std::int64_t i = 0; i < 2000; ++i) {
      block.push_back(news.event(i));
      if (block.size() == 200) all.take(block), block.clear();
    }
    CHECK(policy.next == std::ssize(policy.seen));
    CHECK(policy.updates > 0);
    CHECK(policy.alone <= most_alone);
    CHECK((policy.looks == 0) == (most_alone == 2000));
  }
}
