#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;

TEST_CASE("stein data says what is known and what is absent", "[cli][data]") {
  const TemporaryDirectory folder;
  const Outcome text = run(folder.path(), {"data", "list"});
  CHECK(text.code == 0);
  CHECK_THAT(text.out, Contains("mushroom") && Contains("absent") && Contains("stein data fetch mushroom"));
  const auto sets = run(folder.path(), {"data", "list", "--json"}).json().at("data_sets");
  REQUIRE(sets.size() >= 1);
  CHECK(sets[0]["name"] == "mushroom");
  CHECK(sets[0]["path"].is_null());
  CHECK(sets[0]["licence"].get<std::string>().size() > 3);
}

TEST_CASE("a data set is found by --data and by STEIN_DATA", "[cli][data]") {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "sets/mushroom");
  std::ofstream(folder / "sets/mushroom/agaricus-lepiota.data") << "p,x";
  const std::string place = (folder / "sets/mushroom").string() + "\n";
  CHECK(run(folder.path(), {"data", "path", "mushroom"}, folder / "sets").out == place);
  CHECK(run(folder.path(), {"data", "path", "mushroom", "--data", (folder / "sets").string()}).out == place);
}

TEST_CASE("--data is binding, and a STEIN_DATA that is no folder is pointed out", "[cli][data]") {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "cache/stein/mushroom");
  std::filesystem::create_directories(folder / "empty");
  std::ofstream(folder / "cache/stein/mushroom/agaricus-lepiota.data") << "p,x";
  const Outcome named = run(folder.path(), {"data", "path", "mushroom", "--data", "empty"});
  CHECK(named.code == 3);
  CHECK_THAT(named.err, Contains("'empty'") && !Contains("cache/stein'"));
  const Outcome nowhere = run(folder.path(), {"data", "path", "mushroom"}, folder / "nowhere");
  CHECK(nowhere.out == (folder / "cache/stein/mushroom").string() + "\n");
  CHECK_THAT(nowhere.err, Contains("$STEIN_DATA") && Contains("/nowhere', which is no folder"));
}

TEST_CASE("help says where data are fetched to", "[cli][data]") {
  const TemporaryDirectory folder;
  CHECK_THAT(run(folder.path(), {"data", "fetch", "--help"}).out, Contains("user's cache") && !Contains("STEIN_DATA"));
  CHECK_THAT(run(folder.path(), {"data", "path", "--help"}).out,
             Contains("only one looked in") && Contains("STEIN_DATA"));
  CHECK_THAT(run(folder.path(), {"bandit", "--help"}).out, Contains("only one looked in"));
}
