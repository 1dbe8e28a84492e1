// What every subcommand is made of: an action that runs once its arguments are parsed, and the options common to all.
#pragma once

#include <stein/core/options.h>
#include <stein/distributed/communicator.h>
#include <stein/runs/session.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stein::cli {

/// Exit code of a run that was interrupted with a checkpoint saved.
inline constexpr int interrupted = 75;

/// Runs a parsed subcommand and returns the exit code of the program.
using Action = std::function<int()>;

/// What was typed after the subcommand.
using Arguments = std::vector<std::string>;

/// The processes that the program was started as.
using Ranks = std::shared_ptr<distributed::Communicator>;

/// Each adds its options to `command` and returns what to do with them. What takes `ranks` is done by all of them
/// together, everything else by a single process.
Action resume_command(CLI::App& command, const Ranks& ranks);
Action ranks_command(CLI::App& command, const Ranks& ranks);
Action report_command(CLI::App& command, const Arguments& arguments);
Action data_command(CLI::App& command, const Arguments& arguments);
Action list_command(CLI::App& command, const Arguments& arguments);
Action env_command(CLI::App& command, const Arguments& arguments);
Action bench_command(CLI::App& command, const Arguments& arguments);
Action compress_command(CLI::App& command, const Arguments& arguments);
Action caption_score_command(CLI::App& command, const Arguments& arguments);
/// Starts runs: `subcommand` is one that a registered kind of run has.
Action start_command(const std::string& subcommand, CLI::App& command, const Ranks& ranks);
/// What is done with a run on disk: `name` is that of an action of registered kinds of run; where there is a group
/// (`stein lm eval`), of those of its kinds alone.
struct RunVerb {
  std::string name, group{};
  /// As it is typed.
  std::string text() const { return group.empty() ? name : group + " " + name; }
};
/// Does something with a run on disk.
Action run_action_command(const RunVerb& verb, CLI::App& command, const Arguments& typed);

/// "lm" of the subcommand "lm train"; empty for those without a group.
std::string group_of(const std::string& subcommand);

/// Lets only whole numbers from 0 on pass: seeds and indices.
void from_zero(CLI::Option* option);
/// Refuses an empty text, such as a shell makes of a variable that is not set.
CLI::Option* not_empty(CLI::Option* option);

/// Gives every option of `table` an argument of its own, with '-' for '_': text is set into the table when the action
/// runs `apply`; an option that is true or false becomes a flag.
class TableArguments {
 public:
  /// @param names  of the options that get one; empty: all. One that has an argument already gets no other.
  void add_all(CLI::App& command, const OptionTable& table, const std::vector<std::string>& names = {});
  /// Key and text of the arguments that were given.
  std::vector<std::pair<std::string, std::string>> given() const;

 private:
  struct Argument {
    std::string key{}, text{};
    std::vector<std::string> texts{};  ///< of a list: `--log monday.gz tuesday.gz`
    bool flag = false;
  };
  std::vector<std::unique_ptr<Argument>> arguments_;
};

/// Options that many subcommands share.
struct CommonOptions {
  int threads = 0;  ///< 0: as many as there are cores
  std::string device = "cpu";
  bool json = false;
  bool quiet = false;

  void add_json(CLI::App& command);
  /// --threads, --json, --quiet.
  void add_all_but_device(CLI::App& command);
  /// The same and --device, where the command has none already.
  void add_all(CLI::App& command);
  /// Puts threads and log level into force. Throws Error(usage) for a device that is not there.
  void apply() const;
};

/// How a run is carried out: `--data`, `--stop-after`.
struct SessionArguments {
  std::string data;
  std::int64_t stop_after = 0;

  /// For a run that begins now: from here on signals ask it to stop, and of several ranks the root alone says what it
  /// does.
  runs::SessionOptions begin(const CommonOptions& common,
                             const Ranks& ranks = std::make_shared<distributed::SingleProcess>()) const;

  void add_data(CLI::App& command);
  void add_stop_after(CLI::App& command);
};

/// Prints the result of a session, where there are several ranks on the root; returns the exit code of the program.
int print_result(const runs::SessionResult& result, const CommonOptions& common,
                 const distributed::Communicator& ranks = distributed::SingleProcess());

}  // namespace stein::cli
