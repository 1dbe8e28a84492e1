// Replays under mpirun: ranks share seeds and policies, and the bytes are those of one process.
#include <fmt/format.h>

#include <array>

#include "distributed/mpi_job.h"

using namespace stein::test;
using Catch::Contains;

namespace {

/// A table of decisions whose lines ranks can share; some of them are bad.
void make_table(const fs::path& file, int rows) {
  std::string text = "x,y,arm,reward,propensity\n";
  for (int i = 1; i < rows; ++i) {
    const char* arm = i % 97 == 0 ? "d" : std::array{"a", "b", "c"}[static_cast<std::size_t>(i * i % 3)];
    text += fmt::format("{},{},{},{},{}\n", i % 7, 0.25 * (i % 5), arm, i % 4 == 0 ? 1 : 0, i % 2 == 0 ? 0.5 : 0.25);
  }
  write(file, text);
}

Arguments replay(const std::string& out, const Arguments& more = {}) {
  return joined({"replay", "--log", "news.gz", "--policy", "lints,linucb,uniform,logged", "--threads", "1", "--quiet",
                 "--out", out, "--set", "checkpoint_every=2000"},
                more);
}

/// What is replayed besides, and on how many ranks.
struct Case {
  Arguments more;
  int ranks;
};

}  // namespace

TEST_CASE("a replay is the same bytes without mpirun and on one to six ranks", "[distributed][mpi]") {
  const auto [more, ranks] = GENERATE(
      Case{{}, 1}, Case{{}, 2}, Case{{}, 3}, Case{{}, 4}, Case{{"--estimators", "snips,dm,dr"}, 3},
      Case{{"--seeds", "0:2"}, 5}, Case{{"--policy", "uniform"}, 2}, Case{{"--set", "delay=7", "deliver_every=50"}, 6});
  const TemporaryDirectory folder;
  launcher(ranks);
  make_log(folder, 6000);
  const auto with = [&, &more = more](const std::string& out) {
    Arguments arguments = replay(out, more);
    if (more.size() == 2 && more[0] == "--policy") arguments.erase(arguments.begin() + 3, arguments.begin() + 5);
    return arguments;
  };
  REQUIRE(run(folder.path(), with("one")).code == 0);
  const Outcome many = run_on(ranks, folder, with("many"));
  CAPTURE(many.err);
  REQUIRE(many.code == 0);
  check_same_run(folder, "one", "many");
  for (const Json& policy : Json::parse(content_of(folder / "many/summary.json"))["policies"])
    CHECK(policy["events_per_second"].get<double>() > 0);  // whichever rank played it
}

TEST_CASE("where ranks share the lines of a log a replay is the same bytes too, and goes on after a stop",
          "[distributed][mpi]") {
  const auto [policies, ranks, then] = GENERATE(table<std::string, int, int>(
      {{"uniform", 2, 1}, {"uniform", 4, 2}, {"uniform,logged", 3, 4}, {"linucb,uniform,logged", 3, 2}}));
  const TemporaryDirectory folder;
  launcher(ranks);
  make_table(folder / "log.csv", 5000);
  const auto with = [&, &policies = policies](const std::string& out) {
    return Arguments{"replay",
                     "--log",
                     "log.csv",
                     "--format",
                     "csv",
                     "--policy",
                     policies,
                     "--threads",
                     "1",
                     "--quiet",
                     "--out",
                     out,
                     "--estimators",
                     "snips",
                     "--set",
                     "arm_names=a,b,c",
                     "checkpoint_every=1000"};
  };
  REQUIRE(run(folder.path(), with("one")).code == 0);
  const Outcome many = run_on(ranks, folder, with("all"));
  CAPTURE(many.err);
  REQUIRE(many.code == 0);
  check_same_run(folder, "one", "all");
  Arguments stopping = with("many");
  stopping.insert(stopping.end() - 3, {"--stop-after", "2300"});
  check_goes_on(folder, ranks, stopping, then);
}

TEST_CASE("a replay that was stopped goes on with another number of ranks", "[distributed][mpi]") {
  const auto [first, then] = GENERATE(table<int, int>({{2, 3}, {4, 1}, {1, 2}}));
  const TemporaryDirectory folder;
  launcher(2);
  make_log(folder, 6000);
  REQUIRE(run(folder.path(), replay("one")).code == 0);
  check_goes_on(folder, first, replay("many", {"--stop-after", "2500"}), then);
}

TEST_CASE("a line that no event can be made of is told once by all the ranks that read it", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(3);
  make_log(folder, 3000);
  REQUIRE(std::system(
              ("cd " + folder.path().string() + " && (gunzip -c news.gz; echo nonsense) | gzip > bad.gz").c_str()) ==
          0);
  Arguments strict = replay("run", {"--strict"});
  strict[2] = "bad.gz";
  const Outcome alone = run(folder.path(), strict);
  REQUIRE(alone.code == 3);
  fs::remove_all(folder / "run");
  const Outcome many = run_on(3, folder, strict);
  CHECK(many.code == 3);
  CHECK_THAT(many.err, Contains("line 3001"));
  CHECK(many.err.find("line 3001") == many.err.rfind("line 3001"));
}

TEST_CASE("a rank that is killed while ranks share policies ends the replay, and another number goes on",
          "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(3);
  make_log(folder, 20000);
  REQUIRE(run(folder.path(), replay("whole")).code == 0);
  const auto [killed, then] = GENERATE(table<int, int>({{0, 2}, {2, 1}}));
  Program job = start_on(3, folder, replay("part"));
  REQUIRE(job.wait_until([&] { return last_checkpoint(folder / "part") >= 2000; }));
  const pid_t process = process_of(folder.path(), killed);
  if (process > 0) ::kill(process, SIGKILL);
  const Outcome ended = job.wait();
  if (fs::exists(folder / "part/summary.json")) return;  // it was faster
  CHECK(ended.code != 0);
  REQUIRE(run_on(then, folder, {"resume", "part", "--quiet", "--threads", "1"}).code == 0);
  check_same_run(folder, "whole", "part");
}
