// `stein list`: all sections, one of them, and what is in none.
#include <catch2/catch.hpp>
#include <set>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using OrderedJson = nlohmann::ordered_json;

namespace {

OrderedJson listed(const std::filesystem::path& folder, std::vector<std::string> words) {
  words.insert(words.begin(), "list");
  words.emplace_back("--json");
  const Outcome outcome = run(folder, words);
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  return OrderedJson::parse(outcome.out);
}

std::vector<std::string> headings(const OrderedJson& lists) {
  std::vector<std::string> names;
  for (const auto& [heading, list] : lists.items()) names.push_back(heading);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a section is listed alone, by its name or by its last word", "[cli][list]") {
  const TemporaryDirectory folder;
  const OrderedJson all = listed(folder.path(), {});
  const Outcome help = run(folder.path(), {"list", "--help"});
  REQUIRE(all.size() > 10);
  for (const auto& [heading, list] : all.items()) {
    CAPTURE(heading);
    CHECK_THAT(help.out, Contains(heading));
    CHECK(listed(folder.path(), {heading})[heading] == list);
  }
  CHECK(headings(listed(folder.path(), {"policies"})) == Names{"policies"});
  CHECK(headings(listed(folder.path(), {"environments"})) == Names{"environments", "control environments"});
  for (const Names& words : {Names{"control", "environments"}, Names{"control-environments"}})
    CHECK(headings(listed(folder.path(), words)) == Names{"control environments"});
  const Outcome text = run(folder.path(), {"list", "policies"});
  CHECK_THAT(text.out, Contains("lints") && !Contains("CartPole-v1") && !Contains("samplers"));
}

TEST_CASE("a section that there is none of is refused with the nearest", "[cli][list][bad-input]") {
  const TemporaryDirectory folder;
  const auto refused = [&](const Names& words) {
    const Outcome outcome = run(folder.path(), words);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  CHECK_THAT(refused({"list", "polices"}), Contains("no section 'polices'. Did you mean 'policies'?"));
  CHECK_THAT(refused({"list", "data", "set"}), Contains("Did you mean 'data sets'?"));
  CHECK_THAT(refused({"list", "ments"}), Contains("no section 'ments'"));  // the end of a word is no word
  CHECK_THAT(refused({"list", "--reference", "policies"}), Contains("expected no section beside it, got 'policies'"));
}

TEST_CASE("presets of a task are listed with the agent that they are for, and each can be taken", "[cli][list][rl]") {
  const TemporaryDirectory folder;
  std::set<std::string> titles;
  const OrderedJson lists = listed(folder.path(), {"presets"});
  for (const OrderedJson& preset : lists["presets"])
    if (preset["name"] == "zoo" || preset["name"] == "tuned") {
      const std::string text = preset["description"];
      titles.insert(preset["name"].get<std::string>() + ", " + text.substr(0, text.find(" and posterior none")));
      const std::string task = text.substr(text.find("environment ") + 12),
                        agent = text.substr(text.find("agent ") + 6);
      const Outcome help = run(folder.path(), {"rl", "--env", task.substr(0, task.find(':')), "--agent",
                                               agent.substr(0, agent.find(' ')), "--help"});
      CHECK_THAT(help.out, Contains("\n  " + preset["name"].get<std::string>() + "\n"));
    }
  CHECK(titles == std::set<std::string>{"tuned, rl, environment cartpole-swingup: with agent ppo",
                                        "zoo, rl, environment Acrobot-v1: with agent a2c",
                                        "zoo, rl, environment Acrobot-v1: with agent ppo",
                                        "zoo, rl, environment CartPole-v1: with agent a2c",
                                        "zoo, rl, environment CartPole-v1: with agent ppo",
                                        "zoo, rl, environment InvertedDoublePendulum: with agent ppo",
                                        "zoo, rl, environment InvertedPendulum: with agent ppo",
                                        "zoo, rl, environment Pendulum-v1: with agent ppo"});
}
