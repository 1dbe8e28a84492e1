// Trainings on tables and images that are killed: whenever that is, they go on to the same bytes.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "cli/program.h"

using namespace stein::test;

namespace {

struct Training {
  std::string name;
  std::vector<std::string> arguments;  ///< without where it is kept
};

std::vector<std::string> kept_in(const Training& training, const std::string& out) {
  std::vector<std::string> arguments = training.arguments;
  arguments.insert(arguments.end(), {"--out", out, "--quiet"});
  return arguments;
}

/// Starts it, kills it after some milliseconds and goes on with it until it is done; a run that left nothing yet is
/// started again.
void carry_out_with_kills(const TemporaryDirectory& folder, const Training& training, int first_moment) {
  const auto go_on = [&] {
    const bool begun = std::filesystem::exists(folder / "part/manifest.json");
    return begun ? std::vector<std::string>{"resume", "part", "--quiet"} : kept_in(training, "part");
  };
  for (const int moment : {first_moment, 2 * first_moment, 3 * first_moment}) {
    Program program(folder.path(), go_on());
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(moment);
    if (!program.wait_until([&] { return std::chrono::steady_clock::now() > end; })) continue;
    program.send(SIGKILL);
    program.wait();
  }
  const Outcome done = run(folder.path(), go_on());
  CAPTURE(done.err);
  REQUIRE(done.code == 0);
}

void check_killed(const TemporaryDirectory& folder, const Training& training, int moment) {
  REQUIRE(run(folder.path(), kept_in(training, "whole")).code == 0);
  carry_out_with_kills(folder, training, moment);
  for (const std::string file : {"metrics.jsonl", "curves.json", "predictions.json"})
    CHECK(content_of(folder / ("part/" + file)) == content_of(folder / ("whole/" + file)));
  CHECK(files_of(folder / "part/checkpoints") == files_of(folder / "whole/checkpoints"));
}

}  // namespace

TEST_CASE("trainings on tables and images that are killed at any moment end in the same bytes",
          "[cli][resume][supervised]") {
  const auto training = GENERATE(
      Training{"chain",
               {"regress", "--data", "regression-toy", "--sampler", "psgld", "--seeds", "0:2", "--epochs", "300",
                "--set", "checkpoint_every=500"}},
      Training{"trajectories",
               {"regress", "--data", "regression-toy", "--sampler", "nuts", "--seeds", "0:2", "--hidden", "10",
                "--epochs", "200", "--set", "warm_up=100", "max_depth=5", "checkpoint_every=100"}},
      Training{"particles",
               {"classify", "--data", "digits-synthetic", "--sampler", "s2vgd", "--seeds", "0:2", "--hidden", "20",
                "--epochs", "12", "--set", "synthetic_images=600", "validation_images=60", "rotation=10",
                "checkpoint_every=300"}},
      Training{"structured ensemble",
               {"regress", "--data", "regression-toy", "--sampler", "s2vgd", "--seeds", "0:2", "--hidden", "10",
                "--epochs", "60", "--set", "particles=4", "learn_weight_precision=true", "checkpoint_every=300"}},
      Training{
          "masked inputs",
          {"classify", "--data", "ages-synthetic", "--sampler", "dropout-sghmc", "--seeds", "0:2", "--hidden", "none",
           "--epochs", "20", "--set", "synthetic_rows=600", "normalisation=minibatch", "checkpoint_every=500"}},
      Training{"sparse",
               {"classify", "--data", "two-moons", "--sampler", "sghmc-sa", "--seeds", "0:2", "--hidden", "20",
                "--epochs", "200", "--set", "pruning.final_share=0.5", "checkpoint_every=1000"}});
  const int moment = GENERATE(15, 60, 150);
  CAPTURE(training.name, moment);
  const TemporaryDirectory folder;
  check_killed(folder, training, moment);
}

TEST_CASE("a convolutional network and its compression that are killed end in the same bytes",
          "[cli][resume][supervised][torch]") {
  const std::vector<std::string> dense{"classify",
                                       "--data",
                                       "digits-synthetic",
                                       "--sampler",
                                       "adam",
                                       "--epochs",
                                       "3",
                                       "--seeds",
                                       "0:1",
                                       "--set",
                                       "network=conv-2-fc-2",
                                       "synthetic_images=300",
                                       "validation_images=30",
                                       "rotation=10",
                                       "checkpoint_every=100"};
  const TemporaryDirectory folder;
  constexpr int moment = 900;  // beyond the time in which LibTorch is loaded
  check_killed(folder, {"dense", dense}, moment);
  std::filesystem::rename(folder / "whole", folder / "dense");
  std::filesystem::remove_all(folder / "part");
  check_killed(
      folder,
      {"compressed", {"compress", "dense", "--target", "0.5", "--epochs", "3", "--set", "checkpoint_every=100"}},
      moment);
}
