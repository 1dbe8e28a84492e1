#include "bandit_session.h"

#include <stein/agents/decision_log.h>
#include <stein/core/atomic_file.h>
#include <stein/core/checkpoint.h>
#include <stein/core/data/manifest.h>
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

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "bandit_summary.h"
#include "run_cost.h"

namespace stein::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// What a checkpoint holds besides the agents' state.
constexpr const char* settings_text = "settings";

/// The resolved options that a resumed run must find unchanged: all but its length, as TOML.
std::string fixed_settings(const BanditExperiment& experiment) {
  std::istringstream lines(to_toml(experiment.options()));
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("steps = ")) kept += line + "\n";
  return kept;
}

/// " per seed", or nothing where there is one only.
const char* per_seed(const agents::BanditRun& run) {
  return run.agent_count() > 1 ? " per seed" : "";
}

/// Everything that a run writes while it goes on.
class Session {
 public:
  Session(const BanditExperiment& experiment, agents::BanditRun& run, const RunDirectory& directory,
          std::optional<std::uint64_t> resumed_at)
      : experiment_(experiment), run_(run), directory_(directory), earlier_cost_(read_run_cost(directory.cost())) {
    auto metrics = std::make_unique<JsonlRecorder>(directory.metrics());
    metrics_ = metrics.get();
    recorder_.add(std::move(metrics));
    recorder_.add(std::make_unique<TensorBoardRecorder>(directory.events(), resumed_at));
    if (experiment.log_decisions()) decisions_ = std::make_unique<agents::DecisionLog>(directory.decisions());
  }

  /// To the end of the experiment, or to `stop_after` interactions, or until a signal; returns whether it is finished.
  bool advance(std::int64_t stop_after, bool quiet) {
    StopToken stop;
    install_signal_handlers(stop);
    const std::int64_t end = stop_after > 0 ? std::min(stop_after, experiment_.steps()) : experiment_.steps();
    const auto agent_count = static_cast<std::uint64_t>(run_.agent_count());
    const std::unique_ptr<Progress> progress = make_progress(quiet);
    progress->begin(fmt::format("{}/{}", experiment_.environment(), experiment_.policy()),
                    agent_count == 1 ? "interactions" : fmt::format("interactions of {} seeds", agent_count),
                    agent_count * static_cast<std::uint64_t>(experiment_.steps()),
                    agent_count * static_cast<std::uint64_t>(run_.steps_done()));
    const agents::BanditRun::Outputs outputs{recorder_, *progress, decisions_.get()};
    if (run_.steps_done() == 0) save();
    while (run_.steps_done() < end && !stop.stop_requested()) {
      const std::int64_t every = experiment_.checkpoint_every();
      const std::int64_t next = (run_.steps_done() / every + 1) * every;
      advance_or_explain(std::min(end, next), stop, outputs);
      save();
    }
    progress->finish();
    return run_.steps_done() == experiment_.steps();
  }

  /// Of this process and of those before it.
  RunCost cost() const {
    RunCost sum = earlier_cost_;
    sum += {.wall_seconds = std::chrono::duration<double>(Clock::now() - start_).count(),
            .peak_memory_mb = peak_memory_megabytes(),
            .timing = run_.result().timing};
    return sum;
  }

 private:
  void advance_or_explain(std::int64_t until, const StopToken& stop, const agents::BanditRun::Outputs& outputs) {
    const std::int64_t before = run_.steps_done();
    try {
      run_.advance(until, stop, outputs);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numeric) throw;
      write_file_atomically(directory_.divergence(), fmt::format("{}\n", error.what()));
      fail(ErrorKind::numeric, "{}; the last finite state, after {} interactions{}, is saved in '{}'", error.what(),
           before, per_seed(run_), directory_.checkpoints().string());
    }
  }

  /// Logs first: a checkpoint must never point behind the end of a file.
  void save() {
    Snapshot state;
    recorder_.flush();
    state.put("metrics_bytes", metrics_->sync());
    state.put("decisions_bytes", decisions_ ? decisions_->sync() : std::uint64_t{0});
    state.put_text(settings_text, fixed_settings(experiment_));
    run_.save(state);
    save_checkpoint(directory_.checkpoints(), static_cast<std::uint64_t>(run_.steps_done()), state);
    write_run_cost(directory_.cost(), cost());
  }

  const BanditExperiment& experiment_;
  agents::BanditRun& run_;
  const RunDirectory& directory_;
  RunCost earlier_cost_;
  Clock::time_point start_ = Clock::now();
  RecorderGroup recorder_;
  JsonlRecorder* metrics_ = nullptr;
  std::unique_ptr<agents::DecisionLog> decisions_;
};

/// A new runs/<env>-<policy>-<number>; made, so that a run started at the same moment takes the next number.
fs::path claim_directory(const BanditExperiment& experiment) {
  std::error_code error;
  fs::create_directories("runs", error);
  for (int number = 1; !error; ++number) {
    const fs::path path =
        fs::path("runs") / fmt::format("{}-{}-{}", experiment.environment(), experiment.policy(), number);
    if (fs::create_directory(path, error)) return path;
  }
  fail(ErrorKind::io, "cannot make a directory in 'runs': {}; choose a place with --out", error.message());
}

std::map<std::string, std::string> data_checksums(const envs::BanditSpec& spec) {
  std::map<std::string, std::string> sums;
  if (spec.data != "real") return sums;
  for (const DataSet& set : data_sets()) {
    if (set.name != spec.name) continue;
    for (const DataFile& file : set.files) sums[file.name] = file.sha256;
  }
  return sums;
}

/// N: what the posterior is conditioned on.
std::string data_size(const BanditExperiment& experiment, const agents::BanditRun& run) {
  if (!experiment.learns()) return "none: the policy does not learn";
  if (!run.policy().learns_from_minibatches()) return "all interactions so far";
  return fmt::format("interactions in the window, at most {}", experiment.agent_options().buffer);
}

std::string manifest_text(const BanditExperiment& experiment, const agents::BanditRun& run,
                          const std::string& data_folder) {
  const Json protocol{
      {"env", experiment.environment()}, {"env_options", experiment.environment_options()},
      {"policy", experiment.policy()},   {"data", run.spec().data},
      {"source", run.spec().source},     {"data_folder", data_folder},
      {"N", data_size(experiment, run)}, {"T", experiment.learns() ? Json(1) : Json(nullptr)},
  };
  return to_json(RunManifest{.command = "bandit",
                             .first_seed = experiment.seeds().first,
                             .end_seed = experiment.seeds().end,
                             .threads = thread_count(),
                             .data_checksums = data_checksums(run.spec()),
                             .protocol = protocol.dump()});
}

void write_posteriors(agents::BanditRun& run, const RunDirectory& directory) {
  Json entries = Json::array();
  for (const auto& [seed, probe, expected, samples] : run.probed_posteriors())
    entries.push_back({{"seed", seed}, {"probe", probe}, {"expected_rewards", expected}, {"samples", samples}});
  if (!entries.empty()) write_file_atomically(directory.posteriors(), entries.dump() + "\n");
}

/// A run that is made longer has no result until it ends again.
void remove_results(const RunDirectory& directory) {
  for (const fs::path& path : {directory.summary(), directory.posteriors(), directory.divergence()}) {
    std::error_code error;
    fs::remove(path, error);
    if (error) fail(ErrorKind::io, "cannot remove '{}': {}", path.string(), error.message());
  }
}

void announce(const BanditExperiment& experiment, const agents::BanditRun& run, const RunDirectory& directory) {
  log_info("{}/{}: {} interactions{}, seeds {}:{}, {} data ({}), in '{}'", experiment.environment(),
           experiment.policy(), experiment.steps(), per_seed(run), experiment.seeds().first, experiment.seeds().end,
           run.spec().data, run.spec().source, directory.root().string());
  if (experiment.environment().ends_with("-synthetic"))
    log_info("'{}' is a synthetic stand-in, not the real data set", experiment.environment());
}

void print(const Json& summary, const RunDirectory& directory, const CommonOptions& common) {
  std::fputs(common.json ? (summary.dump(2) + "\n").c_str() : readable(summary).c_str(), stdout);
  if (!common.json) std::fputs(fmt::format("  {:<22}{}\n", "kept in", directory.root().string()).c_str(), stdout);
}

/// The commits of all programs that worked on the run, the first one's first.
std::vector<std::string> commits_of(const Json& manifest) {
  std::vector<std::string> commits{manifest.value("commit", "unknown")};
  for (const std::string& later : manifest.value("later_commits", std::vector<std::string>())) commits.push_back(later);
  return commits;
}

int go_on(const BanditExperiment& experiment, agents::BanditRun& run, const RunDirectory& directory,
          std::optional<std::uint64_t> resumed_at, std::int64_t stop_after, const CommonOptions& common) {
  announce(experiment, run, directory);
  if (run.steps_done() < experiment.steps()) remove_results(directory);
  Session session(experiment, run, directory, resumed_at);
  const bool finished = session.advance(stop_after, common.quiet);
  for (const std::string& warning : run.result().warnings) log_warning("{}", warning);
  if (!finished) {
    log_info("stopped after {} of {} interactions{}; continue with `stein resume {}`", run.steps_done(),
             experiment.steps(), per_seed(run), directory.root().string());
    return interrupted;
  }
  write_posteriors(run, directory);
  Json summary = summarize(run, experiment.environment(), experiment.policy(), session.cost());
  summary["commits"] = commits_of(Json::parse(read_file(directory.manifest())));
  summary["run_directory"] = directory.root().string();
  directory.write_summary(summary.dump(2) + "\n");  // last: whatever has a summary is finished
  print(summary, directory, common);
  return 0;
}

/// The summary of a run that has ended after `steps` interactions; nothing if there is none.
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

/// Throws Error(usage) naming the first option that is no longer what it was when `state` was saved.
void check_settings(const BanditExperiment& experiment, const Snapshot& state, const RunDirectory& directory) {
  std::istringstream before(state.get_text(settings_text)), now(fixed_settings(experiment));
  std::string line_before, line_now;
  while (true) {
    const bool more_before = static_cast<bool>(std::getline(before, line_before));
    const bool more_now = static_cast<bool>(std::getline(now, line_now));
    if (!more_before && !more_now) return;
    STEIN_CHECK(more_before && more_now && line_before == line_now,
                "'{}' was changed since the run began: it had `{}` and now has `{}`; a resumed run may change its "
                "steps and nothing else, start another with `stein bandit --config`",
                directory.config().string(), more_before ? line_before : "", more_now ? line_now : "");
  }
}

/// Without a checkpoint a run begins again, and only one that did nothing yet may. Throws Error(data).
void check_not_begun(const RunDirectory& directory) {
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(directory.metrics(), none);
  if ((none || bytes == 0) && read_run_cost(directory.cost()).timing.decisions == 0) return;
  fail(ErrorKind::data,
       "the run in '{0}' has done interactions, but there is no checkpoint in '{1}': it cannot go on; "
       "`stein bandit --config '{2}' --out DIRECTORY` begins it again elsewhere",
       directory.root().string(), directory.checkpoints().string(), directory.config().string());
}

void warn_of_divergence(const RunDirectory& directory) {
  std::error_code ignored;
  if (!fs::exists(directory.divergence(), ignored)) return;
  std::string reason = read_file(directory.divergence());
  while (reason.ends_with('\n')) reason.pop_back();
  log_warning("the run in '{}' diverged and will again, as it repeats the same interactions: {}",
              directory.root().string(), reason);
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

int start_bandit_run(const BanditExperiment& experiment, const fs::path& out, Existing existing,
                     const RunOptions& run_options, const CommonOptions& common) {
  const auto run = experiment.make_run({.directory = run_options.data});
  const RunDirectory directory = RunDirectory::create(out.empty() ? claim_directory(experiment) : out, existing);
  directory.write_config(to_toml(experiment.options()));
  const fs::path data = run_options.data.empty() ? fs::path() : fs::absolute(run_options.data);
  directory.write_manifest(manifest_text(experiment, *run, data.string()));
  open_log_file(directory.log());
  return go_on(experiment, *run, directory, std::nullopt, run_options.stop_after, common);
}

int resume_bandit_run(const RunDirectory& directory, const std::vector<std::pair<std::string, std::string>>& settings,
                      const RunOptions& run_options, const CommonOptions& common) {
  check_resumable(settings);
  const BanditExperiment experiment(
      {.toml = read_file(directory.config()), .toml_name = directory.config().string(), .settings = settings});
  const Json manifest = Json::parse(read_file(directory.manifest()), nullptr, false);
  if (!manifest.is_object() || manifest.value("command", "") != "bandit")
    fail(ErrorKind::data, "'{}' is not the manifest of a bandit run", directory.manifest().string());
  if (const auto summary = result_after(experiment.steps(), directory)) {
    log_info("the run in '{}' is finished", directory.root().string());
    print(*summary, directory, common);
    return 0;
  }
  const std::string data_folder =
      run_options.data.empty() ? manifest["protocol"].value("data_folder", "") : run_options.data;
  const auto run = experiment.make_run({.directory = data_folder});

  std::uint64_t metrics_bytes = 0, decisions_bytes = 0;
  if (const auto checkpoint = load_latest_checkpoint(directory.checkpoints())) {
    check_settings(experiment, checkpoint->state, directory);
    run->restore(checkpoint->state);
    metrics_bytes = checkpoint->state.get_scalar<std::uint64_t>("metrics_bytes");
    decisions_bytes = checkpoint->state.get_scalar<std::uint64_t>("decisions_bytes");
  } else {
    check_not_begun(directory);
  }
  const std::int64_t done = run->steps_done();
  STEIN_CHECK(done <= experiment.steps(), "the run in '{}' has already done {} interactions, steps = {} asks for fewer",
              directory.root().string(), done, experiment.steps());
  truncate_file(directory.metrics(), metrics_bytes);
  truncate_file(directory.decisions(), decisions_bytes);
  open_log_file(directory.log());
  if (manifest.value("simd_target", "") != simd_target())
    log_warning("the run began on {} and goes on with {}: the last bits of its numbers may differ",
                manifest.value("simd_target", "an unknown SIMD target"), simd_target());
  note_commit(manifest, directory);
  warn_of_divergence(directory);
  directory.write_config(to_toml(experiment.options()));
  const std::uint64_t next_record = static_cast<std::uint64_t>(done) + 1;  // metrics are numbered by interactions done
  return go_on(experiment, *run, directory, next_record, run_options.stop_after, common);
}

}  // namespace stein::cli
