#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/core/parallel.h>
#include <stein/core/run_manifest.h>
#include <stein/distributed/agree.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/same_on_all_ranks.h>
#include <stein/runs/start_run.h>
#include <stein/runs/sweep.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace stein::runs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

RunManifest manifest_of(const Experiment& experiment, const Run& run, const SessionOptions& options) {
  const std::string& data = options.data;
  Json protocol = run.protocol();
  if (experiment.kind().reads_data) protocol["data_folder"] = data.empty() ? "" : fs::absolute(data).string();
  std::map<std::string, std::string> settings;
  for (const Option& option : experiment.options().options()) settings[option.name] = option.text();
  return {.command = experiment.kind().subcommand,
          .kind = experiment.kind().name,
          .first_seed = experiment.seeds().first,
          .end_seed = experiment.seeds().end,
          .threads = thread_count(),
          .ranks = options.ranks->size(),
          .device = experiment.options().contains("device") ? experiment.options().get("device") : "cpu",
          .data_checksums = run.data_checksums(),
          .preset = experiment.preset(),
          .result_files = experiment.kind().files(),
          .settings = std::move(settings),
          .protocol = protocol.dump()};
}

/// Throws Error(usage) where a run would take the place of a sweep, or of the run that it begins with.
void check_place(const Experiment& experiment, const fs::path& out) {
  STEIN_CHECK(
      out.empty() || !Sweep::is_in(out) || RunDirectory::is_in(out),
      "'{}' holds a comparison or sweep of {}: nothing was overwritten, choose another --out; there --overwrite "
      "replaces its runs by those of another comparison or sweep, not by a single run",
      out.string(), counted(std::ssize(Sweep::open(out).runs()), "run"));
  if (!experiment.options().contains("from_run")) return;
  const std::string from = experiment.options().get("from_run");
  std::error_code ignored;
  STEIN_CHECK(from.empty() || !fs::equivalent(from, out, ignored),
              "'{}' holds the run whose weights this one begins with: choose another place with --out", out.string());
}

}  // namespace

fs::path claim_directory(std::string name) {
  std::ranges::replace(name, '/', '-');
  std::error_code error;
  fs::create_directories("runs", error);
  for (int number = 1; !error; ++number) {
    const fs::path path = fs::path("runs") / fmt::format("{}-{}", name, number);
    if (fs::create_directory(path, error)) return path;
  }
  fail(ErrorKind::io, "cannot make a directory in 'runs': {}; choose a place with --out", error.message());
}

SessionResult start_run(const Experiment& experiment, const fs::path& out, Existing existing,
                        const SessionOptions& options) {
  distributed::Communicator& ranks = *options.ranks;
  std::unique_ptr<Run> run;
  distributed::agree(ranks, [&] {
    check_place(experiment, out);
    run = experiment.make_run(options.data);
  });
  check_same_on_all(ranks, experiment, *run, options.stop_after);
  std::optional<RunDirectory> directory;
  distributed::agree(ranks, [&] {
    if (!ranks.is_root()) return;
    directory = RunDirectory::create(out.empty() ? claim_directory(experiment.name()) : out, existing, all_files());
    directory->write_config(to_toml(experiment.options()));
    directory->write_manifest(to_json(manifest_of(experiment, *run, options)));
    open_log_file(directory->log());
  });
  const fs::path root = ranks.broadcast(directory ? directory->root().string() : "");
  distributed::agree(ranks, [&] {
    if (!ranks.is_root()) directory = RunDirectory::open(root);
  });
  return go_on(experiment, *run, *directory, std::nullopt, options);
}

}  // namespace stein::runs
