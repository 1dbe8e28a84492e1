// The C functions as a program in C calls them.
#include <stein/c/stein.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;

namespace {

/// A run with seeds 0 and 1 on the wheel: five arms, two numbers a context.
std::string train(const TemporaryDirectory& folder, const std::string& policy = "lints") {
  REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", policy, "--seeds", "0:2", "--set", "steps=200",
                              "updates=1", "--quiet", "--out", "run"})
              .code == 0);
  return (folder / "run").string();
}

const std::array<float, 2> point{0.1f, -0.2f};
const stein_context context{point.data(), 2, nullptr, 0, nullptr, 0, nullptr, 0};

}  // namespace

TEST_CASE("a policy is loaded, decides, learns and is saved", "[c]") {
  const TemporaryDirectory folder;
  const std::string run = train(folder);
  stein_policy* policy = stein_load(run.c_str(), "seed=1");
  INFO(stein_error());
  REQUIRE(policy != nullptr);
  std::array<double, 5> propensities{};
  std::int64_t id = -1;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t arm = stein_decide(policy, &context, propensities.data(), 5, &id);
    REQUIRE(arm >= 0);
    REQUIRE(arm < 5);
    double sum = 0;
    for (const double p : propensities) sum += p;
    CHECK(sum == Approx(1));
    CHECK(stein_learn(policy, id, arm == 2 ? 50 : 0) == 0);
  }
  CHECK(std::string(stein_error()).empty());
  CHECK(stein_learn(policy, id, 1) == -1);  // it was told already
  CHECK_THAT(stein_error(), Contains("no decision"));
  CHECK(stein_load(run.c_str(), "seed=1") == nullptr);  // one at a time learns
  CHECK_THAT(stein_error(), Contains("at work"));
  const std::int64_t id_of_learner = id;
  stein_policy* reader = stein_load(run.c_str(), "seed=1 learn=false");
  REQUIRE(reader != nullptr);
  CHECK(stein_decide(reader, &context, propensities.data(), 5, &id) >= 0);
  CHECK(stein_learn(reader, id, 1) == -1);
  CHECK_THAT(stein_error(), Contains("learn=false"));
  CHECK(stein_save(reader) == -1);
  std::int64_t id_again = -1;
  REQUIRE(stein_decide(reader, &context, propensities.data(), 5, &id_again) >= 0);
  stein_free(reader);
  stein_policy* same = stein_load(run.c_str(), "seed=1 learn=false");  // whoever does not learn leaves nothing behind
  std::int64_t id_first = -1;
  REQUIRE(stein_decide(same, &context, propensities.data(), 5, &id_first) >= 0);
  CHECK(id_first == id);
  CHECK(id_again == id + 1);
  stein_free(same);
  REQUIRE(stein_save(policy) == 0);
  const std::int64_t last = id_of_learner;
  stein_free(policy);

  stein_policy* again = stein_load(run.c_str(), "seed=1");
  REQUIRE(again != nullptr);
  CHECK(stein_decide(again, &context, propensities.data(), 5, &id) == 2);  // it has learned that arm 2 pays
  CHECK(propensities[2] > 0.9);
  CHECK(id > last);
  stein_free(again);
  stein_free(nullptr);
}

TEST_CASE("first pulls are forced on a policy that learns, and on no other", "[c]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", "lints", "--seeds", "0:1", "--set", "steps=3",
                              "--quiet", "--out", "run"})
              .code == 0);
  for (const bool learns : {false, true}) {
    CAPTURE(learns);
    stein_policy* policy = stein_load((folder / "run").c_str(), learns ? nullptr : "learn=false");
    REQUIRE(policy != nullptr);
    std::array<double, 5> propensities{};
    REQUIRE(stein_decide(policy, &context, propensities.data(), 5, nullptr) >= 0);
    CHECK((*std::max_element(propensities.begin(), propensities.end()) == 1) == learns);
    stein_free(policy);
  }
}

TEST_CASE("arms to choose from are named, and the place among them comes back", "[c]") {
  const TemporaryDirectory folder;
  stein_policy* policy = stein_load(train(folder, "svgd").c_str(), nullptr);
  REQUIRE(policy != nullptr);
  const std::array<const char*, 2> arms{"4", "1"};
  const std::array<const char*, 2> twice{"4", "4"};
  std::array<double, 2> propensities{};
  stein_context some = context;
  some.arms = arms.data(), some.arms_size = 2;
  CHECK(stein_decide(policy, &some, propensities.data(), 2, nullptr) >= 0);
  CHECK(propensities[0] + propensities[1] == Approx(1));
  CHECK(stein_decide(policy, &some, propensities.data(), 1, nullptr) == -1);
  CHECK_THAT(stein_error(), Contains("room for 1 propensities, 2 are needed"));
  some.arms = twice.data();
  CHECK(stein_decide(policy, &some, nullptr, 0, nullptr) == -1);
  CHECK_THAT(stein_error(), Contains("twice"));
  stein_free(policy);
}

TEST_CASE("what makes no sense is said, and nothing ends the process", "[c]") {
  const TemporaryDirectory folder;
  const std::string run = train(folder);
  CHECK(stein_load(nullptr, nullptr) == nullptr);
  CHECK(stein_load((folder / "none").c_str(), nullptr) == nullptr);
  CHECK_THAT(stein_error(), Contains("there is no run directory"));
  CHECK(stein_load(run.c_str(), "seed=9") == nullptr);
  CHECK_THAT(stein_error(), Contains("seeds 0:2"));
  CHECK(stein_load(run.c_str(), "sead=1") == nullptr);
  CHECK_THAT(stein_error(), Contains("Did you mean 'seed'?"));
  stein_policy* policy = stein_load(run.c_str(), nullptr);
  REQUIRE(policy != nullptr);
  stein_context wrong = context;
  wrong.dense_size = 1;
  CHECK(stein_decide(policy, &wrong, nullptr, 0, nullptr) == -1);
  CHECK_THAT(stein_error(), Contains("2 numbers, got 1"));
  wrong.dense = nullptr;
  CHECK(stein_decide(policy, &wrong, nullptr, 0, nullptr) == -1);
  CHECK(stein_decide(nullptr, &context, nullptr, 0, nullptr) == -1);
  CHECK(stein_decide(policy, nullptr, nullptr, 0, nullptr) == -1);
  CHECK(stein_learn(nullptr, 0, 1) == -1);
  CHECK(stein_save(nullptr) == -1);
  stein_free(policy);
}
