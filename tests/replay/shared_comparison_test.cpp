// Ranks that share the policies of a comparison: whatever their number, it is that of one process, bit for bit.
#include <stein/core/safetensors.h>
#include <stein/distributed/agree.h>
#include <stein/policies/bandit_policy.h>
#include <stein/replay/logging_policy.h>
#include <stein/replay/policy_comparison.h>
#include <stein/replay/policy_replay.h>
#include <stein/replay/synthetic_news.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/error_matcher.h"
#include "distributed/thread_ranks.h"

using namespace stein;
using namespace stein::replay;

namespace {

const envs::BanditSpec spec{
    .name = "news", .arms = 500, .context_size = 6, .arm_features = 6, .reward_low = 0, .reward_high = 1};

/// Leaves the finite numbers at an event.
class Diverging final : public policies::BanditPolicy {
 public:
  explicit Diverging(std::int64_t at) : at_(at) {}
  policies::Decision decide(const envs::Context& context, std::int64_t step, policies::Propensities) override {
    if (step == at_) fail(ErrorKind::numeric, "lost at {}", step);
    return {.action = context.arm(0)};
  }

 private:
  std::int64_t at_;
};

std::unique_ptr<JudgedPolicy> judged_policy(std::unique_ptr<policies::BanditPolicy> policy) {
  const policies::BanditLearner::Options options{.buffer = 100, .batch = 4, .forced_pulls = 0};
  return std::make_unique<PolicyReplay>(std::make_unique<policies::BanditLearner>(options, spec, 0, std::move(policy)),
                                        DeliveryOptions{.delay = 3}, ConfidenceSequence(0, 1));
}

PolicyComparison replayed_comparison(const std::vector<std::string>& estimators) {
  PolicyComparison all({.estimators = estimators}, spec);
  all.add("linucb", judged_policy(policies::bandit_policies().at("linucb").builder()->make(spec, 1)));
  all.add("uniform", judged_policy(policies::bandit_policies().at("uniform").builder()->make(spec, 3)));
  all.add("logged", std::make_unique<LoggingPolicy>(ConfidenceSequence(0, 1)));
  all.add("uniform-too", judged_policy(policies::bandit_policies().at("uniform").builder()->make(spec, 5)));
  return all;
}

std::vector<LoggedEvent> made_events(std::int64_t count) {
  SyntheticNews news({.seed = 4, .lifetime = 1000});
  std::vector<LoggedEvent> events;
  for (std::int64_t i = 0; i < count; ++i) events.push_back(news.event(i));
  return events;
}

std::string state_of_comparison(const PolicyComparison& all) {
  Snapshot state;
  all.save(state);
  return encode_safetensors(state);
}

/// What is known without the policies themselves.
std::vector<double> estimates_of(const PolicyComparison& all) {
  std::vector<double> numbers;
  const auto add = [&](const ValueEstimate& e) {
    numbers.insert(numbers.end(), {e.value, e.standard_error, e.effective_sample_size});
  };
  for (std::size_t i = 0; i < all.contenders().size(); ++i) {
    const JudgedPolicy& policy = *all.contenders()[i].policy;
    for (std::size_t way = 0; way < all.ways().size(); ++way) add(all.estimate(i, way));
    add(all.relative(i));
    numbers.insert(numbers.end(), {static_cast<double>(policy.events()), static_cast<double>(policy.accepted()),
                                   policy.reward(), all.interval(i).low, all.interval(i).high});
  }
  for (std::size_t k = 0; k < all.pairs().size(); ++k)
    for (std::size_t way = 0; way < all.ways().size(); ++way) add(all.difference(k, way));
  return numbers;
}

}  // namespace

TEST_CASE("policies that ranks share are judged as by one process, which the first rank becomes",
          "[replay][comparison][distributed]") {
  const std::vector<LoggedEvent> events = made_events(1200);
  const std::span<const LoggedEvent> first = std::span(events).first(500), then = std::span(events).subspan(500);
  for (const auto& estimators : std::vector<std::vector<std::string>>{{}, {"snips", "dm"}}) {
    PolicyComparison alone = replayed_comparison(estimators);
    alone.take(first), alone.take(then);
    const std::string expected = state_of_comparison(alone);
    const std::vector<double> known = estimates_of(alone);
    for (const int size : {2, 3, 4, 6}) {
      CAPTURE(estimators.size(), size);
      std::vector<std::vector<double>> on_each(static_cast<std::size_t>(size));
      std::string apart, together;
      double seconds = 0;
      test::on_ranks(size, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
        PolicyComparison shared = replayed_comparison(estimators);
        shared.share_with(*ranks);
        shared.take(first);
        shared.exchange();
        shared.add_up(200), shared.add_up(300);
        shared.bring_together();  // as at a checkpoint, after which it goes on
        shared.take(then.first(1)), shared.take(then.subspan(1));
        shared.exchange();
        shared.add_up(std::ssize(then));
        if (ranks->is_root()) apart = state_of_comparison(shared);
        shared.bring_together();
        on_each[static_cast<std::size_t>(ranks->rank())] = estimates_of(shared);
        if (!ranks->is_root()) return;
        together = state_of_comparison(shared);
        seconds = shared.contenders().back().seconds;
      });
      CHECK((apart != expected));
      CHECK((together == expected));
      CHECK(seconds > 0);  // of the policy that another rank played
      for (const std::vector<double>& one : on_each) CHECK((one == known));
    }
  }
}

TEST_CASE("a policy that diverges on one rank is told on all", "[replay][comparison][distributed]") {
  const std::vector<LoggedEvent> events = made_events(100);
  std::vector<std::string> told(3);
  test::on_ranks(3, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
    PolicyComparison shared = replayed_comparison({});
    shared.add("late", judged_policy(std::make_unique<Diverging>(60)));
    shared.add("later", judged_policy(std::make_unique<Diverging>(80)));
    shared.share_with(*ranks);
    const auto failure = distributed::failure_of(distributed::thrown_by([&] { shared.take(events); }), ranks->rank());
    try {
      shared.exchange(failure);
    } catch (const distributed::AgreedError& error) {
      if (error.kind() == ErrorKind::numeric) told[static_cast<std::size_t>(ranks->rank())] = error.what();
    }
  });
  for (const std::string& sentence : told) CHECK(sentence == "lost at 60");
}
