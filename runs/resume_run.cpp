#include <stein/core/append_file.h>
#include <stein/core/checkpoint.h>
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/core/read_file.h>
#include <stein/core/simd_target.h>
#include <stein/core/version.h>
#include <stein/distributed/agree.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/resume_run.h>
#include <stein/runs/run_cost.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/same_on_all_ranks.h>
#include <stein/runs/saved_run.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace stein::runs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The summary of a run that has ended after `steps` steps; nothing if there is none.
std::optional<Json> result_after(std::int64_t steps, const RunDirectory& directory) {
  std::error_code ignored;
  if (!fs::exists(directory.summary(), ignored)) return std::nullopt;
  Json summary = Json::parse(read_file(directory.summary()), nullptr, false);  // a damaged one is written again
  if (!summary.is_object() || !summary.contains("steps") || summary["steps"] != steps) return std::nullopt;
  return summary;
}

bool lengthens(const Settings& settings) {
  return std::ranges::any_of(settings, [](const auto& setting) { return setting.first == "steps"; });
}

/// The settings that a run goes on with: what it may not change would make it another run. The processor as device is
/// none where the kind has no such option. Throws Error(usage).
Settings checked_settings(const RunDirectory& directory, Settings settings) {
  const std::unique_ptr<Experiment> experiment = recorded_experiment(directory);
  const RunKind& kind = experiment->kind();
  for (const auto& [key, value] : settings) {
    STEIN_CHECK(experiment->may_change(key), "a resumed run may change its steps{} and nothing else, got '{}={}'",
                kind.with_length.empty() ? "" : fmt::format(", with them {}", fmt::join(kind.with_length, ", ")), key,
                value);
    STEIN_CHECK(key == "device" || lengthens(settings), "{} changes where a run is made longer: expected steps too",
                key);
  }
  const auto device = std::ranges::find(settings, "device", &Settings::value_type::first);
  if (device == settings.end()) return settings;
  if (experiment->options().contains("device")) return settings;
  STEIN_CHECK(device->second == "cpu", "a run of `stein {}` is on the processor alone, got device={}", kind.subcommand,
              device->second);
  settings.erase(device);
  return settings;
}

/// How long the run was to be when `state` was saved; before that was kept, what its file says.
std::int64_t planned_steps(const Snapshot& state, const RunDirectory& directory) {
  return state.contains("planned_steps") ? state.get_scalar<std::int64_t>("planned_steps")
                                         : recorded_experiment(directory)->steps();
}

/// Without a checkpoint a run begins again, and only one that did nothing yet may. Throws Error(data).
void check_not_begun(const Experiment& experiment, const RunDirectory& directory) {
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(directory.metrics(), none);
  if ((none || bytes == 0) && !read_run_cost(directory.cost()).has_counts()) return;
  fail(ErrorKind::data,
       "the run in '{0}' has done {3}, but there is no checkpoint in '{1}': it cannot go on; "
       "`stein {4} --config '{2}' --out DIRECTORY` begins it again elsewhere",
       directory.root().string(), directory.checkpoints().string(), directory.config().string(), experiment.kind().unit,
       experiment.kind().subcommand);
}

void warn_of_divergence(const Experiment& experiment, const RunDirectory& directory) {
  std::error_code ignored;
  if (!fs::exists(directory.divergence(), ignored)) return;
  std::string reason = read_file(directory.divergence());
  while (reason.ends_with('\n')) reason.pop_back();
  log_warning("the run in '{}' diverged and will again, as it repeats the same {}: {}", directory.root().string(),
              experiment.kind().unit, reason);
}

/// A run that was planned to be longer may have gone beyond `steps`: its state is none of a shorter run.
/// Throws Error(usage).
void check_not_beyond(const Experiment& experiment, const Run& run, std::int64_t planned,
                      const RunDirectory& directory) {
  const std::int64_t steps = experiment.steps();
  if (steps == 0 || (planned > 0 && steps >= planned)) return;
  for (std::int64_t i = 0; i < run.count(); ++i)
    STEIN_CHECK(run.repetition(i).steps_done() <= steps,
                "the run in '{}' has already done {} {}, steps = {} asks for fewer", directory.root().string(),
                run.repetition(i).steps_done(), experiment.kind().unit, steps);
}

/// Warns if another build goes on with the run. @returns whether that is new to the manifest
bool note_commit(Json& manifest) {
  const std::vector<std::string> commits = commits_of(manifest);
  if (commits.back() == commit()) return false;
  log_warning("the run began with commit {} and goes on with {}: its numbers may differ from those of either",
              commits.front(), commit());
  manifest["later_commits"].push_back(commit());
  return true;
}

/// The same of another device than the last one.
bool note_device(const Experiment& experiment, std::int64_t steps, Json& manifest) {
  if (!experiment.options().contains("device")) return false;
  const std::string device = experiment.options().get("device"), last = last_device(manifest);
  if (device == last) return false;
  log_warning("the run goes on on {} where it was on {}: the last bits of its numbers may differ", device, last);
  manifest["later_devices"].push_back({{"device", device}, {"steps", steps}});
  return true;
}

/// What is there of a run: its result, or the run as its newest checkpoint has it.
struct Found {
  std::optional<Json> summary{};
  Json manifest{};
  std::unique_ptr<Experiment> experiment{};
  std::unique_ptr<Run> run{};
  std::uint64_t metrics_bytes = 0;  ///< length of the metrics at the checkpoint
};

/// Reads the run in `directory` and changes nothing there. Throws as resume_run.
Found find_run(const RunDirectory& directory, const Settings& asked, const SessionOptions& options) {
  const Settings settings = checked_settings(directory, asked);
  Found found{.manifest = read_manifest(directory), .experiment = recorded_experiment(directory, settings)};
  const Experiment& experiment = *found.experiment;
  const auto checkpoint = load_latest_checkpoint(directory.checkpoints());
  if (checkpoint) check_settings(experiment, checkpoint->state, directory);
  if (auto summary = result_after(experiment.steps(), directory)) {
    if (!checkpoint || static_cast<double>(checkpoint->step) >= steps_of(*summary)) {
      log_info("the run in '{}' is finished", directory.root().string());
      found.summary = std::move(*summary);
      return found;
    }
    log_warning(
        "the run in '{}' was finished, but later checkpoints than that of {} {} are missing or damaged: what "
        "was lost is made again",
        directory.root().string(), checkpoint->step, experiment.kind().unit);
  }
  found.run = experiment.make_run(options.data.empty() ? data_folder(found.manifest) : options.data);
  found.run->check_manifest(found.manifest);
  if (!checkpoint) {
    check_not_begun(experiment, directory);
    return found;
  }
  found.run->restore(checkpoint->state);
  check_not_beyond(experiment, *found.run, planned_steps(checkpoint->state, directory), directory);
  STEIN_CHECK(!lengthens(settings) || !found.run->ended(),
              "the run in '{}' ended by itself after {} {}: it cannot be made longer, a longer one is a new run",
              directory.root().string(), found.run->steps_done(), experiment.kind().unit);
  found.metrics_bytes = checkpoint->state.get_scalar<std::uint64_t>("metrics_bytes");
  return found;
}

/// Brings what the directory holds to the state of the checkpoint, and notes who goes on with it.
void take_up(Found& found, const RunDirectory& directory) {
  truncate_file(directory.metrics(), found.metrics_bytes);
  open_log_file(directory.log());
  if (found.manifest.value("simd_target", "") != simd_target())
    log_warning("the run began on {} and goes on with {}: the last bits of its numbers may differ",
                found.manifest.value("simd_target", "an unknown SIMD target"), simd_target());
  const bool by_another = note_commit(found.manifest);
  const bool elsewhere = note_device(*found.experiment, found.run->steps_done(), found.manifest);
  if (by_another || elsewhere) directory.write_manifest(found.manifest.dump(2) + "\n");
  warn_of_divergence(*found.experiment, directory);
  directory.write_config(to_toml(found.experiment->options()));
}

}  // namespace

SessionResult resume_run(const RunDirectory& directory,
                         const std::vector<std::pair<std::string, std::string>>& settings,
                         const SessionOptions& options) {
  distributed::Communicator& ranks = *options.ranks;
  Found found;
  distributed::agree(ranks, [&] { found = find_run(directory, settings, options); });
  if (found.summary) return {.finished = true, .summary = std::move(*found.summary), .directory = directory.root()};
  check_same_on_all(ranks, *found.experiment, *found.run, options.stop_after);
  distributed::agree(ranks, [&] {
    if (ranks.is_root()) take_up(found, directory);
  });
  return go_on(*found.experiment, *found.run, directory, static_cast<std::uint64_t>(found.run->steps_done()) + 1,
               options);
}

}  // namespace stein::runs
