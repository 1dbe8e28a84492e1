#include <stein/core/run_directory.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <stein/core/atomic_file.h>
#include <stein/core/error.h>

namespace stein {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = RunDirectory::lock_name;

bool is_occupied(const fs::path& root) {
  std::error_code ignored;
  return std::ranges::any_of(fs::directory_iterator(root, ignored),
                             [](const fs::directory_entry& entry) { return entry.path().filename() != lock_name; });
}

/// Whether a run was killed here before its manifest was written: it had done nothing, and is begun anew.
bool is_stillborn(const fs::path& root) {
  std::error_code ignored;
  return fs::exists(root / lock_name, ignored) &&
         std::ranges::all_of(fs::directory_iterator(root, ignored), [](const fs::directory_entry& entry) {
           const std::string name = entry.path().filename().string();
           return name == lock_name || name == "config.toml" || is_unfinished_file(name);
         });
}

/// Files that a run writes; a person's own files beside them stay.
bool belongs_to_run(const std::string& name, std::span<const std::string> result_files) {
  static constexpr std::array<std::string_view, 8> names{"metrics.jsonl", "events",      "checkpoints", "summary.json",
                                                         "log.txt",       "report.html", "cost.json",   "diverged.txt"};
  return std::ranges::find(names, name) != names.end() || std::ranges::find(result_files, name) != result_files.end();
}

void remove_run(const fs::path& root, std::span<const std::string> result_files) {
  std::vector<fs::path> doomed;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    if (belongs_to_run(entry->path().filename().string(), result_files)) doomed.push_back(entry->path());
  }
  doomed.push_back(root / "config.toml");  // last: whoever is killed before leaves what a run can be told by
  doomed.push_back(root / "manifest.json");
  for (const fs::path& path : doomed) {
    if (!error) fs::remove_all(path, error);
  }
  if (error) fail(ErrorKind::io, "cannot remove the earlier run in '{}': {}", root.string(), error.message());
}

}  // namespace

RunDirectory::RunDirectory(fs::path root) : root_(std::move(root)) {}

RunDirectory RunDirectory::create(const fs::path& root, Existing existing, std::span<const std::string> result_files) {
  STEIN_CHECK(!root.empty(), "the run directory must have a name");
  RunDirectory run(root);
  std::error_code error;
  STEIN_CHECK(!fs::exists(root, error) || fs::is_directory(root, error), "'{}' exists and is no directory",
              root.string());
  check_replaceable(root);
  const bool occupied = is_occupied(root);
  if (occupied && existing == Existing::refuse && !is_stillborn(root)) {
    fail(ErrorKind::usage,
         "'{0}' already holds files: pass --overwrite to replace the run in it, continue it with `stein resume {0}`, "
         "or choose another --out",
         root.string());
  }
  fs::create_directories(root, error);
  if (error) fail(ErrorKind::io, "cannot make the run directory '{}': {}", root.string(), error.message());
  if (::access(root.c_str(), W_OK | X_OK) != 0) {
    fail(ErrorKind::io, "cannot write into the run directory '{}': {}", root.string(), std::strerror(errno));
  }
  run.lock();
  if (occupied) remove_run(root, result_files);
  return run;
}

bool RunDirectory::is_in(const fs::path& root) {
  const RunDirectory run(root);
  std::error_code ignored;
  return fs::is_regular_file(run.config(), ignored) && fs::is_regular_file(run.manifest(), ignored);
}

void RunDirectory::check_replaceable(const fs::path& root) {
  std::error_code ignored;
  STEIN_CHECK(!is_occupied(root) || is_in(root) || fs::exists(root / lock_name, ignored),
              "'{}' holds files but no run of Stein: nothing was overwritten, choose another --out", root.string());
}

void RunDirectory::remove(std::span<const fs::path> roots, std::span<const std::string> result_files) {
  std::error_code ignored;
  for (const fs::path& root : roots) check_replaceable(root);
  for (const fs::path& root : roots)
    if (fs::exists(root, ignored)) RunDirectory(root).lock();  // for a moment: there may be more than files can be open
  for (const fs::path& root : roots) {
    if (!fs::exists(root, ignored)) continue;
    RunDirectory run(root);
    run.lock();
    remove_run(root, result_files);
    if (is_occupied(root)) continue;  // by a person's own files: the lock says that there was a run beside them
    fs::remove(root / lock_name, ignored);
    fs::remove(root, ignored);
  }
}

RunDirectory RunDirectory::open(const fs::path& root, Access access) {
  RunDirectory run(root);
  std::error_code ignored;
  if (!fs::is_directory(root, ignored)) fail(ErrorKind::data, "there is no run directory '{}'", root.string());
  if (is_stillborn(root))
    fail(ErrorKind::data, "'{}' holds a run that was ended before it did anything: start it again", root.string());
  if (!is_in(root)) {
    fail(ErrorKind::data, "'{}' is no run directory: config.toml and manifest.json are expected in it", root.string());
  }
  if (access == Access::write) run.lock();
  return run;
}

void RunDirectory::lock() {
  lock_ = FileLock::take(root_ / lock_name);
  STEIN_CHECK(lock_.has_value(),
              "another process is at work on the run in '{}': wait until it ends, or work in another folder",
              root_.string());
  remove_unfinished_files(root_);
}

void RunDirectory::write_config(std::string_view toml) const {
  write_file_atomically(config(), toml);
}
void RunDirectory::write_manifest(std::string_view json) const {
  write_file_atomically(manifest(), json);
}
void RunDirectory::write_summary(std::string_view json) const {
  write_file_atomically(summary(), json);
}

}  // namespace stein
