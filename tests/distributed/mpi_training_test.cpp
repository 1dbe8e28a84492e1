// Training of networks under mpirun: ranks beyond the seeds share gradients, and the bytes are those of one process.
#include "distributed/mpi_job.h"

using namespace stein::test;
using Catch::Contains;

namespace {

Arguments stopped_kept_in(const StoppedRun& training, const std::string& out, const Arguments& more = {}) {
  return joined(joined(training.arguments, {"--out", out, "--quiet", "--threads", "1"}), more);
}

/// A language model on a made-up text: state is carried, units are dropped.
StoppedRun stopped_language(const std::string& name, const Arguments& more) {
  StoppedRun made{name,
                  {"lm", "train", "--hidden", "8", "--layers", "2", "--batch-size", "8", "--unroll", "5", "--epochs",
                   "2", "--set", "synthetic_words=6", "synthetic_tokens=5000", "dropout=0.2", "checkpoint_every=2000"},
                  3000};
  made.arguments.insert(made.arguments.end(), more.begin(), more.end());
  return made;
}

const StoppedRun stopped_chain = stopped_language("chain", {"gradient_chunks=4", "--sampler", "sghmc"});
const StoppedRun stopped_particles = stopped_language("particles", {"particles=3", "--sampler", "svgd"});
const StoppedRun stopped_chains = stopped_language("chains", {"chains=3", "--sampler", "sghmc"});
const StoppedRun chunks_of_classifiers{"chain of classifiers",
                                       {"classify", "--data", "two-moons", "--sampler", "sghmc", "--hidden", "10",
                                        "--epochs", "30", "--set", "gradient_chunks=4", "checkpoint_every=500"},
                                       2000};
const StoppedRun particles_of_regressions{
    "particles of regressions",
    {"regress", "--data", "regression-toy", "--sampler", "s2vgd", "--hidden", "10", "--epochs", "40", "--set",
     "particles=4", "gradient_chunks=2", "checkpoint_every=300"},
    700};

/// One process, then a part on `first` ranks and the rest on `then`.
void check_shared(const StoppedRun& training, int first, int then) {
  CAPTURE(training.name, first, then);
  const TemporaryDirectory folder;
  launcher(first);
  const Outcome whole = run(folder.path(), stopped_kept_in(training, "one"));
  CAPTURE(whole.err);
  REQUIRE(whole.code == 0);
  check_goes_on(folder, first, stopped_kept_in(training, "many", {"--stop-after", std::to_string(training.stop_after)}),
                then);
  if (!fs::exists(folder / "one/samples/seed-0")) return;  // no chain
  CHECK((files_of(folder / "one/samples/seed-0") == files_of(folder / "many/samples/seed-0")));
}

}  // namespace

TEST_CASE("trainings of networks are the same bytes on one to four ranks", "[distributed][mpi]") {
  const StoppedRun training =
      GENERATE(stopped_chain, stopped_particles, stopped_chains, chunks_of_classifiers, particles_of_regressions);
  const TemporaryDirectory folder;
  launcher(2);
  REQUIRE(run(folder.path(), stopped_kept_in(training, "one")).code == 0);
  for (const int ranks : {1, 2, 3, 4}) {
    CAPTURE(training.name, ranks);
    const std::string out = "on-" + std::to_string(ranks);
    const Outcome many = run_on(ranks, folder, stopped_kept_in(training, out));
    CAPTURE(many.err);
    REQUIRE(many.code == 0);
    check_same_run(folder, "one", out);
  }
}

TEST_CASE("trainings that were stopped go on with another number of ranks", "[distributed][mpi]") {
  const auto [training, first, then] = GENERATE(table<StoppedRun, int, int>({
      {stopped_chain, 4, 3},
      {stopped_particles, 2, 4},
      {stopped_chains, 2, 3},
      {{"chains of trajectories",
        {"classify", "--data", "two-moons", "--sampler", "nuts", "--hidden", "4", "--epochs", "30", "--set", "chains=2",
         "gradient_chunks=2", "warm_up=10", "checkpoint_every=1"},
        1},
       3,
       2},
      {stopped_language("sharpened", {"gradient_chunks=3", "--sampler", "sharpening"}), 3, 2},
      {chunks_of_classifiers, 3, 1},
      {{"sparse chain",
        {"classify", "--data", "two-moons", "--sampler", "sghmc-sa", "--hidden", "10", "--epochs", "30", "--set",
         "gradient_chunks=2", "checkpoint_every=500"},
        2000},
       2,
       3},
      {particles_of_regressions, 4, 2},
      {{"trajectories",
        {"regress", "--data", "regression-toy", "--sampler", "hmc", "--hidden", "5", "--epochs", "60", "--set",
         "warm_up=20", "gradient_chunks=3", "checkpoint_every=500"},
        1000},
       2,
       3},
  }));
  check_shared(training, first, then);
}

TEST_CASE("seeds, and the ranks that help them, train as one process does", "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(5);
  REQUIRE(run(folder.path(), stopped_kept_in(stopped_chain, "one", {"--seeds", "0:2"})).code == 0);
  const Outcome many = run_on(5, folder, stopped_kept_in(stopped_chain, "many", {"--seeds", "0:2"}));
  CAPTURE(many.err);
  REQUIRE(many.code == 0);
  check_same_run(folder, "one", "many");
}

TEST_CASE("a training that begins with the weights of another run is shared from its first step",
          "[distributed][mpi]") {
  const TemporaryDirectory folder;
  launcher(3);
  const StoppedRun dense{
      "dense", {"classify", "--data", "two-moons", "--sampler", "adam", "--hidden", "10", "--epochs", "3"}, 0};
  REQUIRE(run(folder.path(), stopped_kept_in(dense, "first")).code == 0);
  const StoppedRun chain{"chain",
                         {"classify", "--data", "two-moons", "--sampler", "sghmc", "--hidden", "10", "--epochs", "5",
                          "--set", "gradient_chunks=3", "from_run=first"},
                         0};
  REQUIRE(run(folder.path(), stopped_kept_in(chain, "one")).code == 0);
  const Outcome many = run_on(3, folder, stopped_kept_in(chain, "many"));
  CAPTURE(many.err);
  REQUIRE(many.code == 0);
  check_same_run(folder, "one", "many");
}

TEST_CASE("more chunks than rows, and chunks of what looks at all rows at once, are refused", "[distributed]") {
  const TemporaryDirectory folder;
  const Outcome many = run(folder.path(), {"classify", "--data", "two-moons", "--sampler", "sghmc", "--out", "run",
                                           "--batch-size", "20", "--set", "gradient_chunks=21"});
  CHECK(many.code == 2);
  CHECK_THAT(many.err, Contains("gradient_chunks=21 are more than the 20 rows of a minibatch (batch_size)"));
}
