// Runs that differ in a few options: a directory each, one table and one report over all.
#pragma once

#include <stein/core/file_lock.h>
#include <stein/core/run_directory.h>
#include <stein/runs/session.h>
#include <stein/runs/sweep_axis.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stein::runs {

/// The runs of a sweep, in a directory of their own: `sweep.json` says which, each is a run directory named after its
/// settings. A sweep that was interrupted is taken up where it stopped: finished runs stay, begun ones are resumed.
/// Whoever works on it holds it locked as long as the object lives, besides the run that goes on.
class Sweep {
 public:
  /// Every combination of the values of `axes`, each with `sources` besides; nothing is written yet. The sources may
  /// name an option that only some of the experiments have. @param directory  empty: see claim_directory
  /// Throws Error(usage) if one of the experiments makes no sense, before any has begun.
  static Sweep plan(const std::string& subcommand, const OptionSources& sources, const std::vector<SweepAxis>& axes,
                    std::filesystem::path directory);
  /// The sweep in `directory`. Throws Error(data) if there is none, or if its file cannot be understood; Error(usage)
  /// if it is to be written and another process is at work on it.
  static Sweep open(const std::filesystem::path& directory, Access access = Access::read);
  /// Whether there is a sweep in `directory`.
  static bool is_in(const std::filesystem::path& directory);

  /// Makes every run that is still to begin, without a step, so that what one would refuse is known before another has
  /// taken hours: a policy that cannot play the bandit, data that are missing. Nothing is written.
  /// @param existing  overwrite: those in the directory begin anew
  /// @throws Error as the run would when it begins, with its name in front
  void check(const SessionOptions& options, Existing existing) const;
  /// Takes a new folder named after all that was planned: "runs/wheel-svgd+lints-1".
  void claim_directory();
  const std::filesystem::path& directory() const { return directory_; }
  std::size_t size() const { return runs_.size(); }
  const std::vector<SweepAxis>& axes() const { return axes_; }
  /// Directories of the runs.
  std::vector<std::filesystem::path> runs() const;
  /// Where its report lies.
  std::filesystem::path page() const { return directory_ / "report.html"; }
  /// What each run is called beside the others: "step_size=0.1, steps=60"; of the option that its kind compares the
  /// value alone: "svgd".
  std::vector<std::string> labels() const;

  /// Where the directory holds this sweep already, nothing changes but the folder of its data. Throws Error(usage)
  /// where it holds another, unless it may be overwritten, or files that are none, or where another process is at work
  /// on it or on one of its runs; nothing is removed then.
  void write(Existing existing);
  /// Makes all of its runs longer, the finished ones too, once they go on: by `steps`, and what may change with them.
  /// That becomes part of the plan. A run that ended by itself stays as it is.
  /// @param access  write: keeps the plan
  /// @throws Error(usage) for a setting that no resumed run may change or that the sweep compares, and for fewer steps
  /// than were planned
  void lengthen(const std::vector<std::pair<std::string, std::string>>& settings, Access access);
  /// Begins or continues every run that neither is finished nor has diverged; where one diverges, the others go on. On
  /// ranks that are more than the seeds of a run, several runs go on side by side.
  /// @returns false if asked to stop before all were done; the runs' summaries are then in their directories as far as
  /// they go
  bool advance(const SessionOptions& options) const;
  /// Whether the run in this directory has diverged.
  static bool diverged(const std::filesystem::path& run);
  /// {sweep, kind, runs, directory}: the summaries of the finished runs with their `settings`, and {settings, diverged}
  /// of those that diverged.
  nlohmann::ordered_json summary() const;

 private:
  struct Planned {
    std::string name;                               ///< of its directory: "step_size=0.1"
    std::map<std::string, std::string> settings{};  ///< of the axes
    std::string config{};                           ///< its options, resolved, as TOML

    bool operator==(const Planned&) const = default;
  };
  nlohmann::ordered_json to_json() const;
  void add_run(const std::string& subcommand, const OptionSources& sources,
               const std::vector<std::pair<std::string, std::string>>& combination);
  std::optional<FileLock> take_lock() const;
  void remove_earlier() const;
  /// Of the ranks, which have runs of their own.
  int groups_of(int ranks) const;
  /// Whether the run is done with: finished, or diverged.
  bool advance_run(const Planned& planned, const SessionOptions& options) const;
  std::unique_ptr<Experiment> experiment(const Planned& planned, const std::string& data) const;
  SessionResult start(const Planned& planned, SessionOptions options) const;

  std::filesystem::path directory_;
  std::optional<FileLock> lock_;
  std::string kind_, preset_;
  std::string data_;  ///< folder with data sets that `--data` named when it was planned
  std::vector<SweepAxis> axes_;
  std::vector<std::pair<std::string, std::string>> longer_;  ///< settings since it was planned: see lengthen
  std::vector<Planned> runs_;
  std::vector<std::string> names_;  ///< of the experiments that were planned: "wheel/svgd"
};

}  // namespace stein::runs
