// The runs of a sweep, one after the other or, on several ranks, side by side.
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/distributed/agree.h>
#include <stein/runs/resume_run.h>
#include <stein/runs/start_run.h>
#include <stein/runs/sweep.h>

#include <algorithm>
#include <optional>

namespace stein::runs {

namespace fs = std::filesystem;

bool Sweep::advance(const SessionOptions& options) const {
  distributed::Communicator& ranks = *options.ranks;
  const int groups = groups_of(ranks.size());
  if (groups == 1)  // in order, until one is stopped
    return std::ranges::all_of(runs_, [&](const Planned& planned) { return advance_run(planned, options); });
  const int group = ranks.rank() * groups / ranks.size();
  SessionOptions own = options;
  own.ranks = ranks.split(group);
  own.quiet = options.quiet || group > 0;  // one progress bar
  bool done = true;
  std::exception_ptr error;
  std::size_t k = static_cast<std::size_t>(group);
  try {
    for (; done && k < runs_.size(); k += static_cast<std::size_t>(groups)) done = advance_run(runs_[k], own);
  } catch (const distributed::AgreedError&) {  // another would be this rank's own, and ends all of them
    error = std::current_exception();
  }
  distributed::throw_first(ranks, distributed::failure_of(error, static_cast<std::int64_t>(k)));
  return !ranks.any(!done);
}

/// A run has as many ranks as it has seeds, so that none waits for another, or all where it has more.
int Sweep::groups_of(int ranks) const {
  if (ranks == 1) return 1;
  std::int64_t seeds = 1;
  for (const Planned& planned : runs_) seeds = std::max(seeds, experiment(planned, data_)->seeds().count());
  return static_cast<int>(std::clamp<std::int64_t>(ranks / seeds, 1, std::ssize(runs_)));
}

bool Sweep::advance_run(const Planned& planned, const SessionOptions& options) const {
  distributed::Communicator& ranks = *options.ranks;
  const fs::path path = directory_ / planned.name;
  const bool root = ranks.is_root();  // which looks for all, as it alone changes what is there
  if (ranks.any(root && diverged(path))) return true;
  if (ranks.any(options.stop.stop_requested())) return false;
  const bool begun = ranks.any(root && RunDirectory::is_in(path));
  close_log_file();  // of the run before
  log_info("{}: {}", planned.name, begun ? "continued" : "started");
  try {
    if (!begun) return start(planned, options).finished;
    std::optional<RunDirectory> directory;
    distributed::agree(ranks, [&] { directory = RunDirectory::open(path, root ? Access::write : Access::read); });
    return resume_run(*directory, {}, options).finished;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numeric) throw;
    if (root) log_error("{}: {}", planned.name, error.what());
    return true;  // the others go on
  }
}

SessionResult Sweep::start(const Planned& planned, SessionOptions options) const {
  if (options.data.empty()) options.data = data_;
  std::unique_ptr<Experiment> made;
  distributed::agree(*options.ranks, [&] { made = experiment(planned, options.data); });
  return start_run(*made, directory_ / planned.name, Existing::overwrite, options);
}

}  // namespace stein::runs
