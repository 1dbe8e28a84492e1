// Every kind of run that computes on a device: begun and stopped on one, it goes on on the other. The device of the
// tests is the fenced one, which ends a step that reaches around it with a signal.
#include <stein/core/safetensors.h>

#include <cmath>

#include "distributed/mpi_job.h"

using namespace stein::test;

namespace {

const StoppedRun bandit_elsewhere{"bandit",
                                  {"bandit", "--env", "mushroom-synthetic", "--policy", "s2vgd", "--seeds", "0:1",
                                   "--set", "steps=120", "particles=3", "hidden=8", "updates=2", "checkpoint_every=50"},
                                  70},
    agent_elsewhere{
        "agent",
        {"rl", "--env", "CartPole-v1", "--agent", "a2c", "--posterior", "svgd", "--seeds", "0:1", "--set", "hidden=8",
         "particles=3", "steps=3000", "evaluate_every=2000", "final_episodes=4", "checkpoint_every=1000"},
        1500},
    language_elsewhere{
        "language",
        {"lm", "train", "--layers", "1", "--batch-size", "8", "--unroll", "5", "--hidden", "8", "--epochs", "2",
         "--sampler", "sghmc", "--set", "synthetic_words=6", "synthetic_tokens=1500", "checkpoint_every=600"},
        1000},
    caption_elsewhere{
        "caption",
        {"caption", "train", "--sampler", "svgd", "--seeds", "0:1", "--set", "particles=3", "hidden=8", "epochs=1",
         "draws=2", "beam_width=1", "max_length=4", "validations_per_epoch=1", "checkpoint_every=10000"},
        15000},
    classifier_elsewhere{"classifier",
                         {"classify", "--data", "two-moons", "--hidden", "8", "--epochs", "20", "--sampler", "sghmc",
                          "--set", "checkpoint_every=500"},
                         1200},
    regression_elsewhere{"regression",
                         {"regress", "--data", "regression-toy", "--hidden", "8", "--epochs", "40", "--sampler", "svgd",
                          "--set", "particles=4", "checkpoint_every=300"},
                         700},
    replay_elsewhere{
        "replay",
        {"replay", "--log", "news.gz", "--policy", "svgd", "--set", "particles=3", "hidden=8", "checkpoint_every=300"},
        700};

Outcome play_on_devices(const TemporaryDirectory& folder, const Arguments& arguments) {
  return Program(folder.path(), joined(arguments, {"--quiet", "--threads", "1"}), {}, STEIN_PROGRAM_WITH_FENCED_DEVICE)
      .wait();
}

/// How far apart the weights are that two runs end with: the largest ‖a − b‖ ÷ ‖b‖ over what is kept as rows of
/// particles.
double weights_apart(const fs::path& a, const fs::path& b) {
  const auto end_of = [](const fs::path& run) {
    return read_safetensors(run / ("checkpoints/checkpoint-" + std::to_string(last_checkpoint(run)) + ".safetensors"));
  };
  const Snapshot found = end_of(a), expected = end_of(b);
  double worst = -1;
  for (const auto& [name, array] : expected.arrays()) {
    if (!name.ends_with("particles/values") || name.find("rollback") != std::string::npos) continue;
    const auto here = found.get_vector<float>(name), there = expected.get_vector<float>(name);
    REQUIRE(here.size() == there.size());
    double difference = 0, length = 0;
    for (std::size_t q = 0; q < there.size(); ++q) {
      difference += std::pow(static_cast<double>(here[q]) - static_cast<double>(there[q]), 2);
      length += std::pow(static_cast<double>(there[q]), 2);
    }
    worst = std::max(worst, std::sqrt(difference / length));
  }
  REQUIRE(worst >= 0);
  return worst;
}

void check_goes_on_elsewhere(const StoppedRun& run_of) {
  const auto [from, to] = GENERATE(table<std::string, std::string>({{"cpu", "fenced"}, {"fenced", "cpu"}}));
  CAPTURE(run_of.name, from, to);
  const TemporaryDirectory folder;
  if (run_of.name == "replay") make_log(folder, 1500);
  const Outcome whole = play_on_devices(folder, joined(run_of.arguments, {"--out", "whole", "--device", to}));
  CAPTURE(whole.err);
  REQUIRE(whole.code == 0);
  const Outcome stopped = play_on_devices(
      folder,
      joined(run_of.arguments, {"--out", "part", "--device", from, "--stop-after", std::to_string(run_of.stop_after)}));
  CAPTURE(stopped.err);
  REQUIRE(stopped.code == 75);
  REQUIRE(last_checkpoint(folder / "part") < last_checkpoint(folder / "whole"));
  const Outcome done = play_on_devices(folder, {"resume", "part", "--device", to});
  CAPTURE(done.err);
  REQUIRE(done.code == 0);
  CHECK(last_checkpoint(folder / "part") == last_checkpoint(folder / "whole"));
  CHECK(weights_apart(folder / "part", folder / "whole") <
        1e-3);  // what rounding makes of steps that are otherwise alike
  const Json summary = Json::parse(content_of(folder / "part/summary.json"));
  CHECK(summary["kind"] == Json::parse(content_of(folder / "whole/summary.json"))["kind"]);
}

}  // namespace

TEST_CASE("bandits, agents, tables and logs that were stopped on one device go on on the other",
          "[distributed][device]") {
  check_goes_on_elsewhere(
      GENERATE(bandit_elsewhere, agent_elsewhere, classifier_elsewhere, regression_elsewhere, replay_elsewhere));
}

TEST_CASE("language models and captions that were stopped on one device go on on the other",
          "[distributed][torch][device]") {
  check_goes_on_elsewhere(GENERATE(language_elsewhere, caption_elsewhere));
}
