// Where a run lives on disk, and which of its files is which.
#pragma once

#include <stein/core/file_lock.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stein {

/// What to do with a run that is already there.
enum class Existing { refuse, overwrite };

/// Whether a run is only looked at, or goes on.
enum class Access { read, write };

/// The folder of one run: its configuration, logs, metrics, checkpoints and summary under fixed names, which every kind
/// of run has, and result files of its kind. Whoever writes to it holds it locked as long as the object lives.
class RunDirectory {
 public:
  /// What whoever writes to a folder holds locked. Made before anything else and never removed before all else is: what
  /// is in a folder with this file is a run's, however short.
  static constexpr const char* lock_name = ".stein-lock";

  /// Makes `root` and its parents. Under `overwrite` the files of an earlier run there, complete or cut short, are
  /// removed, and nothing else; those of one that was killed before its manifest was written always are.
  /// @throws Error(usage) if `root` is no name or no directory, if it is not empty and `existing` is refuse, if it is
  /// not empty and holds no run, or if
  ///         another process is at work on it; Error(io) if it cannot be made or written to
  /// @param result_files  names of files that runs write besides those below: they go with an earlier run
  static RunDirectory create(const std::filesystem::path& root, Existing existing = Existing::refuse,
                             std::span<const std::string> result_files = {});

  /// Opens the run at `root`.
  /// @throws Error(data) if there is none: no directory, no config.toml and manifest.json in it, or a run that was
  ///         killed before it did anything; Error(usage) if it
  ///         is to be written and another process is at work on it
  static RunDirectory open(const std::filesystem::path& root, Access access = Access::read);

  /// Whether there is a run at `root`.
  static bool is_in(const std::filesystem::path& root);
  /// Throws Error(usage) if `root` is not empty and holds no run, so that `create` would refuse to replace it.
  static void check_replaceable(const std::filesystem::path& root);

  /// Removes the runs at `roots`, complete or cut short, and each folder where nothing else is in it; where there is
  /// none nothing happens. Looks at all before the first goes.
  /// @throws Error(usage) if one of them holds files but no run, or another process is at work on it: nothing is
  ///         removed then, unless the process came meanwhile; Error(io) if one cannot be removed
  static void remove(std::span<const std::filesystem::path> roots, std::span<const std::string> result_files = {});

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path config() const { return root_ / "config.toml"; }       ///< resolved options
  std::filesystem::path manifest() const { return root_ / "manifest.json"; }   ///< see run_manifest.h
  std::filesystem::path metrics() const { return root_ / "metrics.jsonl"; }    ///< see JsonlRecorder
  std::filesystem::path events() const { return root_ / "events"; }            ///< folder, see TensorBoardRecorder
  std::filesystem::path checkpoints() const { return root_ / "checkpoints"; }  ///< folder, see checkpoint.h
  std::filesystem::path summary() const { return root_ / "summary.json"; }
  std::filesystem::path log() const { return root_ / "log.txt"; }
  std::filesystem::path report() const { return root_ / "report.html"; }
  std::filesystem::path cost() const { return root_ / "cost.json"; }  ///< time and memory that the run has taken so far

  std::filesystem::path divergence() const { return root_ / "diverged.txt"; }  ///< why the run could not go on

  /// A file of the run's own kind: "decisions.jsonl".
  std::filesystem::path file(std::string_view name) const { return root_ / name; }

  /// Each writes the whole file atomically. @throws Error(io)
  void write_config(std::string_view toml) const;
  void write_manifest(std::string_view json) const;
  void write_summary(std::string_view json) const;

 private:
  explicit RunDirectory(std::filesystem::path root);
  void lock();

  std::filesystem::path root_;
  std::optional<FileLock> lock_;
};

}  // namespace stein
