#include <stein/core/atomic_file.h>
#include <stein/core/checkpoint.h>
#include <stein/core/error.h>
#include <stein/core/jsonl_recorder.h>
#include <stein/core/log.h>
#include <stein/core/parallel.h>
#include <stein/core/progress.h>
#include <stein/core/read_file.h>
#include <stein/core/run_manifest.h>
#include <stein/core/signals.h>
#include <stein/core/simd_target.h>
#include <stein/core/tensorboard_recorder.h>
#include <stein/core/version.h>
#include <stein/runs/measured.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/run_cost.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/session.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

namespace stein::runs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// "interactions per seed", without the seed where there is one only.
std::string steps_per_seed(const Experiment& experiment) {
  return fmt::format("{}{}", experiment.kind().unit, experiment.seeds().count() > 1 ? " per seed" : "");
}

/// Everything that a run writes while it goes on.
class Session {
 public:
  Session(const Experiment& experiment, Run& run, const RunDirectory& directory,
          std::optional<std::uint64_t> resumed_at, bool quiet)
      : experiment_(experiment),
        run_(run),
        directory_(directory),
        earlier_cost_(read_run_cost(directory.cost())),
        progress_(make_progress(quiet)) {
    auto metrics = std::make_unique<JsonlRecorder>(directory.metrics());
    metrics_ = metrics.get();
    recorder_.add(std::move(metrics));
    recorder_.add(std::make_unique<TensorBoardRecorder>(directory.events(), resumed_at));
    run.open_logs(directory);
    try {
      run.add_cost(earlier_cost_.counts);
    } catch (const nlohmann::json::exception&) {  // no cost, or a damaged one: it is no reason to stop a run
    }
  }

  /// To the end of the experiment, or to `stop_after` steps, or until a signal; returns whether it is finished.
  bool advance(std::int64_t stop_after) {
    StopToken stop;
    install_signal_handlers(stop);
    const std::int64_t end = stop_after > 0 ? stop_after : never;
    begin_progress();
    if (run_.steps_done() == 0) save();
    while (!done() && run_.steps_done() < end && !stop.stop_requested()) {
      const std::int64_t every = experiment_.checkpoint_every();
      const std::int64_t next = (run_.steps_done() / every + 1) * every;
      advance_or_explain(std::min({end, next, experiment_.steps() > 0 ? experiment_.steps() : never}), stop);
      save();
    }
    progress_->finish();
    return done();
  }

  Json finish() {
    run_.record_rest(outputs_);
    const Json summary = run_.summarize();
    run_.write_results(directory_);
    recorder_.flush();
    return add_facts(summary);
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  bool done() const { return experiment_.reached(run_.steps_done()) || run_.ended(); }

  void begin_progress() {
    const auto seeds = static_cast<std::uint64_t>(experiment_.seeds().count());
    const std::string& unit = experiment_.kind().unit;
    progress_->begin(experiment_.name(), seeds == 1 ? unit : fmt::format("{} of {} seeds", unit, seeds),
                     seeds * static_cast<std::uint64_t>(experiment_.steps()),
                     seeds * static_cast<std::uint64_t>(run_.steps_done()));
  }

  /// Steps of repetitions that ended by themselves, and what validation found.
  void add_ends(Json& summary) const {
    std::vector<double> steps, best_score, best_step;
    bool any_ended = false;
    for (std::int64_t i = 0; i < run_.count(); ++i) {
      const Repetition& repetition = run_.repetition(i);
      any_ended |= repetition.ended();
      steps.push_back(static_cast<double>(repetition.steps_done()));
      const Validation* const validation = repetition.validation();
      if (validation == nullptr || !validation->best()) continue;
      best_score.push_back(validation->best()->score);
      best_step.push_back(static_cast<double>(validation->best()->step));
    }
    if (any_ended) summary["steps_done"] = measured(steps);
    if (std::ssize(best_score) == run_.count())
      summary["validation"] = {{"best_score", measured(best_score)}, {"best_step", measured(best_step)}};
  }

  /// What every summary has, around what the kind has put into it.
  Json add_facts(const Json& own) const {
    Json seeds = Json::array();
    for (std::int64_t i = 0; i < run_.count(); ++i) seeds.push_back(run_.repetition(i).seed());
    const RunCost spent = cost();
    Json summary{{"name", experiment_.name()}, {"kind", experiment_.kind().name}};
    summary.update(own);
    summary["steps"] = experiment_.steps();
    add_ends(summary);
    summary["seeds"] = seeds;
    summary["peak_memory_mb"] = spent.peak_memory_mb;
    summary["wall_seconds"] = spent.wall_seconds;
    summary["warnings"] = run_.warnings();
    if (!experiment_.preset().empty()) summary["preset"] = experiment_.preset();
    summary["version"] = version();
    summary["commit"] = commit();
    return summary;
  }

  void advance_or_explain(std::int64_t until, const StopToken& stop) {
    const std::int64_t before = run_.steps_done();
    try {
      run_.advance(until, stop, outputs_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numeric) throw;
      write_file_atomically(directory_.divergence(), fmt::format("{}\n", error.what()));
      fail(ErrorKind::numeric, "{}; the last finite state, after {} {}, is saved in '{}'", error.what(), before,
           steps_per_seed(experiment_), directory_.checkpoints().string());
    }
  }

  /// Logs first: a checkpoint must never point behind the end of a file.
  void save() {
    Snapshot state;
    recorder_.flush();
    state.put("metrics_bytes", metrics_->sync());
    save_settings(experiment_, state);
    run_.save(state);
    save_checkpoint(directory_.checkpoints(), static_cast<std::uint64_t>(run_.steps_done()), state);
    write_run_cost(directory_.cost(), cost());
  }

  /// Of this process and of those before it.
  RunCost cost() const {
    return {.wall_seconds = earlier_cost_.wall_seconds + std::chrono::duration<double>(Clock::now() - start_).count(),
            .peak_memory_mb = std::max(earlier_cost_.peak_memory_mb, peak_memory_megabytes()),
            .counts = run_.cost()};
  }

  const Experiment& experiment_;
  Run& run_;
  const RunDirectory& directory_;
  RunCost earlier_cost_;
  Clock::time_point start_ = Clock::now();
  RecorderGroup recorder_;
  JsonlRecorder* metrics_ = nullptr;
  std::unique_ptr<Progress> progress_;
  Outputs outputs_{recorder_, *progress_};
};

/// A new runs/<name>-<number>; made, so that a run started at the same moment takes the next number.
fs::path claim_directory(const Experiment& experiment) {
  std::string name = experiment.name();
  std::ranges::replace(name, '/', '-');
  std::error_code error;
  fs::create_directories("runs", error);
  for (int number = 1; !error; ++number) {
    const fs::path path = fs::path("runs") / fmt::format("{}-{}", name, number);
    if (fs::create_directory(path, error)) return path;
  }
  fail(ErrorKind::io, "cannot make a directory in 'runs': {}; choose a place with --out", error.message());
}

/// A run that is made longer has no result until it ends again. What it logs while it goes on stays.
void remove_results(const Experiment& experiment, const RunDirectory& directory) {
  std::vector<fs::path> results{directory.summary(), directory.divergence()};
  for (const std::string& file : experiment.kind().result_files) results.push_back(directory.file(file));
  for (const fs::path& path : results) {
    std::error_code error;
    fs::remove(path, error);
    if (error) fail(ErrorKind::io, "cannot remove '{}': {}", path.string(), error.message());
  }
}

std::string length_of(const Experiment& experiment) {
  return experiment.steps() > 0 ? fmt::format("{} {}", experiment.steps(), steps_per_seed(experiment))
                                : fmt::format("all {}", steps_per_seed(experiment));
}

void announce(const Experiment& experiment, const Run& run, const RunDirectory& directory) {
  log_info("{}: {}, seeds {}:{}, {}, in '{}'", experiment.name(), length_of(experiment), experiment.seeds().first,
           experiment.seeds().end, run.source(), directory.root().string());
  for (const std::string& notice : run.notices()) log_info("{}", notice);
}

/// The commits of all programs that worked on the run, the first one's first.
std::vector<std::string> commits_of(const Json& manifest) {
  std::vector<std::string> commits{manifest.value("commit", "unknown")};
  for (const std::string& later : manifest.value("later_commits", std::vector<std::string>())) commits.push_back(later);
  return commits;
}

SessionResult go_on(const Experiment& experiment, Run& run, const RunDirectory& directory,
                    std::optional<std::uint64_t> resumed_at, const SessionOptions& options) {
  announce(experiment, run, directory);
  if (!experiment.reached(run.steps_done())) remove_results(experiment, directory);
  Session session(experiment, run, directory, resumed_at, options.quiet);
  const bool finished = session.advance(options.stop_after);
  for (const std::string& warning : run.warnings()) log_warning("{}", warning);
  if (!finished) {
    log_info("stopped after {} of {}; continue with `stein resume {}`", run.steps_done(), length_of(experiment),
             directory.root().string());
    return {.finished = false, .summary = {}, .directory = directory.root()};
  }
  Json summary = session.finish();
  summary["commits"] = commits_of(read_manifest(directory));
  summary["run_directory"] = directory.root().string();
  directory.write_summary(summary.dump(2) + "\n");  // last: whatever has a summary is finished
  return {.finished = true, .summary = std::move(summary), .directory = directory.root()};
}

RunManifest manifest_of(const Experiment& experiment, const Run& run, const std::string& data) {
  Json protocol = run.protocol();
  if (experiment.kind().reads_data) protocol["data_folder"] = data.empty() ? "" : fs::absolute(data).string();
  return {.command = experiment.kind().subcommand,
          .kind = experiment.kind().name,
          .first_seed = experiment.seeds().first,
          .end_seed = experiment.seeds().end,
          .threads = thread_count(),
          .data_checksums = run.data_checksums(),
          .preset = experiment.preset(),
          .result_files = experiment.kind().files(),
          .protocol = protocol.dump()};
}

/// The summary of a run that has ended after `steps` steps; nothing if there is none.
std::optional<Json> result_after(std::int64_t steps, const RunDirectory& directory) {
  std::error_code ignored;
  if (!fs::exists(directory.summary(), ignored)) return std::nullopt;
  Json summary = Json::parse(read_file(directory.summary()), nullptr, false);
  if (!summary.is_object() || summary.value("steps", std::int64_t{-1}) != steps) return std::nullopt;
  return summary;
}

/// What a run may not change when it is resumed would make it another run.
void check_resumable(const std::vector<std::pair<std::string, std::string>>& settings) {
  for (const auto& [key, value] : settings)
    STEIN_CHECK(key == "steps", "a resumed run may change its steps and nothing else, got '{}={}'", key, value);
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

/// Warns if another build goes on with the run, and notes it in the manifest.
void note_commit(Json manifest, const RunDirectory& directory) {
  const std::vector<std::string> commits = commits_of(manifest);
  if (commits.back() == commit()) return;
  log_warning("the run began with commit {} and goes on with {}: its numbers may differ from those of either",
              commits.front(), commit());
  manifest["later_commits"].push_back(commit());
  directory.write_manifest(manifest.dump(2) + "\n");
}

}  // namespace

SessionResult start_run(const Experiment& experiment, const fs::path& out, Existing existing,
                        const SessionOptions& options) {
  const auto run = experiment.make_run(options.data);
  const RunDirectory directory =
      RunDirectory::create(out.empty() ? claim_directory(experiment) : out, existing, all_files());
  directory.write_config(to_toml(experiment.options()));
  directory.write_manifest(to_json(manifest_of(experiment, *run, options.data)));
  open_log_file(directory.log());
  return go_on(experiment, *run, directory, std::nullopt, options);
}

SessionResult resume_run(const RunDirectory& directory,
                         const std::vector<std::pair<std::string, std::string>>& settings,
                         const SessionOptions& options) {
  check_resumable(settings);
  const Json manifest = read_manifest(directory);
  const std::unique_ptr<Experiment> made = recorded_experiment(directory, settings);
  const Experiment& experiment = *made;
  if (auto summary = result_after(experiment.steps(), directory)) {
    log_info("the run in '{}' is finished", directory.root().string());
    return {.finished = true, .summary = std::move(*summary), .directory = directory.root()};
  }
  const auto run = experiment.make_run(options.data.empty() ? data_folder(manifest) : options.data);
  run->check_manifest(manifest);

  std::uint64_t metrics_bytes = 0;
  if (const auto checkpoint = load_latest_checkpoint(directory.checkpoints())) {
    check_settings(experiment, checkpoint->state, directory);
    run->restore(checkpoint->state);
    metrics_bytes = checkpoint->state.get_scalar<std::uint64_t>("metrics_bytes");
  } else {
    check_not_begun(experiment, directory);
  }
  STEIN_CHECK(experiment.steps() == 0 || run->steps_done() < experiment.steps() + run->largest_advance(),
              "the run in '{}' has already done {} {}, steps = {} asks for fewer", directory.root().string(),
              run->steps_done(), experiment.kind().unit, experiment.steps());
  truncate_file(directory.metrics(), metrics_bytes);
  open_log_file(directory.log());
  if (manifest.value("simd_target", "") != simd_target())
    log_warning("the run began on {} and goes on with {}: the last bits of its numbers may differ",
                manifest.value("simd_target", "an unknown SIMD target"), simd_target());
  note_commit(manifest, directory);
  warn_of_divergence(experiment, directory);
  directory.write_config(to_toml(experiment.options()));
  return go_on(experiment, *run, directory, static_cast<std::uint64_t>(run->steps_done()) + 1, options);
}

}  // namespace stein::runs
