#include <stein/core/checkpoint.h>
#include <stein/core/error.h>
#include <stein/runs/loaded_run.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/run_kind.h>

namespace stein::runs {

LoadedRun load_run(const RunDirectory& directory, const std::string& data) {
  const nlohmann::ordered_json manifest = read_manifest(directory);
  LoadedRun loaded{.directory = directory, .experiment = recorded_experiment(directory), .run = nullptr};
  loaded.run = loaded.experiment->make_run(data.empty() ? data_folder(manifest) : data);
  loaded.run->check_manifest(manifest);
  const auto checkpoint = load_latest_checkpoint(directory.checkpoints());
  if (!checkpoint) fail(ErrorKind::data, "there is no checkpoint in '{}'", directory.checkpoints().string());
  check_settings(*loaded.experiment, checkpoint->state, directory);
  loaded.run->restore(checkpoint->state);
  return loaded;
}

}  // namespace stein::runs
