// The program under mpirun, on one machine.
#pragma once

#include <algorithm>
#include <csignal>

#include "cli/program.h"
#include "core/written_file.h"
#include "skip.h"

namespace stein::test {

using Json = nlohmann::json;
namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

inline constexpr const char* env_program = "/usr/bin/env";

/// Arguments with others behind them.
inline Arguments joined(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// What stands before the arguments; cases that need it are skipped where there is none.
inline Arguments launcher(int ranks, const char* program = STEIN_PROGRAM) {
  if (std::system("command -v mpirun > /dev/null") != 0) skip("no mpirun");
  if (!fs::exists(STEIN_LIBRARIES "/libstein_mpi.so")) skip("built without MPI");
  return {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", std::to_string(ranks), program};
}

inline Program start_on(int ranks, const TemporaryDirectory& folder, const Arguments& arguments,
                        const char* program = STEIN_PROGRAM) {
  return {folder.path(), joined(launcher(ranks, program), arguments), {}, env_program};
}

inline Outcome run_on(int ranks, const TemporaryDirectory& folder, const Arguments& arguments,
                      const char* program = STEIN_PROGRAM) {
  return start_on(ranks, folder, arguments, program).wait();
}

/// All that a run leaves but times and places.
inline std::map<std::string, std::string> lasting_files(const fs::path& run) {
  std::map<std::string, std::string> files = files_of(run);
  for (const auto& [name, content] : files_of(run / "checkpoints")) files["checkpoints/" + name] = content;
  for (const char* name : {"log.txt", "cost.json", "manifest.json", "checksums.json"}) files.erase(name);
  Json summary = Json::parse(files.at("summary.json"));
  for (const char* key : {"wall_seconds", "peak_memory_mb", "run_directory", "decisions_per_second", "timed_decisions",
                          "updates_per_second", "training_seconds", "seconds_to_threshold", "steps_per_second",
                          "rows_per_second", "tokens_per_second"})
    summary.erase(key);
  if (summary.contains("policies"))  // of a replay
    for (Json& policy : summary["policies"]) policy.erase("events_per_second");
  files["summary.json"] = summary.dump(2);
  return files;
}

inline void check_same_run(const TemporaryDirectory& folder, const std::string& a, const std::string& b) {
  const auto first = lasting_files(folder / a), second = lasting_files(folder / b);
  for (const auto& [name, content] : first) {
    CAPTURE(name);
    REQUIRE(second.contains(name));
    if (name.ends_with(".json")) CHECK(second.at(name) == content);
    CHECK((second.at(name) == content));  // of other files the difference is no reading
  }
  CHECK(first.size() == second.size());
}

/// A run that `stopping` begins on `first` ranks, in the folder "many", goes on with `then` of them to what the run in
/// the folder "one" is.
inline void check_goes_on(const TemporaryDirectory& folder, int first, const Arguments& stopping, int then,
                          const char* program = STEIN_PROGRAM) {
  const Outcome stopped = run_on(first, folder, stopping, program);
  CAPTURE(stopped.err);
  REQUIRE(stopped.code == 75);
  const Outcome done = run_on(then, folder, {"resume", "many", "--quiet", "--threads", "1"}, program);
  CAPTURE(done.err);
  REQUIRE(done.code == 0);
  check_same_run(folder, "one", "many");
}

inline bool has_checkpoint(const fs::path& run, int step) {
  return fs::exists(run / ("checkpoints/checkpoint-" + std::to_string(step) + ".safetensors"));
}

/// Steps of the latest checkpoint; −1 if there is none.
inline int last_checkpoint(const fs::path& run) {
  int last = -1;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(run / "checkpoints", none)) {
    const std::string name = entry.path().stem().string();  // checkpoint-2304
    if (name.starts_with("checkpoint-")) last = std::max(last, std::stoi(name.substr(name.find('-') + 1)));
  }
  return last;
}

/// A run that is stopped on its way.
struct StoppedRun {
  std::string name;
  Arguments arguments;  ///< without where it is kept, on which device and whose seeds
  int stop_after;
};

/// A log of made-up news, news.gz.
inline void make_log(const TemporaryDirectory& folder, int events) {
  REQUIRE(run(folder.path(), {"data", "make", "news-synthetic", "--events", std::to_string(events), "--lifetime",
                              "2000", "--out", "news.gz", "--quiet"})
              .code == 0);
}

/// A job of which a rank was killed says so, in mpirun's words.
inline void check_lost_rank(const Outcome& job) {
  CAPTURE(job.err);
  CHECK(job.code != 0);
  CHECK_THAT(job.err, Catch::Contains("signal 9") || Catch::Contains("exit code"));
}

/// The process of a rank that works in `folder`; 0 if there is none.
inline pid_t process_of(const fs::path& folder, int rank) {
  const std::string variable = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0';
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    if (fs::read_symlink(entry.path() / "cwd", gone) != folder || gone) continue;
    const std::string environment = content_of(entry.path() / "environ");
    if (environment.find(variable) != std::string::npos) return std::stoi(entry.path().filename().string());
  }
  return 0;
}

}  // namespace stein::test
