// Training of networks on devices under mpirun. Each rank has its fenced device, which ends a step that reaches around
// it with a signal; numbers go by way of the hosts, and the bytes are those of one process on its device.
#include "distributed/mpi_job.h"

using namespace stein::test;
using Catch::Contains;

namespace {

const char* const program = STEIN_PROGRAM_WITH_FENCED_DEVICE;

/// A training without where it is kept, and on which device.
using Training = Arguments;

Arguments kept_in(const Training& training, const std::string& out, const Arguments& more = {},
                  const std::string& device = "fenced") {
  return joined(joined(training, {"--device", device, "--out", out, "--quiet", "--threads", "1"}), more);
}

/// A small training of a subcommand ("lm train"), with settings behind.
Training small(const Arguments& subcommand, const std::string& epochs, const std::string& sampler,
               const Arguments& settings) {
  return joined(joined(subcommand, {"--hidden", "8", "--epochs", epochs, "--sampler", sampler, "--set"}), settings);
}

/// A language model on a made-up text, by LibTorch: state is carried, units are dropped.
Training language(const std::string& sampler, const std::string& setting) {
  return small({"lm", "train", "--layers", "1", "--batch-size", "8", "--unroll", "5"}, "2", sampler,
               {"synthetic_words=6", "synthetic_tokens=1500", "dropout=0.2", "checkpoint_every=600", setting});
}
Training classifier(const std::string& sampler, const std::string& setting) {
  return small({"classify", "--data", "two-moons"}, "20", sampler, {"checkpoint_every=500", setting});
}
Training regression(const std::string& sampler, const Arguments& settings) {
  return small({"regress", "--data", "regression-toy"}, "40", sampler, settings);
}

/// An agent whose policies, value networks and rollouts are on the device.
Training agent(const std::string& task, const std::string& name, const std::string& posterior,
               const Arguments& settings) {
  return joined({"rl", "--env", task, "--agent", name, "--posterior", posterior, "--seeds", "0:1", "--set", "hidden=8",
                 "evaluate_every=2000", "final_episodes=4", "checkpoint_every=1000"},
                settings);
}

// Chunks of a chain, and particles.
const Training chain_of_language = language("sghmc", "gradient_chunks=4"),
               particles_of_language = language("svgd", "particles=3"),
               chain_of_classifiers = classifier("sghmc", "gradient_chunks=4"),
               particles_of_classifiers = classifier("svgd", "particles=5"),
               chain_of_regressions = regression("sgld", {"checkpoint_every=300", "gradient_chunks=3"}),
               particles_of_regressions =
                   regression("svgd", {"checkpoint_every=300", "particles=4", "gradient_chunks=2"});
const Training particles_of_agents = agent("CartPole-v1", "a2c", "svgd", {"particles=4", "steps=2000"}),
               slots_of_agents = agent("Pendulum-v1", "ppo", "none", {"slots=128", "steps=8192"}),
               structured_agents = agent("CartPole-v1", "reinforce", "s2vgd", {"particles=3", "steps=3000"});

/// The run of one process in the folder "one", and of so many ranks each.
void check_same_on(const Training& training, const std::vector<int>& sizes) {
  const TemporaryDirectory folder;
  launcher(2);
  const Outcome whole = Program(folder.path(), kept_in(training, "one"), {}, program).wait();
  CAPTURE(whole.err);
  REQUIRE(whole.code == 0);
  for (const int ranks : sizes) {
    CAPTURE(ranks);
    const std::string out = "on-" + std::to_string(ranks);
    const Outcome many = run_on(ranks, folder, kept_in(training, out), program);
    CAPTURE(many.err);
    REQUIRE(many.code == 0);
    check_same_run(folder, "one", out);
    const Json sharing = Json::parse(content_of(folder / out / "cost.json"))["sharing"];
    CHECK((ranks > 1) == (sharing.is_object() && sharing["bytes"] > 0));
  }
}

}  // namespace

TEST_CASE("language models on devices are the same bytes on one to four ranks", "[distributed][mpi][torch][device]") {
  check_same_on(GENERATE(chain_of_language, particles_of_language), {1, 2, 3, 4});
}

TEST_CASE("classifiers on devices are the same bytes on one to four ranks", "[distributed][mpi][device]") {
  check_same_on(GENERATE(chain_of_classifiers, particles_of_classifiers), {1, 2, 3, 4});
}

TEST_CASE("regressions on devices are the same bytes on one to four ranks", "[distributed][mpi][device]") {
  check_same_on(GENERATE(chain_of_regressions, particles_of_regressions), {1, 2, 3, 4});
}

TEST_CASE("agents on devices are the same bytes on one to four ranks", "[distributed][mpi][device]") {
  const auto [training, sizes] = GENERATE(table<Training, std::vector<int>>(
      {{particles_of_agents, {1, 2, 3, 4}}, {slots_of_agents, {2}}, {structured_agents, {3}}}));
  check_same_on(training, sizes);
}

TEST_CASE("captions whose gradients ranks share on devices are the same bytes", "[distributed][mpi][torch][device]") {
  check_same_on({"caption", "train", "--sampler", "svgd", "--seeds", "0:1", "--set", "particles=3", "hidden=8",
                 "epochs=1", "draws=2", "beam_width=1", "max_length=4", "validations_per_epoch=1"},
                {3});
}

TEST_CASE("a device without room ends a run, of one process or of ranks, and says what was asked for",
          "[distributed][mpi][device]") {
  const TemporaryDirectory folder;
  const int ranks = GENERATE(1, 2);
  const Arguments start = joined({"STEIN_FENCED_ROOM=4000"}, launcher(ranks, program)),
                  all = joined(start, kept_in(particles_of_classifiers, "run"));
  const Outcome refused = Program(folder.path(), all, {}, env_program).wait();
  CAPTURE(refused.err);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, Contains("device fenced has no room for") && Contains("of 3.9 KiB are free") &&
                              Contains("less is taken by smaller minibatches (batch_size)"));
  CHECK(refused.err.find("has no room") == refused.err.rfind("has no room"));
}

TEST_CASE("trainings on devices that were stopped go on with another number of ranks", "[distributed][mpi][device]") {
  const auto [training, first, then] =
      GENERATE(table<Training, int, int>({{chain_of_classifiers, 4, 3}, {particles_of_classifiers, 2, 1}}));
  const TemporaryDirectory folder;
  launcher(first);
  REQUIRE(Program(folder.path(), kept_in(training, "one"), {}, program).wait().code == 0);
  check_goes_on(folder, first, kept_in(training, "many", {"--stop-after", "1200"}), then, program);
}

TEST_CASE("a training on devices that diverges ends all ranks with the sentence of one process",
          "[distributed][mpi][device][numeric]") {
  const TemporaryDirectory folder;
  launcher(3);
  const Arguments steps{"--set", "step_size=1e30"};
  const Outcome alone = Program(folder.path(), kept_in(chain_of_classifiers, "one", steps), {}, program).wait();
  REQUIRE(alone.code == 4);
  const Outcome job = run_on(3, folder, kept_in(chain_of_classifiers, "many", steps), program);
  CAPTURE(alone.err, job.err);
  CHECK(job.code == 4);
  CHECK(job.err.find("stein error") == job.err.rfind("stein error"));
  CHECK(content_of(folder / "many/diverged.txt") == content_of(folder / "one/diverged.txt"));
}

TEST_CASE("ranks on other devices than the root are refused", "[distributed][mpi][device]") {
  const TemporaryDirectory folder;
  Arguments all = launcher(1, program);
  for (const std::string& argument : kept_in(chain_of_classifiers, "run")) all.push_back(argument);
  all.insert(all.end(), {":", "-n", "1", program});
  for (const std::string& argument : kept_in(chain_of_classifiers, "run", {}, "cpu")) all.push_back(argument);
  const Outcome refused = Program(folder.path(), all, {}, env_program).wait();
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("all ranks of a run need the same options, data and program, but rank 1 has option "
                                   "device 'cpu', and rank 0 'fenced'"));
  CHECK_FALSE(fs::exists(folder / "run"));
}

TEST_CASE("more chunks than rows are refused on devices too, once", "[distributed][mpi][device]") {
  const TemporaryDirectory folder;
  const Outcome job = run_on(2, folder, kept_in(chain_of_classifiers, "run", {"--batch-size", "3"}), program);
  CHECK(job.code == 2);
  CHECK_THAT(job.err, Contains("gradient_chunks=4 are more than the 3 rows of a minibatch (batch_size)"));
  CHECK(job.err.find("stein error") == job.err.rfind("stein error"));
}
