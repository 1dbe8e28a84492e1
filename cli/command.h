// What every subcommand is made of: an action that runs once its arguments are parsed, and the options common to all.
#pragma once

#include <stein/core/stop_token.h>

#include <cstdint>
#include <functional>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stein::cli {

/// Exit code of a run that was interrupted with a checkpoint saved.
inline constexpr int interrupted = 75;

/// Runs a parsed subcommand and returns the exit code of the program.
using Action = std::function<int()>;

/// Each adds its options to `command` and returns what to do with them.
Action bandit_command(CLI::App& command);
Action rl_command(CLI::App& command);
Action eval_command(CLI::App& command);
Action resume_command(CLI::App& command);
Action render_command(CLI::App& command);
Action report_command(CLI::App& command);
Action data_command(CLI::App& command);
Action list_command(CLI::App& command);
Action env_command(CLI::App& command);
Action bench_command(CLI::App& command);

/// Lets only whole numbers from 0 on pass: seeds and indices.
void from_zero(CLI::Option* option);

/// Options that many subcommands share.
struct CommonOptions {
  int threads = 0;  ///< 0: as many as there are cores
  std::string device = "cpu";
  bool json = false;
  bool quiet = false;

  void add_json(CLI::App& command);
  /// --threads, --device, --json, --quiet.
  void add_all(CLI::App& command);
  /// Puts threads and log level into force. Throws Error(usage) for a device that is not there.
  void apply() const;
};

/// What a run's options come from besides its configuration: `--data`, `--stop-after`.
struct RunOptions {
  std::string data;
  std::int64_t stop_after = 0;  ///< 0: run to the end

  void add_data(CLI::App& command);
  void add_stop_after(CLI::App& command);
};

}  // namespace stein::cli
