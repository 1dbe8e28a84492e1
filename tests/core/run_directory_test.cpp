#include <stein/core/atomic_file.h>
#include <stein/core/read_file.h>
#include <stein/core/run_directory.h>
#include <stein/core/run_manifest.h>
#include <stein/core/simd_target.h>
#include <stein/core/version.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

/// A run that nobody is at work on.
RunDirectory make_run(const std::filesystem::path& root) {
  const RunDirectory run = RunDirectory::create(root);
  run.write_config("steps = 10\n");
  run.write_manifest(to_json({.command = "bandit"}));
  return RunDirectory::open(root);
}

TEST_CASE("a run directory is made with its parents and opened again", "[core][run_directory]") {
  const test::TemporaryDirectory folder;
  const RunDirectory made = make_run(folder / "runs/one");
  made.write_summary("{}\n");
  const RunDirectory run = RunDirectory::open(folder / "runs/one");
  CHECK(read_file(run.config()) == "steps = 10\n");
  CHECK(read_file(run.summary()) == "{}\n");
  CHECK_NOTHROW(RunDirectory::create(folder.path() / "empty"));
  CHECK_NOTHROW(RunDirectory::create(folder.path() / "empty"));
}

TEST_CASE("an existing run is refused unless it is to be overwritten, and then only the run goes",
          "[core][run_directory]") {
  const test::TemporaryDirectory folder;
  const RunDirectory run = make_run(folder / "run");
  std::filesystem::create_directories(run.checkpoints());
  write_file_atomically(run.checkpoints() / "checkpoint-1.safetensors", "x");
  write_file_atomically(run.file("decisions.jsonl"), "x");
  write_file_atomically(folder / "run/notes.txt", "mine");
  CHECK_ERROR(RunDirectory::create(folder / "run"), usage, "already holds files", "--overwrite", "stein resume",
              "run'");
  CHECK(std::filesystem::exists(run.file("decisions.jsonl")));

  const std::vector<std::string> result_files{"decisions.jsonl"};
  CHECK_NOTHROW(RunDirectory::create(folder / "run", Existing::overwrite, result_files));
  CHECK_FALSE(std::filesystem::exists(run.config()));
  CHECK_FALSE(std::filesystem::exists(run.checkpoints()));
  CHECK_FALSE(std::filesystem::exists(run.file("decisions.jsonl")));
  CHECK(read_file(folder / "run/notes.txt") == "mine");
}

TEST_CASE("a directory says whether there is a run in it, and whether it may be replaced", "[core][run_directory]") {
  const test::TemporaryDirectory folder;
  CHECK_FALSE(RunDirectory::is_in(folder / "none"));
  CHECK_NOTHROW(RunDirectory::check_replaceable(folder / "none"));
  CHECK_FALSE(RunDirectory::is_in(folder.path()));
  CHECK_NOTHROW(RunDirectory::check_replaceable(folder.path()));
  make_run(folder / "run");
  CHECK(RunDirectory::is_in(folder / "run"));
  CHECK_NOTHROW(RunDirectory::check_replaceable(folder / "run"));
  CHECK_FALSE(RunDirectory::is_in(folder.path()));  // a folder of runs is none
  CHECK_ERROR(RunDirectory::check_replaceable(folder.path()), usage, "no run of Stein", "nothing was overwritten");
}

TEST_CASE("a removed run takes its folder with it, unless a person's own files are there", "[core][run_directory]") {
  const test::TemporaryDirectory folder;
  const std::vector<std::filesystem::path> run{folder / "run"};
  make_run(folder / "run");
  RunDirectory::remove(run);
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
  make_run(folder / "run");
  write_file_atomically(folder / "run/notes.txt", "mine");
  RunDirectory::remove(run);
  CHECK_FALSE(std::filesystem::exists(folder / "run/config.toml"));
  CHECK(read_file(folder / "run/notes.txt") == "mine");
  CHECK_NOTHROW(RunDirectory::create(folder / "run", Existing::overwrite));  // there was a run beside them
  RunDirectory::remove(std::vector{folder / "none"});
  CHECK_FALSE(std::filesystem::exists(folder / "none"));
  write_file_atomically(folder / "notes.txt", "mine");
  CHECK_ERROR(RunDirectory::remove(std::vector{folder.path()}), usage, "no run of Stein");
}

TEST_CASE("of several runs none is removed where one is not to be", "[core][run_directory]") {
  const test::TemporaryDirectory folder;
  const std::vector<std::filesystem::path> runs{folder / "one", folder / "two"};
  make_run(folder / "one");
  {
    const RunDirectory held = RunDirectory::create(folder / "two");
    CHECK_ERROR(RunDirectory::remove(runs), usage, "another process is at work", "two");
  }
  CHECK(RunDirectory::is_in(folder / "one"));
  std::filesystem::create_directory(folder / "three");
  write_file_atomically(folder / "three/notes.txt", "mine");
  CHECK_ERROR(RunDirectory::remove(std::vector{folder / "one", folder / "three"}), usage, "no run of Stein");
  CHECK(RunDirectory::is_in(folder / "one"));
  CHECK_FALSE(std::filesystem::exists(folder / "three" / RunDirectory::lock_name));
}

TEST_CASE("a run that was cut short anywhere can be overwritten", "[core][run_directory]") {
  const test::TemporaryDirectory folder;
  const std::filesystem::path root = folder / "run";
  const auto start = [&](bool config, bool manifest) {
    const RunDirectory run = RunDirectory::create(root, Existing::overwrite);
    if (config) run.write_config("steps = 10\n");
    if (manifest) run.write_manifest(to_json({.command = "bandit"}));
  };
  start(false, false);  // killed before the configuration: nothing is there yet
  CHECK_NOTHROW(RunDirectory::create(root));
  start(true, false);  // killed before the manifest: it had done nothing
  write_file_atomically(root / ".manifest.json.4711-0.tmp", "half");
  CHECK_ERROR(RunDirectory::open(root), data, "run'", "start it again");
  CHECK_NOTHROW(RunDirectory::create(root));
  CHECK_FALSE(std::filesystem::exists(root / "config.toml"));
  CHECK_FALSE(std::filesystem::exists(root / ".manifest.json.4711-0.tmp"));
  start(true, false);
  write_file_atomically(root / "notes.txt", "mine");
  CHECK_ERROR(RunDirectory::create(root), usage, "--overwrite");
  CHECK_NOTHROW(start(true, true));
  CHECK(read_file(root / "notes.txt") == "mine");
  std::filesystem::remove(root / "config.toml");  // killed while it was being overwritten
  CHECK_NOTHROW(start(true, true));
  write_file_atomically(root / ".summary.json.4711-0.tmp", "half");  // killed while it wrote
  const RunDirectory again = RunDirectory::open(root, Access::write);
  CHECK_FALSE(std::filesystem::exists(root / ".summary.json.4711-0.tmp"));
}

TEST_CASE("a run is written by one at a time, and read by anybody", "[core][run_directory]") {
  const test::TemporaryDirectory folder;
  const RunDirectory reader = make_run(folder / "run");
  {
    const RunDirectory writer = RunDirectory::open(folder / "run", Access::write);
    CHECK_ERROR(RunDirectory::open(folder / "run", Access::write), usage, "another process is at work", "run'");
    CHECK_ERROR(RunDirectory::create(folder / "run", Existing::overwrite), usage, "another process is at work");
    CHECK(read_file(RunDirectory::open(folder / "run").config()) == "steps = 10\n");
  }
  CHECK_NOTHROW(RunDirectory::open(folder / "run", Access::write));
}

TEST_CASE("overwriting never touches a directory that holds no run", "[core][run_directory]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "config.toml", "somebody else's");
  CHECK_ERROR(RunDirectory::create(folder.path(), Existing::overwrite), usage, "no run of Stein",
              "nothing was overwritten");
  CHECK(read_file(folder / "config.toml") == "somebody else's");
}

TEST_CASE("a run directory that cannot be is refused in words", "[core][run_directory]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "file", "");
  CHECK_ERROR(RunDirectory::create(folder / "file"), usage, "exists and is no directory");
  CHECK_ERROR(RunDirectory::create(folder / "file/run"), io, "cannot make the run directory");
  CHECK_ERROR(RunDirectory::create("/proc/stein-run"), io, "/proc/stein-run");
  CHECK_ERROR(RunDirectory::create(""), usage, "must have a name");
  CHECK_ERROR(RunDirectory::open(folder / "none"), data, "there is no run directory", "none");
  CHECK_ERROR(RunDirectory::open(folder.path()), data, "config.toml and manifest.json");
}

TEST_CASE("the manifest says what is needed to repeat a run", "[core][run_manifest]") {
  const std::string text = to_json({.command = "bandit",
                                    .first_seed = 3,
                                    .end_seed = 18'446'744'073'709'551'615u,
                                    .threads = 2,
                                    .device = "cpu",
                                    .data_checksums = {{"agaricus-lepiota.data", "e65d"}},
                                    .preset = "paper",
                                    .result_files = {"decisions.jsonl"},
                                    .protocol = R"({"reward":"paper","temperature":1.0})"});
  const nlohmann::json manifest = nlohmann::json::parse(text);
  CHECK(manifest["program"] == "stein");
  CHECK(manifest["version"] == version());
  CHECK(manifest["commit"] == commit());
  CHECK(manifest["kind"] == "bandit");
  CHECK(manifest["preset"] == "paper");
  CHECK(manifest["result_files"] == nlohmann::json{"decisions.jsonl"});
  CHECK(manifest["seeds"] == nlohmann::json{3, 18'446'744'073'709'551'615u});
  CHECK(manifest["threads"] == 2);
  CHECK(manifest["simd_target"] == simd_target());
  CHECK(manifest["data"]["agaricus-lepiota.data"] == "e65d");
  CHECK(manifest["protocol"]["reward"] == "paper");
  CHECK_ERROR(to_json({.command = "bandit", .protocol = "[1]"}), usage, "JSON object", "[1]");
}

}  // namespace
}  // namespace stein
