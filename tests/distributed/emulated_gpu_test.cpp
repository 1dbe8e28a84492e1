// The program on GPUs of the tests (tests/emulated_gpu), each of four ranks with one of its own: what drivers and NCCL
// are asked for is asked for here too.
#include "distributed/mpi_job.h"

using namespace stein::test;
using Catch::Contains;

namespace {

Outcome run_there(const TemporaryDirectory& folder, const Arguments& arguments, int ranks = 0) {
  if (!fs::exists(STEIN_EMULATED_GPU "/libstein_cuda.so")) skip("built without CUDA");
  Arguments all{"LD_LIBRARY_PATH=" STEIN_EMULATED_GPU};
  all = joined(all, ranks == 0 ? Arguments{STEIN_PROGRAM} : launcher(ranks));
  return Program(folder.path(), joined(joined(all, arguments), {"--quiet", "--threads", "1"}), {}, env_program).wait();
}

const Arguments shared_particles{"classify", "--data",   "two-moons",   "--sampler",        "svgd", "--hidden",
                                 "6",        "--epochs", "3",           "--seeds",          "0:1",  "--device",
                                 "cuda",     "--set",    "particles=5", "synthetic_rows=80"},
    shared_chunks{"regress", "--data", "regression-toy", "--sampler", "sghmc", "--hidden",         "6", "--epochs", "5",
                  "--seeds", "0:1",    "--device",       "cuda",      "--set", "gradient_chunks=4"},
    shared_agent{"rl",
                 "--env",
                 "CartPole-v1",
                 "--agent",
                 "a2c",
                 "--posterior",
                 "svgd",
                 "--seeds",
                 "0:1",
                 "--device",
                 "cuda",
                 "--set",
                 "hidden=4",
                 "particles=4",
                 "steps=384",
                 "steps_per_slot=16",
                 "final_episodes=2"};

}  // namespace

TEST_CASE("ranks that share a network on GPUs of their own have the bytes of one process on one",
          "[distributed][mpi][emulated-gpu]") {
  const auto [name, arguments] = GENERATE(table<std::string, Arguments>(
      {{"particles", shared_particles}, {"chunks", shared_chunks}, {"agent", shared_agent}}));
  CAPTURE(name);
  const TemporaryDirectory folder;
  const Outcome one = run_there(folder, joined(arguments, {"--out", "one"}));
  CAPTURE(one.err);
  REQUIRE(one.code == 0);
  for (const int ranks : {2, 4}) {
    const std::string out = std::to_string(ranks);
    const Outcome many = run_there(folder, joined(arguments, {"--out", out}), ranks);
    CAPTURE(ranks, many.err);
    REQUIRE(many.code == 0);
    check_same_run(folder, "one", out);
  }
}

TEST_CASE("a run that was stopped on a GPU goes on on the processor, and the other way round",
          "[distributed][emulated-gpu]") {
  const auto [from, to] = GENERATE(table<std::string, std::string>({{"cpu", "cuda:3"}, {"cuda:1", "cpu"}}));
  const TemporaryDirectory folder;
  const Arguments bandit{"bandit",
                         "--env",
                         "mushroom-synthetic",
                         "--policy",
                         "s2vgd",
                         "--seeds",
                         "0:1",
                         "--device",
                         from,
                         "--out",
                         "part",
                         "--stop-after",
                         "40",
                         "--set",
                         "steps=60",
                         "particles=2",
                         "hidden=4",
                         "updates=1",
                         "checkpoint_every=20"};
  const Outcome stopped = run_there(folder, bandit);
  CAPTURE(stopped.err);
  REQUIRE(stopped.code == 75);
  const Outcome done = run_there(folder, {"resume", "part", "--device", to});
  CAPTURE(done.err);
  REQUIRE(done.code == 0);
  CHECK(Json::parse(content_of(folder / "part/summary.json"))["regret"]["per_seed"].size() == 1);
}

TEST_CASE("a GPU that is not there is refused with how many there are", "[distributed][emulated-gpu]") {
  const TemporaryDirectory folder;
  const Outcome refused =
      run_there(folder, {"bandit", "--env", "mushroom-synthetic", "--policy", "svgd", "--device", "cuda:4"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("4"));
}
