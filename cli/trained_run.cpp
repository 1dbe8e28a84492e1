#include "trained_run.h"

#include <stein/core/checkpoint.h>
#include <stein/core/error.h>
#include <stein/core/read_file.h>

#include "recorded_control_run.h"
#include "run_session.h"

namespace stein::cli {

const agents::ControlAgent& TrainedRun::agent(std::uint64_t seed) const {
  const SeedRange seeds = experiment->seeds();
  STEIN_CHECK(seed >= seeds.first && seed < seeds.end, "the run has seeds {}:{}, there is no seed {} in it",
              seeds.first, seeds.end, seed);
  return run->agent(static_cast<std::int64_t>(seed - seeds.first));
}

TrainedRun load_trained_run(const RunDirectory& directory) {
  const nlohmann::ordered_json manifest = read_manifest(directory);
  const std::string command = manifest.value("command", "");
  if (command != "rl")
    fail(ErrorKind::data, "'{}' holds a run of `stein {}`: only runs of `stein rl` have policies to play",
         directory.root().string(), command);
  TrainedRun trained;
  trained.experiment = std::make_unique<ControlExperiment>(
      OptionSources{.toml = read_file(directory.config()), .toml_name = directory.config().string(), .settings = {}});
  trained.run = trained.experiment->make_control_run();
  check_environment_version(manifest, trained.run->spec());
  const auto checkpoint = load_latest_checkpoint(directory.checkpoints());
  if (!checkpoint) fail(ErrorKind::data, "there is no checkpoint in '{}'", directory.checkpoints().string());
  check_settings(*trained.experiment, checkpoint->state, directory);
  trained.run->restore(checkpoint->state);
  return trained;
}

}  // namespace stein::cli
