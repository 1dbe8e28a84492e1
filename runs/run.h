// The repetitions of an experiment side by side, with results that depend neither on threads nor on ranks.
#pragma once

#include <stein/core/append_file.h>
#include <stein/core/progress.h>
#include <stein/core/recorder.h>
#include <stein/core/run_directory.h>
#include <stein/core/snapshot.h>
#include <stein/core/stop_token.h>
#include <stein/core/watch.h>
#include <stein/distributed/communicator.h>
#include <stein/runs/repetition.h>
#include <stein/runs/run_cost.h>
#include <stein/runs/seed_range.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace stein::runs {

/// Where a run reports to while it goes on.
struct Outputs {
  Recorder& recorder;
  Progress& progress;
  bool length_unknown = false;  ///< progress is told how many steps there may be in all
};

/// Repetitions with seeds first … end − 1, each a task of its own, in one process or spread over ranks. Metrics and log
/// lines are written by step and then by seed, so that files are the same bytes at any number of threads and of ranks,
/// and wherever a run was interrupted.
///
/// Every rank makes and restores all repetitions; after `spread_over` it advances its own, every size-th of them, and
/// what it knows of the others is what it is told at the end of each round. Where there are more ranks than
/// repetitions, those that have none help one of the others, if its kind can share the work of a step. `advance`,
/// `conclude`, `save` and `assemble` are then collective calls.
///
/// A kind derives from it and says what the run is, what its summary has, and what it writes besides the usual files.
class Run {
 public:
  /// Makes the repetition of a seed.
  using MakeRepetition = std::function<std::unique_ptr<Repetition>(std::uint64_t seed)>;

  /// @param line_log  name of the file that takes the repetitions' log lines ("decisions.jsonl"); empty: none is kept
  Run(SeedRange seeds, const MakeRepetition& make_repetition, std::string line_log = "");
  virtual ~Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// The fewest of any repetition that has not ended; metrics up to this number have been recorded, and no later ones.
  std::int64_t steps_done() const;
  /// Whether every repetition has ended by itself.
  bool ended() const;
  std::int64_t count() const { return std::ssize(repetitions_); }
  Repetition& repetition(std::int64_t i) { return *repetitions_[static_cast<std::size_t>(i)]; }
  const Repetition& repetition(std::int64_t i) const { return *repetitions_[static_cast<std::size_t>(i)]; }

  /// To be called before the run begins or goes on, after it was restored: from here on each of `ranks`, which have to
  /// outlive the run, advances its share of the repetitions, and the root records and saves.
  void spread_over(distributed::Communicator& ranks);
  /// The repetitions that this process advances and speaks for: all of them where there are no other ranks.
  const std::vector<std::int64_t>& own() const { return own_; }
  /// After the last step, on several ranks: each evaluates its own repetitions, which keep what `summarize` is to need.
  /// Throws as `advance`.
  void conclude(const Watch& watch);
  /// Brings the state of every repetition to the root, where the run is then as it would be without ranks, to be
  /// warned of and summarized; elsewhere nothing but steps_done() and ended() may be asked for any more.
  /// @returns on the root the repetitions that came from others; elsewhere none
  std::vector<std::int64_t> assemble();

  /// Brings every repetition to at least `until` steps or its end, or to fewer if one rank is asked to stop. Throws
  /// Error(numeric) if one of them diverged, the first by its seed if several did; the run must then not be saved.
  void advance(std::int64_t until, const StopToken& stop, const Outputs& outputs);
  /// Writes the metrics and lines of repetitions that ran ahead, which wait until all have taken as many steps.
  void record_rest(const Outputs& outputs);
  /// "seed 3: …" of every repetition that has something to warn of.
  virtual std::vector<std::string> warnings() const;

  /// On the root everything that later steps depend on, whichever rank has it; elsewhere `snapshot` means nothing.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);
  /// Opens the log of lines, cut to what it was when the restored state was saved.
  void open_logs(const RunDirectory& directory);

  /// Called before repetition `i` begins or goes on in this process, after it was restored: where a kind keeps files of
  /// its own while it runs.
  virtual void open_files(const RunDirectory& directory, std::int64_t i) {
    static_cast<void>(directory);
    static_cast<void>(i);
  }

  // What a kind says of its runs.

  /// What the log of lines begins with; empty: the first repetition's first line.
  virtual std::string line_log_head() const { return {}; }
  /// Where the data or the task come from, for the first line of the log.
  virtual std::string source() const = 0;
  /// What a person should know before the run begins.
  virtual std::vector<std::string> notices() const { return {}; }
  /// JSON object for the manifest: the task, N, T, and what else fixes the meaning of the run.
  virtual nlohmann::ordered_json protocol() const = 0;
  /// File name → SHA-256 of the data sets that are read.
  virtual std::map<std::string, std::string> data_checksums() const { return {}; }
  /// Throws Error(data) if a run with this manifest cannot go on with the program as it is.
  virtual void check_manifest(const nlohmann::ordered_json& manifest) const;

  /// What this kind counts of the cost, with that of other processes once they were added: first of those that were
  /// before this one, then, once the run is assembled, of those beside it. A rank counts its own repetitions.
  virtual nlohmann::ordered_json cost() const;
  virtual void add_cost(const nlohmann::ordered_json& other);
  /// What it costs this process that other ranks share the steps of its repetition; none where they do not.
  std::optional<distributed::SharingCost> sharing() const;

  /// After the last step: the object of summary.json, to which the session adds name, length, seeds, cost and version.
  /// Where that takes long it tells `watch` how far it is, and looks whether it is to stop; what it returns then is not
  /// used. Where it can go on from a saved state it says when (`Watch::keep`), and in the end leaves the state that the
  /// last step left.
  virtual nlohmann::ordered_json summarize(const Watch& watch) = 0;
  /// After the last step: writes the result files of the kind.
  virtual void write_results(const RunDirectory& directory);

 private:
  /// How far a repetition is.
  struct Standing {
    std::int64_t steps = 0;
    bool ended = false;
    double share = 0;  ///< as Repetition::share_done
  };
  static Snapshot to_snapshot(const std::vector<Standing>& standings);
  static std::vector<Standing> standings_in(const Snapshot& snapshot);
  /// Of repetition i, as far as this process knows.
  Standing standing(std::int64_t i) const;
  bool is_own(std::int64_t i) const { return i % ranks_->size() == ranks_->rank(); }
  void join_crew();
  void advance_together(std::int64_t until, const StopToken& stop, const Outputs& outputs);
  void advance_own(std::int64_t until, const StopToken& stop, const Outputs& outputs);
  /// Of its own repetitions, one each, those of other ranks included.
  void throw_first(const std::vector<std::exception_ptr>& errors) const;
  void exchange(const Outputs& outputs);
  /// Of all repetitions together, by the share of data behind each; 0 where one does not know its own.
  std::uint64_t expected_steps() const;
  void hand_over(const Outputs& outputs, std::int64_t last_step);
  void save_repetitions(Snapshot& snapshot) const;

  std::vector<std::unique_ptr<Repetition>> repetitions_;
  std::vector<Records> records_;  ///< one a repetition
  distributed::Communicator* ranks_ = &distributed::single_process();
  std::vector<std::int64_t> own_;                    ///< repetitions that this process advances and speaks for
  std::optional<distributed::SharingCost> sharing_;  ///< once there is no crew any more
  std::shared_ptr<distributed::Communicator> crew_;  ///< of those that share a repetition; null: it shares none
  Repetition* shared_ = nullptr;                     ///< that repetition
  std::vector<Standing> elsewhere_;                  ///< of the others when the last round ended, one a repetition
  std::string line_log_;
  std::unique_ptr<AppendFile> lines_;
  std::uint64_t line_bytes_ = 0;  ///< length of the log of lines when the restored state was saved
};

/// Where a snapshot of a run keeps the repetition with this seed.
std::string part_of_seed(std::uint64_t seed);

/// A run whose repetitions are of class `R`.
template <class R>
class RunOf : public Run {
 public:
  using Run::Run;
  R& repetition(std::int64_t i) { return static_cast<R&>(Run::repetition(i)); }
  const R& repetition(std::int64_t i) const { return static_cast<const R&>(Run::repetition(i)); }
};

}  // namespace stein::runs
