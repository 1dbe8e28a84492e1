#include <stein/core/checkpoint.h>
#include <stein/core/error.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/saved_run.h>

#include <utility>

namespace stein::runs {

SavedRun read_saved_run(const RunDirectory& directory) {
  auto checkpoint = load_latest_checkpoint(directory.checkpoints());
  if (!checkpoint) fail(ErrorKind::data, "there is no checkpoint in '{}'", directory.checkpoints().string());
  SavedRun saved{.directory = directory,
                 .manifest = read_manifest(directory),
                 .experiment = recorded_experiment(directory),
                 .state = std::move(checkpoint->state)};
  check_settings(*saved.experiment, saved.state, directory);
  return saved;
}

Snapshot SavedRun::repetition(std::uint64_t seed) const {
  return state.part(part_of_seed(seed));
}

std::unique_ptr<Run> SavedRun::make_run(const std::string& data) const {
  std::unique_ptr<Run> run = experiment->make_run(data.empty() ? data_folder(manifest) : data);
  run->check_manifest(manifest);
  run->restore(state);
  return run;
}

}  // namespace stein::runs
