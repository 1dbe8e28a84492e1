// What can be done with a run besides going on with it: `stein eval`, `stein render`, `stein predict`.
#pragma once

#include <stein/core/error.h>
#include <stein/core/options.h>
#include <stein/core/progress.h>
#include <stein/core/stop_token.h>
#include <stein/runs/saved_run.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace stein::runs {

/// Where an action reads from and writes to while it goes on.
struct Console {
  std::FILE* in = stdin;
  std::FILE* out = stdout;
  StopToken stop{};
  std::shared_ptr<Progress> progress = std::make_shared<SilentProgress>();
};

/// One verb for runs of one kind, with options of its own, which become arguments of the subcommand.
class RunAction {
 public:
  virtual ~RunAction() = default;

  /// Options of the action, by the names that they have as arguments with '_' for '-'.
  virtual void describe(OptionTable& table) = 0;
  /// Throws Error(usage) where it cannot be done with runs of `experiment`: asked before a long run begins.
  virtual void check(const Experiment& experiment) const { static_cast<void>(experiment); }
  /// Whether it fills standard output by itself: the result is then told on standard error.
  virtual bool streams() const { return false; }
  /// @param data  folder with data sets; empty: the one that the run began with
  /// @returns the object of --json. Throws Error(usage) for options that do not fit the run.
  virtual nlohmann::ordered_json perform(const RunDirectory& directory, const std::string& data,
                                         const Console& console) = 0;
  /// The same for a person.
  virtual std::string readable(const nlohmann::ordered_json& result) const = 0;
};

/// An action on runs whose experiments are of class `E`.
template <class E>
class SavedRunAction : public RunAction {
 public:
  void check(const Experiment& experiment) const final { check_experiment(dynamic_cast<const E&>(experiment)); }
  nlohmann::ordered_json perform(const RunDirectory& directory, const std::string& data, const Console& console) final {
    const SavedRun saved = read_saved_run(directory);
    check(*saved.experiment);
    return perform_saved(dynamic_cast<const E&>(*saved.experiment), saved, data, console);
  }

 private:
  virtual void check_experiment(const E& experiment) const { static_cast<void>(experiment); }
  /// @param data  as `perform` gets it
  virtual nlohmann::ordered_json perform_saved(const E& experiment, const SavedRun& saved, const std::string& data,
                                               const Console& console) = 0;
};

/// An action on the repetitions of a run of class `R`, which needs the data or the task that they learned from.
template <class E, class R>
class RunActionOn : public SavedRunAction<E> {
 private:
  nlohmann::ordered_json perform_saved(const E& experiment, const SavedRun& saved, const std::string& data,
                                       const Console& console) final {
    const std::unique_ptr<Run> run = saved.make_run(data);
    return perform_on(experiment, dynamic_cast<R&>(*run), saved.directory, console);
  }
  virtual nlohmann::ordered_json perform_on(const E& experiment, R& run, const RunDirectory& directory,
                                            const Console& console) = 0;
};

}  // namespace stein::runs
