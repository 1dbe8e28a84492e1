#include "command.h"

#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/core/parallel.h>

#include <CLI/CLI.hpp>
#include <limits>

namespace stein::cli {

void from_zero(CLI::Option* option) {
  option->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max(), "a whole number from 0 on"));
}

void CommonOptions::add_json(CLI::App& command) {
  command.add_flag("--json", json, "Print one JSON object, and nothing else, on standard output");
}

void CommonOptions::add_all(CLI::App& command) {
  command.add_option("--threads", threads, "Threads to use; results do not depend on it (default: all cores)")
      ->check(CLI::Range(1, 4096));
  command.add_option("--device", device, "Where to compute: cpu")->capture_default_str();
  add_json(command);
  command.add_flag("--quiet", quiet, "No progress and no messages but warnings");
}

void CommonOptions::apply() const {
  STEIN_CHECK(device == "cpu", "device must be cpu, got '{}': runs are on the processor", device);
  if (threads > 0) set_thread_count(threads);
  if (quiet) set_log_level(LogLevel::warning);
}

void RunOptions::add_data(CLI::App& command) {
  command.add_option("--data", data,
                     "Folder with data sets, the only one looked in (default: $STEIN_DATA, then the user's cache)");
}

void RunOptions::add_stop_after(CLI::App& command) {
  command
      .add_option("--stop-after", stop_after,
                  "Stop when every seed has done this many steps, with a checkpoint and exit code 75")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 53));
}

}  // namespace stein::cli
