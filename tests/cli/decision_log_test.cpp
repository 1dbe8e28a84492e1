// What `--log-decisions` writes is a function of the seed, for every policy.
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "cli/program.h"

using namespace stein::test;
using Json = nlohmann::json;

namespace {

const std::set<std::string> for_clicks{"beta-ts", "kl-ucb", "logistic-ts"};

/// The decision log of 50 interactions of two seeds: forced pulls, decisions and, for those who learn so, minibatches
/// and two looks at the whole window.
std::string log_of(const TemporaryDirectory& folder, const std::string& policy, const std::string& threads) {
  std::vector<std::string> arguments{"bandit",
                                     "--env",
                                     for_clicks.contains(policy) ? "logistic" : "mushroom-synthetic",
                                     "--policy",
                                     policy,
                                     "--seeds",
                                     "0:2",
                                     "--log-decisions",
                                     "--quiet",
                                     "--threads",
                                     threads,
                                     "--out",
                                     policy + "-" + threads,
                                     "--set",
                                     "steps=50",
                                     "updates=1",
                                     "batch=16"};
  if (policy == "fixed-propensities") arguments.emplace_back("table=table.csv");
  // glibc fills what is freed with this byte, so that what is read there differs from run to run.
  ::setenv("MALLOC_PERTURB_", threads == "1" ? "85" : "170", 1);
  const Outcome outcome = run(folder.path(), arguments);
  ::unsetenv("MALLOC_PERTURB_");
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  return content_of(folder / (policy + "-" + threads) / "decisions.jsonl");
}

void check_propensities(const std::string& log) {
  std::istringstream lines(log);
  std::string line;
  REQUIRE(std::getline(lines, line));
  const std::size_t arms = Json::parse(line)["arm_names"].size();
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    CAPTURE(line);
    const Json entry = Json::parse(line);
    const auto propensities = entry["propensities"].get<std::vector<double>>();
    REQUIRE((arms == 0 || propensities.size() == arms));
    REQUIRE(std::accumulate(propensities.begin(), propensities.end(), 0.0) == Approx(1).epsilon(1e-7));
    REQUIRE(propensities[entry["action"].get<std::size_t>()] > 0);
  }
  CHECK(count == 100);
}

}  // namespace

TEST_CASE("every policy writes the same log of decisions with one thread and with two", "[cli][bandit]") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "table.csv") << "arm,propensity\neat,0.25\npass,0.75\n";
  const Json policies = run(folder.path(), {"list", "--json"}).json()["policies"];
  REQUIRE(policies.size() >= 24);
  for (const Json& policy : policies) {
    const auto name = policy["name"].get<std::string>();
    CAPTURE(name);
    const std::string one = log_of(folder, name, "1"), two = log_of(folder, name, "2");
    CHECK((one == two));
    check_propensities(one);
  }
}
