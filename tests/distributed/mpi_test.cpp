// The program under mpirun, on one machine: the files of a single process for any number of ranks, whatever happens.
#include "distributed/mpi_job.h"

using namespace stein::test;
using Catch::Contains;

namespace {

/// A run that is long enough to be interrupted and short enough to wait for.
Arguments bandit(const std::string& out, const Arguments& more = {}) {
  return joined(
      {"bandit", "--env", "mushroom-synthetic", "--policy", "lints", "--seeds", "0:5", "--quiet", "--log-decisions",
       "--threads", "1", "--out", out, "--set", "steps=1500", "--set", "checkpoint_every=100"},
      more);
}

/// Iterations do not divide its intervals, and the first seeds are evaluated while they learn.
Arguments control(const std::string& out, const std::string& seeds = "0:3") {
  return {"rl",
          "--env",
          "cartpole-swingup",
          "--agent",
          "a2c",
          "--posterior",
          "s2vgd",
          "--seeds",
          seeds,
          "--quiet",
          "--threads",
          "1",
          "--out",
          out,
          "--set",
          "steps=4500",
          "particles=3",
          "slots=2",
          "checkpoint_every=1000",
          "evaluate_every=1500",
          "evaluation_episodes=2",
          "final_episodes=3",
          "normalize_rewards=true"};
}

}  // namespace

TEST_CASE("a bandit run is the same bytes without mpirun and on two, three and four ranks", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  const int ranks = GENERATE(2, 3, 4);
  launcher(ranks);
  REQUIRE(run(folder.path(), bandit("one")).code == 0);
  const Outcome many = run_on(ranks, folder, bandit("many", {"--json"}));
  CAPTURE(many.err);
  REQUIRE(many.code == 0);
  CHECK(many.json()["seeds"] == Json{0, 1, 2, 3, 4});  // one object: the root alone prints
  CHECK(many.err.empty());
  check_same_run(folder, "one", "many");
  CHECK(many.json()["timed_decisions"] ==
        Json::parse(content_of(folder / "one/summary.json"))["timed_decisions"]);  // of all ranks together
  const Json manifest = Json::parse(content_of(folder / "many/manifest.json"));
  CHECK(manifest["ranks"] == ranks);
}

TEST_CASE("one process of mpirun is a process as ever", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(1);
  REQUIRE(run(folder.path(), bandit("plain")).code == 0);
  REQUIRE(run_on(1, folder, bandit("launched")).code == 0);
  check_same_run(folder, "plain", "launched");
}

TEST_CASE("a control run is the same bytes without mpirun and on two, three and four ranks", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  const int ranks = GENERATE(2, 3, 4);  // of four, one helps another
  launcher(ranks);
  REQUIRE(run(folder.path(), control("one")).code == 0);
  REQUIRE(run_on(ranks, folder, control("many")).code == 0);
  check_same_run(folder, "one", "many");
  const Json cost = Json::parse(content_of(folder / "many/cost.json"));
  REQUIRE(cost["ranks"].size() == static_cast<std::size_t>(ranks - 1));
  for (std::size_t seed = 0; seed < 3; ++seed) {  // each was paid for by one rank
    std::vector<double> seconds{cost["training_seconds"][seed]};
    for (const Json& counts : cost["ranks"])
      if (!counts.empty()) seconds.push_back(counts["training_seconds"][seed]);  // a rank that helps counts nothing
    CHECK(std::ranges::count_if(seconds, [](double each) { return each > 0; }) == 1);
  }
}

TEST_CASE("ranks beyond the seeds share their steps, and the bytes are those without mpirun", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  const auto [seeds, first, then] =
      GENERATE(table<std::string, int, int>({{"0:1", 2, 3}, {"0:1", 4, 1}, {"0:2", 3, 5}, {"0:2", 5, 2}}));
  launcher(2);
  REQUIRE(run(folder.path(), control("one", seeds)).code == 0);
  check_goes_on(folder, first, joined(control("many", seeds), {"--stop-after", "2300"}), then);
}

TEST_CASE("a rank that is killed while it shares a step ends the job soon, and another number goes on",
          "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(3);
  REQUIRE(run(folder.path(), control("whole", "0:1")).code == 0);
  const auto [killed, step, then] = GENERATE(table<int, int, int>({{0, 0, 2}, {1, 1000, 1}, {2, 2000, 3}}));
  Program job = start_on(3, folder, control("part", "0:1"));
  REQUIRE(job.wait_until([&] { return step == 0 || last_checkpoint(folder / "part") >= step; }));
  REQUIRE(job.wait_until([&] { return process_of(folder.path(), killed) > 0; }));
  const auto began = std::chrono::steady_clock::now();
  REQUIRE(::kill(process_of(folder.path(), killed), SIGKILL) == 0);
  check_lost_rank(job.wait());
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(60));
  if (last_checkpoint(folder / "part") < 0) return;  // killed before there was anything to resume
  REQUIRE(run_on(then, folder, {"resume", "part", "--quiet", "--threads", "1"}).code == 0);
  check_same_run(folder, "whole", "part");
}

TEST_CASE("samples that ranks store while they learn are those of a single process", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  const auto regress = [](const std::string& out) {
    return Arguments{
        "regress",   "--data", "regression-toy", "--sampler", "sgld",  "--seeds", "0:3",   "--quiet",
        "--threads", "1",      "--epochs",       "50",        "--out", out,       "--set", "checkpoint_every=500"};
  };
  launcher(2);
  REQUIRE(run(folder.path(), regress("one")).code == 0);
  const Outcome stopped = run_on(3, folder, joined(regress("many"), {"--stop-after", "1000"}));
  CAPTURE(stopped.err);
  REQUIRE(stopped.code == 75);
  REQUIRE(run_on(2, folder, {"resume", "many", "--quiet"}).code == 0);
  check_same_run(folder, "one", "many");
  for (const char* seed : {"seed-0", "seed-1", "seed-2"}) {
    const auto samples = files_of(folder / (std::string("one/samples/") + seed));
    CHECK_FALSE(samples.empty());
    CHECK((samples == files_of(folder / (std::string("many/samples/") + seed))));
  }
}

TEST_CASE("a run that was stopped goes on with another number of ranks, or without", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  const auto [first, then] = GENERATE(table<int, int>({{3, 2}, {2, 4}, {4, 1}}));
  launcher(2);
  REQUIRE(run(folder.path(), bandit("whole")).code == 0);
  const Outcome stopped = run_on(first, folder, bandit("part", {"--stop-after", "437"}));
  CAPTURE(stopped.err);
  CHECK(stopped.code == 75);
  CHECK(stopped.out.empty());
  CHECK(has_checkpoint(folder / "part", 437));
  REQUIRE(run_on(then, folder, {"resume", "part", "--quiet", "--threads", "1"}).code == 0);
  check_same_run(folder, "whole", "part");
}

TEST_CASE("SIGTERM to a rank saves one checkpoint of all, and the job exits with 75", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  const int asked = GENERATE(0, 2);
  launcher(3);
  REQUIRE(run(folder.path(), bandit("whole")).code == 0);
  Program job = start_on(3, folder, bandit("part"));
  REQUIRE(job.wait_until([&] { return has_checkpoint(folder / "part", 200); }));
  REQUIRE(::kill(process_of(folder.path(), asked), SIGTERM) == 0);
  const Outcome stopped = job.wait();
  CAPTURE(stopped.err);
  CHECK(stopped.code == 75);
  CHECK_FALSE(fs::exists(folder / "part/summary.json"));
  REQUIRE(run(folder.path(), {"resume", "part", "--quiet"}).code == 0);
  check_same_run(folder, "whole", "part");
}

TEST_CASE("SIGUSR1 to mpirun, which passes it on, saves a checkpoint, and the job exits with 75",
          "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(3);
  REQUIRE(run(folder.path(), bandit("whole")).code == 0);
  Program job = start_on(3, folder, bandit("part"));
  REQUIRE(job.wait_until([&] { return has_checkpoint(folder / "part", 200); }));
  job.send(SIGUSR1);
  const Outcome stopped = job.wait();
  CAPTURE(stopped.err);
  CHECK(stopped.code == 75);
  CHECK_THAT(content_of(folder / "part/log.txt"), Contains("stopped after"));
  REQUIRE(run_on(2, folder, {"resume", "part", "--quiet"}).code == 0);
  check_same_run(folder, "whole", "part");
}

TEST_CASE("a rank whose repetition diverges ends the job with its sentence and code 4", "[distributed][mpi][numeric]") {
  const TemporaryDirectory folder;
  Arguments diverging = bandit("run");
  diverging[4] = "sgld";
  diverging.insert(diverging.end(), {"--set", "step_size=1e30"});
  const Outcome alone = run(folder.path(), diverging);
  REQUIRE(alone.code == 4);
  const Outcome job = run_on(3, folder, [&] {
    std::ranges::replace(diverging, std::string("run"), std::string("many"));
    return diverging;
  }());
  CAPTURE(job.err);
  CHECK(job.code == 4);
  CHECK(job.err.find("stein error") == job.err.rfind("stein error"));
  CHECK(content_of(folder / "many/diverged.txt") == content_of(folder / "run/diverged.txt"));
}

TEST_CASE("SIGTERM to mpirun stops the job, and no step before the last checkpoint is lost", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(3);
  REQUIRE(run(folder.path(), bandit("whole")).code == 0);
  Program job = start_on(3, folder, bandit("part"));
  REQUIRE(job.wait_until([&] { return has_checkpoint(folder / "part", 200); }));
  job.send(SIGTERM);
  CHECK(job.wait().code != 0);  // which code is mpirun's own affair
  REQUIRE(run_on(2, folder, {"resume", "part", "--quiet"}).code == 0);
  check_same_run(folder, "whole", "part");
}

TEST_CASE("a rank that is killed ends the job soon, and any number of ranks goes on", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(3);
  REQUIRE(run(folder.path(), bandit("whole")).code == 0);
  const auto [killed, step, then] = GENERATE(
      table<int, int, int>({{0, 0, 2}, {1, 0, 1}, {2, 100, 3}, {0, 300, 1}, {1, 500, 4}, {2, 800, 2}, {1, 1200, 3}}));
  Program job = start_on(3, folder, bandit("part"));
  REQUIRE(job.wait_until([&] { return has_checkpoint(folder / "part", step); }));
  const pid_t process = process_of(folder.path(), killed);
  REQUIRE(process > 0);
  const auto began = std::chrono::steady_clock::now();
  REQUIRE(::kill(process, SIGKILL) == 0);
  check_lost_rank(job.wait());
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(60));
  CHECK_FALSE(fs::exists(folder / "part/summary.json"));
  const Outcome resumed = run_on(then, folder, {"resume", "part", "--quiet", "--threads", "1"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  check_same_run(folder, "whole", "part");
}

TEST_CASE("a comparison of policies under mpirun has one table, of the runs of a single process",
          "[distributed][mpi]") {
  const TemporaryDirectory folder;
  // One run after the other; side by side on one rank each, and on two and one; with ranks that have no run.
  const auto [seeds, ranks] = GENERATE(table<std::string, int>({{"0:3", 2}, {"0:1", 2}, {"0:2", 5}, {"0:1", 3}}));
  launcher(2);
  const auto compare = [&, of = seeds](const std::string& out) {
    return Arguments{"bandit", "--env",    "mushroom-synthetic", "--policy", "lints,uniform", "--seeds",
                     of,       "--quiet",  "--threads",          "1",        "--out",         out,
                     "--set",  "steps=300"};
  };
  REQUIRE(run(folder.path(), compare("one")).code == 0);
  const Outcome many = run_on(ranks, folder, compare("many"));
  CAPTURE(many.err);
  REQUIRE(many.code == 0);
  CHECK(many.out.find("The report") == many.out.rfind("The report"));
  for (const char* policy : {"lints", "uniform"})
    check_same_run(folder, std::string("one/policy=") + policy, std::string("many/policy=") + policy);
}

TEST_CASE("a signal to one rank of a sweep stops the runs that go on beside it, and the sweep is resumed",
          "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(2);
  const auto sweep = [](const std::string& out) {
    return Arguments{"bandit",
                     "--env",
                     "mushroom-synthetic",
                     "--policy",
                     "lints,linucb,uniform",
                     "--seeds",
                     "0:1",
                     "--quiet",
                     "--threads",
                     "1",
                     "--out",
                     out,
                     "--set",
                     "steps=30000",
                     "checkpoint_every=1000"};
  };
  Program job = start_on(2, folder, sweep("part"));
  REQUIRE(job.wait_until([&] { return has_checkpoint(folder / "part/policy=lints", 2000); }));
  REQUIRE(::kill(process_of(folder.path(), GENERATE(0, 1)), SIGTERM) == 0);
  const Outcome stopped = job.wait();
  CAPTURE(stopped.err);
  CHECK(stopped.code == 75);
  CHECK_FALSE(fs::exists(folder / "part/policy=lints/summary.json"));
  CHECK_FALSE(fs::exists(folder / "part/policy=linucb/summary.json"));
  REQUIRE(run(folder.path(), sweep("whole")).code == 0);
  REQUIRE(run_on(2, folder, {"resume", "part", "--quiet", "--threads", "1"}).code == 0);
  for (const char* policy : {"lints", "linucb", "uniform"})
    check_same_run(folder, std::string("whole/policy=") + policy, std::string("part/policy=") + policy);
}

TEST_CASE("a run of a sweep that diverges on ranks of its own leaves the others", "[distributed][mpi][numeric]") {
  const TemporaryDirectory folder;
  launcher(2);
  const Arguments sweep{"bandit",
                        "--env",
                        "mushroom-synthetic",
                        "--policy",
                        "sgld",
                        "--sweep",
                        "step_size=1e30,1e-6",
                        "--threads",
                        "1",
                        "--quiet",
                        "--out",
                        "sweep",
                        "--set",
                        "steps=100"};
  const Outcome many = run_on(2, folder, sweep);
  CAPTURE(many.err);
  CHECK(many.code == 4);
  CHECK(fs::exists(folder / "sweep/step_size=1e30/diverged.txt"));
  CHECK(fs::exists(folder / "sweep/step_size=1e-6/summary.json"));
}

TEST_CASE("ranks that were started with other options are refused, by what differs", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  Arguments all = launcher(1);
  for (const std::string& argument : bandit("run")) all.push_back(argument);
  all.insert(all.end(), {":", "-n", "1", STEIN_PROGRAM});
  for (const std::string& argument : bandit("run", {"--set", "steps=400"})) all.push_back(argument);
  const Outcome refused = Program(folder.path(), all, {}, env_program).wait();
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err,
             Contains("stein error: all ranks of a run need the same options, data and program, but rank 1 has "
                      "option steps '400', and rank 0 '1500'"));
  CHECK(refused.err.find("stein error") == refused.err.rfind("stein error"));
  CHECK_FALSE(fs::exists(folder / "run"));
}

TEST_CASE("a mistake is told once, and what one process does is not done by several", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  const auto told_once = [&](const Arguments& arguments, const std::string& sentence) {
    const Outcome refused = run_on(3, folder, arguments);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains(sentence));
    CHECK(refused.err.find("stein error") == refused.err.rfind("stein error"));
  };
  told_once(bandit("run", {"--set", "stepz=1"}), "stepz");
  told_once(bandit("run", {"--polici", "x"}), "--polici");
  told_once({"list"}, "`stein list` is for one process, and 3 were started");
  const Outcome version = run_on(2, folder, {"--version"});
  CHECK(version.code == 0);
  CHECK(version.out.find("stein") == version.out.rfind("stein"));
}

TEST_CASE("ranks say where they run and what messages between them cost", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  const Outcome many = run_on(3, folder, {"ranks", "--json"});
  REQUIRE(many.code == 0);
  const Json found = Json::parse(many.out);
  REQUIRE(found["ranks"].size() == 3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(found["ranks"][rank]["rank"] == rank);
    CHECK(found["ranks"][rank]["rank_on_machine"] == rank);
  }
  REQUIRE(found["messages"].size() == 7);
  CHECK(found["messages"].back()["bytes"] == 1 << 24);
  for (const Json& message : found["messages"]) CHECK(message["seconds"].get<double>() > 0);
  CHECK_THAT(run(folder.path(), {"ranks"}).out, Contains("1 rank on 1 machine") && Contains("mpirun -n N"));
}

TEST_CASE("a run whose steps ranks share says what that costs", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  REQUIRE(run_on(2, folder, control("part", "0:1")).code == 0);
  const Json sharing = Json::parse(content_of(folder / "part/cost.json")).at("sharing");
  CHECK(sharing["work_seconds"].get<double>() > 0);
  CHECK(sharing["exchange_seconds"].get<double>() > 0);
  CHECK(sharing["exchanges"].get<int>() > 0);
  CHECK(sharing["bytes"].get<int>() > 0);
}

TEST_CASE("the script for Slurm begins a run, queues itself again where it was stopped, and goes on",
          "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(2);
  // Stands for Slurm: srun starts the ranks of the job, scontrol keeps what it was asked.
  const auto stand_in = [&](const char* name, const std::string& commands) {
    fs::create_directories(folder / "slurm");
    const fs::path path = write(folder / (std::string("slurm/") + name), "#!/bin/sh\n" + commands + "\n");
    fs::permissions(path, fs::perms::owner_all);
  };
  stand_in("srun",
           R"(while [ "${1#--}" != "$1" ]; do shift; done; exec mpirun --allow-run-as-root --oversubscribe -n 2 "$@")");
  stand_in("scontrol", "echo \"$@\" >> queued");
  const auto submit = [&](const Arguments& more) {
    Arguments all{"PATH=" + (folder / "slurm").string() + ":" + std::getenv("PATH"),
                  "SLURM_CPUS_PER_TASK=1",
                  "SLURM_JOB_ID=7",
                  "OUT=part",
                  "STEIN=" STEIN_PROGRAM,
                  "bash",
                  STEIN_EXAMPLES "/slurm/stein.sbatch"};
    Arguments command = bandit("part");
    command.erase(std::ranges::find(command, "--out"), std::ranges::find(command, "--out") + 2);
    command.erase(std::ranges::find(command, "--threads"), std::ranges::find(command, "--threads") + 2);
    command.erase(std::ranges::find(command, "--quiet"));
    all.insert(all.end(), command.begin(), command.end());
    all.insert(all.end(), more.begin(), more.end());
    return Program(folder.path(), all, {}, env_program).wait();
  };
  REQUIRE(run(folder.path(), bandit("whole")).code == 0);
  const Outcome stopped = submit({"--stop-after", "700"});
  CAPTURE(stopped.err);
  CHECK(stopped.code == 75);
  CHECK(content_of(folder / "queued") == "requeue 7\n");
  CHECK(submit({}).code == 0);
  CHECK(content_of(folder / "queued") == "requeue 7\n");
  check_same_run(folder, "whole", "part");
}

TEST_CASE("a program that was built without MPI refuses to be one of several processes", "[distributed]") {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "lib");
  for (const auto& library : fs::directory_iterator(STEIN_LIBRARIES))
    if (library.path().filename().string().find("libstein_mpi") == std::string::npos)
      fs::create_symlink(library.path(), folder / ("lib/" + library.path().filename().string()));
  const auto start = [&](const std::string& variable) {
    Arguments all{"LD_LIBRARY_PATH=" + (folder / "lib").string(), variable, STEIN_PROGRAM};
    for (const std::string& argument : bandit("run", {"--set", "steps=10"})) all.push_back(argument);
    return Program(folder.path(), all, {}, env_program).wait();
  };
  const Outcome refused = start(GENERATE("OMPI_COMM_WORLD_SIZE=4", "PMI_SIZE=4"));
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("started as one of 4 processes, but it was built without MPI"));
  CHECK_FALSE(fs::exists(folder / "run"));
  CHECK(start("OMPI_COMM_WORLD_SIZE=1").code == 0);
}
