// Policies of a replay whose networks lie on a device, against the same ones on the host.
#include <stein/replay/policy_comparison.h>
#include <stein/replay/replay_experiment.h>
#include <stein/replay/synthetic_news.h>
#include <stein/runs/run_kind.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "inference/cuda/networks_on_host.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::replay;
using inference::Device;

namespace {

const envs::BanditSpec device_articles{.name = "news",
                                       .arms = 1'000'000,
                                       .context_size = 6,
                                       .arm_features = 6,
                                       .reward_low = 0,
                                       .reward_high = 1,
                                       .bounded = true};

ReplayExperiment experiment_of(const std::string& policies, const std::string& device = "cpu") {
  runs::OptionSources sources{.settings = {{"policy", policies}, {"device", device}, {"forced_pulls", "0"}}};
  if (policies != "linucb" && policies != "uniform" && policies != "linucb,uniform")  // some have a network
    for (const char* option : {"hidden=7", "likelihood=bernoulli"})
      sources.settings.push_back(runs::parse_setting(option));
  return {runs::run_kinds().at("replay"), sources};
}

PolicyReplay replay_on(Device device, const std::string& policy, const DeliveryOptions& delivery = {}) {
  return {experiment_of(policy).make_learner(policy, device_articles, 3, device), delivery, ConfidenceSequence(0, 1)};
}

/// Both accept the same of events first … first + count − 1.
/// @returns how many
int check_events(PolicyReplay& there, PolicyReplay& host, int first, int count) {
  SyntheticNews news({.seed = 2, .lifetime = 500});
  int accepted = 0;
  for (int number = first; number < first + count; ++number) {
    const LoggedEvent event = news.event(number);
    const bool found = there.take(event).accepted, expected = host.take(event).accepted;
    REQUIRE(found == expected);
    accepted += expected;
  }
  return accepted;
}

void check_replay(const std::string& policy, Device device) {
  CAPTURE(policy);
  PolicyReplay there = replay_on(device, policy), host = replay_on({}, policy);
  CHECK(check_events(there, host, 0, 400) > 5);
  // A run goes on wherever it was saved.
  for (const PolicyReplay* const from : {&there, &host}) {
    PolicyReplay next_there = replay_on(device, policy), next_host = replay_on({}, policy);
    Snapshot saved;
    from->save(saved);
    next_there.restore(saved), next_host.restore(saved);
    check_events(next_there, next_host, 400, 200);
  }
}

/// Events are taken together, so that those before a delivery are foreseen.
PolicyComparison taken_together(Device device, const std::string& policy) {
  PolicyComparison all({.estimators = {"ips"}}, device_articles);
  all.add(policy, std::make_unique<PolicyReplay>(replay_on(device, policy, {.delay = 5, .deliver_every = 30})));
  SyntheticNews news({.seed = 2, .lifetime = 500});
  std::vector<LoggedEvent> events;
  for (int number = 0; number < 400; ++number) events.push_back(news.event(number));
  all.take(std::span(events).first(250)), all.take(std::span(events).subspan(250));
  return all;
}

void check_foreseen(const std::string& policy, Device device) {
  CAPTURE(policy);
  const PolicyComparison there = taken_together(device, policy), host = taken_together({}, policy);
  const JudgedPolicy &found = *there.contenders()[0].policy, &expected = *host.contenders()[0].policy;
  CHECK(found.accepted() > 5);
  CHECK(found.accepted() == expected.accepted());
  CHECK(found.reward() == expected.reward());
  CHECK(there.estimate(0, 1).value == Approx(host.estimate(0, 1).value).margin(1e-12));
}

void check_replays(Device device) {
  for (const char* policy : {"svgd", "s2vgd", "epsilon-greedy"}) check_replay(policy, device);
  for (const char* policy : {"svgd", "s2vgd", "bootstrap", "epsilon-greedy", "bbb", "vmg"})
    check_foreseen(policy, device);
}

}  // namespace

TEST_CASE("a replay whose networks lie on a device accepts the events that it accepts on the host", "[replay][cuda]") {
  check_replays(test::fenced_networks());
}

TEST_CASE("a replay whose networks lie on a GPU accepts the events that it accepts on the host",
          "[replay][cuda][gpu]") {
  check_replays(test::gpu());
}

TEST_CASE("of the policies of a replay those that can have no networks on a device stay on the host",
          "[replay][cuda]") {
  const Device device = test::fenced_networks();
  for (const char* policy : {"linucb", "uniform"}) {
    PolicyReplay there = replay_on(device, policy), host = replay_on({}, policy);
    check_events(there, host, 0, 50);
  }
  CHECK_NOTHROW(experiment_of("svgd,linucb", "cuda"));
}

TEST_CASE("a device is refused where no policy of a replay can be there", "[replay][cuda]") {
  CHECK_ERROR(experiment_of("linucb,uniform", "cuda"), usage,
              "policy 'linucb' is on the processor only, got device=cuda");
  CHECK_ERROR(experiment_of("svgd", "tpu"), usage, "cpu, cuda or cuda:INDEX, got 'tpu'");
}
