// The runs of a sweep, one after the other or, on several ranks, side by side.
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/distributed/agree.h>
#include <stein/runs/resume_run.h>
#include <stein/runs/start_run.h>
#include <stein/runs/sweep.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stein::runs {

namespace fs = std::filesystem;

namespace {

/// The ranks of one run, whose loops ask now and then whether any of them is to stop (`any`): then they also hear of a
/// stop in the other runs of the sweep, and tell these of their own.
class RanksOfRun final : public distributed::Communicator {
 public:
  /// @param all  of the sweep
  RanksOfRun(distributed::Communicator& all, int group, const StopToken& stop)
      : all_(all), own_(all.split(group)), stop_(stop) {}

  int rank() const override { return own_->rank(); }
  int size() const override { return own_->size(); }
  int rank_on_machine() const override { return own_->rank_on_machine(); }
  std::vector<std::string> gather(const std::string& bytes) override { return own_->gather(bytes); }
  std::string broadcast(const std::string& bytes) override { return own_->broadcast(bytes); }
  void all_gather(const std::string& bytes, std::vector<std::string>& all) override { own_->all_gather(bytes, all); }
  void all_to_all(const std::vector<std::string>& to, std::vector<std::string>& from) override {
    own_->all_to_all(to, from);
  }
  std::shared_ptr<Communicator> split(int group) override { return own_->split(group); }
  bool any(bool own) override {
    if (all_.notified()) told_ = true, stop_.request_stop();
    if (stop_.stop_requested() && !std::exchange(told_, true)) all_.notify();
    return own_->any(own);
  }
  void notify() override { own_->notify(); }
  bool notified() override { return own_->notified(); }
  [[noreturn]] void abort(int exit_code) override {
    own_->abort(exit_code);
    std::_Exit(exit_code);
  }

 private:
  distributed::Communicator& all_;
  std::shared_ptr<distributed::Communicator> own_;
  StopToken stop_;
  bool told_ = false;  ///< that there is a stop, or the others of it
};

}  // namespace

bool Sweep::advance(const SessionOptions& options) const {
  distributed::Communicator& ranks = *options.ranks;
  const int groups = groups_of(ranks.size());
  if (groups == 1)  // in order, until one is stopped
    return std::ranges::all_of(runs_, [&](const Planned& planned) { return advance_run(planned, options); });
  const int group = ranks.rank() * groups / ranks.size();
  SessionOptions own = options;
  own.ranks = std::make_shared<RanksOfRun>(ranks, group, options.stop);
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
    return resume_run(*directory, longer_, options).finished;
  } catch (const Error& error) {
    // One that is made longer in vain has its result.
    const bool stays = begun && error.kind() == ErrorKind::usage && !longer_.empty() &&
                       ranks.any(root && fs::exists(RunDirectory::open(path).summary()));
    if (error.kind() != ErrorKind::numeric && !stays) throw;
    if (root && stays) log_warning("{}: {}", planned.name, error.what());
    if (root && !stays) log_error("{}: {}", planned.name, error.what());
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
