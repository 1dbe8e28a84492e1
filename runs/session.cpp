#include <stein/core/atomic_file.h>
#include <stein/core/checkpoint.h>
#include <stein/core/error.h>
#include <stein/core/jsonl_recorder.h>
#include <stein/core/log.h>
#include <stein/core/progress.h>
#include <stein/core/remove_file.h>
#include <stein/core/tensorboard_recorder.h>
#include <stein/core/version.h>
#include <stein/distributed/agree.h>
#include <stein/runs/measured.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/result_checksums.h>
#include <stein/runs/run_cost.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/session.h>

#include <algorithm>
#include <chrono>
#include <functional>
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

/// Everything that a run writes while it goes on. Ranks besides the root write nothing, and take their part in what is
/// collective: making a session, `advance` and saving.
class Session {
 public:
  Session(const Experiment& experiment, Run& run, const RunDirectory& directory,
          std::optional<std::uint64_t> resumed_at, const SessionOptions& options)
      : experiment_(experiment),
        run_(run),
        directory_(directory),
        stop_(options.stop),
        ranks_(*options.ranks),
        progress_(make_progress(options.quiet || !ranks_.is_root())) {
    run.spread_over(ranks_);
    distributed::agree(ranks_, [&] {
      if (ranks_.is_root()) open_logs(resumed_at);
      for (const std::int64_t i : run.own()) run.open_files(directory, i);
    });
  }

  /// To the end of the experiment, or to `stop_after` steps, or until asked to stop; returns whether the end is
  /// reached.
  bool advance(std::int64_t stop_after) {
    const std::int64_t end = stop_after > 0 ? stop_after : never;
    begin_progress();
    if (run_.steps_done() == 0) save();
    while (!done() && run_.steps_done() < end && !ranks_.any(stop_.stop_requested())) {
      const std::int64_t every = experiment_.checkpoint_every();
      const std::int64_t next = (run_.steps_done() / every + 1) * every;
      const std::int64_t until = std::min({end, next, experiment_.steps() > 0 ? experiment_.steps() : never});
      const Clock::time_point before = saved_at_;
      explain_divergence([&] { run_.advance(until, stop_, outputs_); });
      save();
      interval_ = saved_at_ - before;
    }
    progress_->finish();
    if (done() && ranks_.size() > 1) conclude();
    assemble();
    if (run_.ended() && run_.steps_done() < experiment_.steps())
      log_info("it ended by itself after {} of {} {}", run_.steps_done(), experiment_.steps(),
               steps_per_seed(experiment_));
    return done();
  }

  /// The result; nothing if asked to stop before it was there. The root makes it alone, out of what all found.
  std::optional<Json> finish() {
    if (stopped_at_end_) return std::nullopt;
    Json summary;
    bool keeps = false;
    const std::function<void()> keep = [&] {
      keeps = true;
      if (Clock::now() - saved_at_ >= interval_) save();
    };
    explain_divergence([&] { summary = run_.summarize({stop_, *progress_, keep}); });
    progress_->finish();
    // Asked to stop with all that is done, else without what only led to the summary: a checkpoint from which a run
    // goes on at its end may have some of that too.
    if (keeps || !saved_here_) save();
    if (stop_.stop_requested()) return std::nullopt;
    run_.record_rest(outputs_);
    run_.write_results(directory_);
    recorder_.flush();
    return add_facts(summary);
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  void open_logs(std::optional<std::uint64_t> resumed_at) {
    auto metrics = std::make_unique<JsonlRecorder>(directory_.metrics());
    metrics_ = metrics.get();
    recorder_.add(std::move(metrics));
    recorder_.add(std::make_unique<TensorBoardRecorder>(directory_.events(), resumed_at));
    run_.open_logs(directory_);
    earlier_cost_ = read_run_cost(directory_.cost());
    add_cost(earlier_cost_.counts);
    for (const Json& counts : earlier_cost_.counts_beside) add_cost(counts);
  }

  void add_cost(const Json& counts) {
    try {
      run_.add_cost(counts);
    } catch (const nlohmann::json::exception&) {  // no cost, or a damaged one: it is no reason to stop a run
    }
  }

  /// Whoever is asked to stop stops all, with what each has found.
  void conclude() {
    explain_divergence([&] { run_.conclude({stop_, *progress_}); });
    progress_->finish();
    stopped_at_end_ = ranks_.any(stop_.stop_requested());
    if (stopped_at_end_) save();
  }

  /// From here on the root works alone.
  void assemble() {
    const RunCost spent = cost();
    const std::vector<std::int64_t> arrived = run_.assemble();
    distributed::agree(ranks_, [&] {
      for (const std::int64_t i : arrived) run_.open_files(directory_, i);
    });
    earlier_cost_.peak_memory_mb = spent.peak_memory_mb;
    for (const Json& counts : spent.counts_beside) add_cost(counts);
    assembled_ = true;
  }

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
      summary["validation"].update({{"best_score", measured(best_score)}, {"best_step", measured(best_step)}});
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

  /// Does `work`; where it finds that the run diverged, on one rank and so on all, the run's folder says so too.
  void explain_divergence(const auto& work) {
    const std::int64_t before = run_.steps_done();
    try {
      work();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numeric) throw;
      if (assembled_) fail_diverged(error, before);
      distributed::agree(ranks_, [&] {
        if (ranks_.is_root()) fail_diverged(error, before);
      });
    }
  }

  [[noreturn]] void fail_diverged(const Error& error, std::int64_t before) const {
    write_file_atomically(directory_.divergence(), fmt::format("{}\n", error.what()));
    fail(ErrorKind::numeric, "{}; the last finite state, after {} {}, is saved in '{}'", error.what(), before,
         steps_per_seed(experiment_), directory_.checkpoints().string());
  }

  /// Logs first: a checkpoint must never point behind the end of a file.
  void save() {
    Snapshot state;
    run_.save(state);
    const RunCost spent = cost();
    const auto write = [&] {
      if (!ranks_.is_root()) return;
      recorder_.flush();
      state.put("metrics_bytes", metrics_->sync());
      state.put("planned_steps", experiment_.steps());
      save_settings(experiment_, state);
      save_checkpoint(directory_.checkpoints(), static_cast<std::uint64_t>(run_.steps_done()), state);
      write_run_cost(directory_.cost(), spent);
    };
    assembled_ ? write() : distributed::agree(ranks_, write);
    saved_at_ = Clock::now();
    saved_here_ = true;
  }

  /// Of this process and of those before it, and on the root of those beside it.
  RunCost cost() const {
    RunCost spent{
        .wall_seconds = earlier_cost_.wall_seconds + std::chrono::duration<double>(Clock::now() - start_).count(),
        .peak_memory_mb = std::max(earlier_cost_.peak_memory_mb, peak_memory_megabytes()),
        .counts = run_.own().empty() ? Json::object() : run_.cost(),
        .sharing = run_.sharing()};
    if (assembled_ || ranks_.size() == 1) return spent;
    const Json own{{"peak_memory_mb", spent.peak_memory_mb}, {"counts", spent.counts}};
    const std::vector<std::string> all = ranks_.gather(own.dump());
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      const Json other = Json::parse(all[rank]);
      spent.peak_memory_mb = std::max(spent.peak_memory_mb, other["peak_memory_mb"].get<double>());
      spent.counts_beside.push_back(other["counts"]);
    }
    return spent;
  }

  const Experiment& experiment_;
  Run& run_;
  const RunDirectory& directory_;
  StopToken stop_;
  distributed::Communicator& ranks_;
  bool stopped_at_end_ = false;  ///< any rank, behind the last step and before there was a result
  bool saved_here_ = false;      ///< a checkpoint in this process
  bool assembled_ = false;       ///< the root has all repetitions, and nothing is collective any more
  RunCost earlier_cost_;
  Clock::time_point start_ = Clock::now(), saved_at_ = start_;
  Clock::duration interval_ = std::chrono::seconds(10);  ///< between two checkpoints
  RecorderGroup recorder_;
  JsonlRecorder* metrics_ = nullptr;
  std::unique_ptr<Progress> progress_;
  Outputs outputs_{recorder_, *progress_, experiment_.steps() == 0};
};

/// A run that is made longer has no result until it ends again. What it logs while it goes on stays.
void remove_results(const Experiment& experiment, const RunDirectory& directory) {
  std::vector<fs::path> results{directory.summary(), directory.divergence(), directory.file(checksums_file)};
  for (const std::string& file : experiment.kind().result_files) results.push_back(directory.file(file));
  for (const fs::path& path : results) remove_file(path);
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

/// Makes the result of a run that has reached its end; says why there is none otherwise.
void finish(const Experiment& experiment, Run& run, const RunDirectory& directory, Session& session, bool reached_end,
            SessionResult& result) {
  const std::vector<std::string> warnings = run.warnings();
  for (const std::string& warning : warnings) log_warning("{}", warning);
  std::optional<Json> summary = reached_end ? session.finish() : std::nullopt;
  if (!summary) {
    const std::string all = length_of(experiment), root = directory.root().string();
    if (reached_end)
      log_info("stopped before the result was there, after {}; `stein resume {}` makes it", all, root);
    else
      log_info("stopped after {} of {}; continue with `stein resume {}`", run.steps_done(), all, root);
    return;
  }
  for (const std::string& warning : run.warnings())  // of the result too
    if (std::ranges::find(warnings, warning) == warnings.end()) log_warning("{}", warning);
  (*summary)["commits"] = commits_of(read_manifest(directory));
  (*summary)["run_directory"] = directory.root().string();
  write_result_checksums(directory, experiment.kind().result_files);
  directory.write_summary(summary->dump(2) + "\n");  // last: whatever has a summary is finished
  result.finished = true;
  result.summary = std::move(*summary);
}

}  // namespace

SessionResult go_on(const Experiment& experiment, Run& run, const RunDirectory& directory,
                    std::optional<std::uint64_t> resumed_at, const SessionOptions& options) {
  distributed::Communicator& ranks = *options.ranks;
  announce(experiment, run, directory);
  distributed::agree(ranks, [&] {
    if (ranks.is_root() && !experiment.reached(run.steps_done())) remove_results(experiment, directory);
  });
  Session session(experiment, run, directory, resumed_at, options);
  const bool reached_end = session.advance(options.stop_after);
  SessionResult result{.finished = false, .summary = {}, .directory = directory.root()};
  distributed::agree(ranks, [&] {
    if (ranks.is_root()) finish(experiment, run, directory, session, reached_end, result);
  });
  result.finished = ranks.any(result.finished);
  return result;
}

}  // namespace stein::runs
