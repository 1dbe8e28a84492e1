// Ranks that share the work of one agent: whatever their number, each is as the agent that works alone.
#include <stein/agents/control/control_agent.h>
#include <stein/core/safetensors.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "agents/toy_control.h"
#include "distributed/thread_ranks.h"

using namespace stein;
using namespace stein::agents;

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// What an agent is after some iterations, and what it reported on the way.
std::string played(const ControlAgentOptions& options, const std::string& environment, distributed::Communicator* ranks,
                   bool* shares = nullptr) {
  ControlAgent agent(options, *envs::controls().at(environment).builder(), 5);
  if (ranks != nullptr) {
    const bool can = agent.share_with(*ranks);
    if (shares != nullptr && ranks->is_root()) *shares = can;
  }
  std::string said;
  for (int k = 0; k < 4; ++k) {
    const IterationReport report = agent.iterate(k % 2 == 0 ? Measured::yes : Measured::no);
    for (const FinishedEpisode& episode : report.episodes)
      said += fmt::format("{} {} {};", episode.particle, episode.length, episode.total_reward);
    if (report.measures)
      for (const auto& [tag, value] : report.measures->tagged(agent.clips())) said += fmt::format("{} {};", tag, value);
  }
  Snapshot snapshot;
  agent.save(snapshot);
  return said + encode_safetensors(snapshot);
}

}  // namespace

TEST_CASE("an agent that two, three and five ranks share is on each the agent alone, bit for bit",
          "[agents][control][distributed]") {
  struct Case {
    Learner learner;
    PolicyPosterior posterior;
    const char* environment;
    Settings more;
  };
  const Case all[] = {
      {Learner::reinforce, PolicyPosterior::s2vgd, "cartpole", {{"baseline", "linear"}}},
      {Learner::reinforce, PolicyPosterior::svgd, "CartPole-v1", {{"baseline", "network"}}},
      {Learner::a2c, PolicyPosterior::independent, "Pendulum-v1", {}},
      {Learner::a2c, PolicyPosterior::svgd, "CartPole-v1", {{"kernel_sees", "behaviour"}}},
      {Learner::ppo, PolicyPosterior::s2vgd, "Pendulum-v1", {{"target_kl", "0.001"}, {"minibatches", "2"}}},
      {Learner::ppo, PolicyPosterior::none, "Acrobot-v1", {{"slots", "130"}, {"minibatches", "2"}}},
  };
  for (const Case& each : all) {
    const bool discrete = envs::controls().at(each.environment).builder()->spec().discrete();
    ControlAgentOptions options = default_options(each.learner, each.posterior, discrete);
    test::set(options, {{"hidden", "8"}, {"slots", "3"}, {"steps_per_slot", "20"}});
    if (each.learner != Learner::reinforce) test::set(options, {{"value_hidden", "8"}});
    if (each.posterior != PolicyPosterior::none) test::set(options, {{"particles", "4"}});
    test::set(options, each.more);
    const std::string alone = played(options, each.environment, nullptr);
    for (const int size : {2, 3, 5}) {
      std::vector<std::string> on_each(static_cast<std::size_t>(size));
      bool shares = false;
      test::on_ranks(size, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
        on_each[static_cast<std::size_t>(ranks->rank())] = played(options, each.environment, ranks.get(), &shares);
      });
      CAPTURE(each.environment, static_cast<int>(each.learner), static_cast<int>(each.posterior), size);
      CHECK(shares);
      for (const std::string& one : on_each) CHECK((one == alone));
    }
  }
}

TEST_CASE("one policy in few slots leaves ranks nothing to share", "[agents][control][distributed]") {
  ControlAgent agent(default_options(Learner::ppo, PolicyPosterior::none, true),
                     *envs::controls().at("CartPole-v1").builder(), 0);
  distributed::SingleProcess alone;
  CHECK_FALSE(agent.share_with(alone));
}
