#include <stein/policies/bandit_policy.h>
#include <stein/replay/decision_log.h>
#include <stein/replay/decision_service.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::replay;
using Json = nlohmann::json;

namespace {

const envs::BanditSpec shop{.name = "shop",
                            .arms = 3,
                            .context_size = 2,
                            .reward_low = 0,
                            .reward_high = 1,
                            .data = "synthetic",
                            .source = "a test",
                            .arm_names = {"red", "green", "blue"}};

std::unique_ptr<ServedPolicy> served(std::int64_t most_waiting = 100) {
  const auto builder = policies::bandit_policies().at("lints").builder();
  const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 0};
  return std::make_unique<ServedPolicy>(
      shop, ArmTable(3), std::make_unique<policies::BanditLearner>(options, shop, 5, builder->make(shop, 5)),
      most_waiting);
}

/// A service with the JSON format, and what it answers.
struct Asked {
  std::unique_ptr<ServedPolicy> policy;
  DecisionLog format{{}};
  DecisionService service;

  explicit Asked(const DecisionService::Options& options = {.learn = true}, std::int64_t most_waiting = 100)
      : policy(served(most_waiting)), service(*policy, format, options) {
    format.begin(decision_log_head(shop));
  }
  Json operator()(const std::string& line) {
    std::string answers;
    service.answer(line, answers);
    REQUIRE(answers.ends_with('\n'));
    return Json::parse(answers);
  }
};

const std::string asked_context = R"({"context":[0.5,-1]})";

}  // namespace

TEST_CASE("an outcome is learned with the propensity of its decision", "[replay][service]") {
  /// Draws the second arm, with probability 0.25.
  class Second final : public policies::BanditPolicy {
   public:
    explicit Second(policies::Outcome& last) : last_(last) {}
    policies::Decision decide(const envs::Context& context, std::int64_t, policies::Propensities) override {
      return {.action = context.arm(1), .propensities = propensities_};
    }
    void observe(const envs::Context&, const policies::Outcome& outcome) override { last_ = outcome; }

   private:
    policies::Outcome& last_;
    std::vector<double> propensities_{0.75, 0.25};
  };
  policies::Outcome last;
  const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 0};
  ServedPolicy policy(shop, ArmTable(3),
                      std::make_unique<policies::BanditLearner>(options, shop, 5, std::make_unique<Second>(last)));
  const ServedPolicy::Answer answer = policy.decide({.dense = {0.5F, -1}, .present = {2, 0}}, true);
  CHECK(answer.propensity == 0.25);
  policy.learn(answer.id, 1);
  CHECK(last.action == 0);
  CHECK(last.propensity == 0.25);
  CHECK(last.reward == 1);
}

TEST_CASE("a policy that learns pulls every arm first, as it was told to", "[replay][service]") {
  const auto builder = policies::bandit_policies().at("lints").builder();
  const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 2};
  ServedPolicy policy(shop, ArmTable(3),
                      std::make_unique<policies::BanditLearner>(options, shop, 5, builder->make(shop, 5)));
  std::vector<std::int64_t> pulled;
  for (int i = 0; i < 4; ++i)
    pulled.push_back(policy.decide({.dense = {0.5F, -1}, .present = {2, 0}}, true).decision.action);
  CHECK(pulled == std::vector<std::int64_t>{2, 0, 2, 0});
}

TEST_CASE("rewards are said with mean and deviation over the samples", "[replay][service]") {
  class Sampled final : public policies::BanditPolicy {
   public:
    policies::Decision decide(const envs::Context&, std::int64_t, policies::Propensities) override {
      return {.action = 0, .propensities = propensities_};
    }
    std::vector<std::vector<double>> posterior_rewards(const envs::Context&) override {
      return {{1, 5, 2}, {4, 5, 2}, {1, 5, 8}};
    }

   private:
    std::vector<double> propensities_{1, 0, 0};
  };
  const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 0};
  ServedPolicy policy(shop, ArmTable(3),
                      std::make_unique<policies::BanditLearner>(options, shop, 5, std::make_unique<Sampled>()));
  DecisionLog format{{}};
  format.begin(decision_log_head(shop));
  DecisionService service(policy, format, {.rewards = true});
  std::string answers;
  service.answer(asked_context, answers);
  const Json answer = Json::parse(answers);
  const std::vector<double> mean{2, 5, 4}, deviation{std::sqrt(3.0), 0, std::sqrt(12.0)};
  for (std::size_t a = 0; a < 3; ++a) {
    CHECK(answer["reward_mean"][a] == Approx(mean[a]));
    CHECK(answer["reward_sd"][a] == Approx(deviation[a]).margin(1e-12));
  }
}

TEST_CASE("a context of several lines is answered at the end too", "[replay][service]") {
  const auto builder = log_formats().at("vw-text").builder();
  const auto format = builder->make();
  const policies::BanditLearner::Options options{.buffer = 10, .batch = 1, .forced_pulls = 0};
  envs::BanditSpec of = format->spec();
  of.arms = 10;
  const auto uniform = policies::bandit_policies().at("uniform").builder();
  ServedPolicy policy(of, ArmTable(10),
                      std::make_unique<policies::BanditLearner>(options, of, 5, uniform->make(of, 5)));
  DecisionService service(policy, *format, {});
  format->begin_contexts("");
  std::string answers;
  for (const char* line : {"shared | a", "| b", "| c"}) service.answer(line, answers);
  CHECK(answers.empty());
  service.finish(answers);
  CHECK(Json::parse(answers)["propensities"].size() == 2);
  CHECK(service.decisions() == 1);
}

TEST_CASE("no number of a decision is given twice, whatever was saved in between", "[replay][service]") {
  const LoggedEvent event{.dense = {0.5F, -1}, .present = {2, 0}};
  std::vector<std::int64_t> ids;
  Snapshot kept;
  served()->save(kept);
  for (int start = 0; start < 3; ++start) {
    const auto policy = served();
    policy->restore(kept);
    policy->begin_session();
    kept = {};
    policy->save(kept);  // and what is decided from here on is lost
    for (int i = 0; i < 3; ++i) ids.push_back(policy->decide(event, true).id);
  }
  std::ranges::sort(ids);
  CHECK(std::ranges::adjacent_find(ids) == ids.end());
}

TEST_CASE("many decisions wait, and are there again when the policy is restored", "[replay][service]") {
  const auto policy = served(50'000), again = served(50'000);
  const LoggedEvent event{.dense = {0.5f, -1}, .present = {2, 0}};
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 20'000; ++i) ids.push_back(policy->decide(event, true).id);  // one part each took minutes
  Snapshot state, same;
  policy->save(state);
  again->restore(state);
  again->save(same);
  CHECK(same.arrays().size() == state.arrays().size());
  CHECK(same.part("waiting").get_vector<std::int32_t>("present") ==
        state.part("waiting").get_vector<std::int32_t>("present"));
  CHECK(state.part("waiting").get_vector<std::int32_t>("present").size() == 2 * ids.size());
  for (const std::size_t k : {0, 12'345, 19'999}) {
    policy->learn(ids[k], 1), again->learn(ids[k], 1);
    CHECK_ERROR(again->learn(ids[k], 1), data, "no decision");
  }
  for (int i = 0; i < 20; ++i)
    CHECK(policy->decide(event, true).decision.action == again->decide(event, true).decision.action);
}

TEST_CASE("a context becomes a decision with exact propensities", "[replay][service]") {
  Asked asked;
  const auto same = served();
  LoggedEvent event{.dense = {0.5f, -1}, .present = {0, 1, 2}};
  for (int i = 0; i < 20; ++i) {
    const Json answer = asked(asked_context);
    const auto expected = same->decide(event, false);
    CHECK(answer["id"] == i);
    CHECK(answer["action"] == expected.decision.action);
    CHECK(answer["arm"] == shop.arm_names[answer["action"].get<std::size_t>()]);
    const auto propensities = answer["propensities"].get<std::vector<double>>();
    REQUIRE(propensities.size() == 3);
    CHECK(propensities[0] + propensities[1] + propensities[2] == Approx(1));
    CHECK(answer["propensity"] == propensities[answer["action"].get<std::size_t>()]);
    CHECK_FALSE(answer.contains("reward_mean"));
  }
}

TEST_CASE("only arms that are there are chosen, by number or by name", "[replay][service]") {
  Asked asked;
  for (int i = 0; i < 30; ++i) {
    CHECK(asked(R"({"context":[0,1],"present":[2]})")["arm"] == "blue");
    const Json answer = asked(R"({"context":[0,1],"arms":["blue","red"]})");
    CHECK(answer["arm"] != "green");
    CHECK(answer["propensities"].size() == 2);
  }
  CHECK(asked(R"({"context":[0,1],"arms":["blue","blue"]})")["error"] == "line 61: an arm that is there twice");
  CHECK_THAT(asked(R"({"context":[0,1],"arms":["pink"]})")["error"].get<std::string>(), Catch::Contains("line 62"));
}

TEST_CASE("outcomes are learned from, in any order and once", "[replay][service]") {
  Asked asked;
  const Json before = asked(asked_context);
  CHECK(asked(asked_context)["id"] == 1);
  CHECK(asked(R"({"id":1,"reward":1})") == Json{{"id", 1}, {"outcomes", 1}});
  CHECK(asked(R"({"id":0,"reward":0.5})")["outcomes"] == 2);
  CHECK_THAT(asked(R"({"id":0,"reward":0.5})")["error"].get<std::string>(), Catch::Contains("no decision 0 waits"));
  CHECK_THAT(asked(R"({"id":9,"reward":0.5})")["error"].get<std::string>(), Catch::Contains("no decision 9 waits"));
  CHECK_THAT(asked(R"({"id":1})")["error"].get<std::string>(), Catch::Contains("has 2 numbers, got 0"));
  CHECK_THAT(asked(R"({"id":"x","reward":1})")["error"].get<std::string>(), Catch::Contains("an outcome is"));
  CHECK(asked.policy->outcomes() == 2);
  for (int i = 0; i < 50; ++i)
    asked(fmt::format(R"({{"id":{},"reward":{}}})", asked(asked_context)["id"].get<int>(), i % 2));
  CHECK(asked(asked_context)["propensities"] != before["propensities"]);
  Asked deaf({.learn = false});
  deaf(asked_context);
  CHECK_THAT(deaf(R"({"id":0,"reward":1})")["error"].get<std::string>(), Catch::Contains("--learn"));
}

TEST_CASE("features of a context may be called as the keys of an outcome", "[replay][service]") {
  CHECK(DecisionService::is_outcome(R"({"reward":1,"id":3})"));
  CHECK(DecisionService::is_outcome(R"({"id":3,"reward":)"));
  CHECK_FALSE(DecisionService::is_outcome(R"({"c":{"u":{"id":4,"reward":2},"_multi":[{"a":{"x":1}}]}})"));
  CHECK_FALSE(DecisionService::is_outcome(R"({"context":[1,2]})"));
}

TEST_CASE("what cannot be understood is said with its line, and the service goes on", "[replay][service]") {
  Asked asked;
  CHECK(asked("nonsense")["error"] == "line 1: no JSON object");
  CHECK_THAT(asked(R"({"context":[1]})")["error"].get<std::string>(), Catch::Contains("has 2 numbers, got 1"));
  CHECK(asked(R"({"context":[1,1e999]})")["error"] == "line 3: a number in it is none, or too large");
  CHECK(asked(R"({"context":[1,-1e38]})")["error"] ==
        "line 4: -1e+38 in a context: networks multiply numbers up to 1e+15");
  CHECK(asked(asked_context)["id"] == 0);
  CHECK(asked.service.errors() == 4);
  CHECK(asked.service.decisions() == 1);
}

TEST_CASE("posterior rewards come where they are asked for", "[replay][service]") {
  Asked asked({.rewards = true});
  const Json answer = asked(asked_context);
  CHECK(answer["reward_mean"].size() == 3);
  for (const Json& deviation : answer["reward_sd"]) CHECK(deviation > 0);
}

TEST_CASE("only the last decisions wait for their outcomes", "[replay][service]") {
  Asked asked({.learn = true}, 2);
  for (int i = 0; i < 3; ++i) asked(asked_context);
  CHECK(asked(R"({"id":0,"reward":1})").contains("error"));
  CHECK(asked(R"({"id":1,"reward":1})").contains("outcomes"));
}

TEST_CASE("a served policy goes on from where it was saved, with decisions that wait", "[replay][service]") {
  Asked asked, again;
  for (int i = 0; i < 10; ++i) asked(asked_context);
  asked(R"({"id":3,"reward":1})");
  Snapshot saved;
  asked.policy->save(saved);
  again.policy->restore(saved);
  CHECK(again(R"({"id":3,"reward":1})").contains("error"));
  for (Asked* each : {&asked, &again}) (*each)(R"({"id":7,"reward":1})");
  for (int i = 0; i < 20; ++i) CHECK(again(asked_context) == asked(asked_context));
  again.policy->begin_session();
  CHECK(again(asked_context)["id"].get<std::int64_t>() > 1'000'000'000);
}
