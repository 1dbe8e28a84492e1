#include <stein/core/checkpoint.h>
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/runs/json_file.h>
#include <stein/runs/measured.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/saved_run.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

namespace stein::runs {

namespace {

/// Throws Error(data) if the run is finished and the checkpoint is of fewer steps: the later ones are lost. Says how
/// far a run is that is not finished.
void check_step(const RunDirectory& directory, const RunKind& kind, std::uint64_t step) {
  if (!std::filesystem::exists(directory.summary()))
    return log_warning("the run in '{}' is not finished: this is what it had learned after {} {}",
                       directory.root().string(), step, kind.unit);
  const double done = steps_of(read_json_object(directory.summary().string()));
  if (static_cast<double>(step) < done)
    fail(ErrorKind::data,
         "the run in '{0}' was finished after {1:.0f} {2}, but its newest checkpoint that can be read is of {3}: later "
         "ones are missing or damaged, and `stein resume {0}` makes them again",
         directory.root().string(), done, kind.unit, step);
}

}  // namespace

double steps_of(const nlohmann::ordered_json& summary) {
  const auto done = summary.find("steps_done");
  if (done == summary.end()) return mean_of(summary.value("steps", nlohmann::ordered_json(0)));
  const std::vector<double> each = done->at("per_seed").get<std::vector<double>>();
  return *std::ranges::min_element(each);
}

SavedRun read_saved_run(const RunDirectory& directory) {
  auto checkpoint = load_latest_checkpoint(directory.checkpoints());
  if (!checkpoint) fail(ErrorKind::data, "there is no checkpoint in '{}'", directory.checkpoints().string());
  SavedRun saved{.directory = directory,
                 .manifest = read_manifest(directory),
                 .experiment = recorded_experiment(directory),
                 .state = std::move(checkpoint->state)};
  check_settings(*saved.experiment, saved.state, directory);
  check_step(directory, saved.experiment->kind(), checkpoint->step);
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
