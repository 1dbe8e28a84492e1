// Runs that go on on another device than they were on.
#include <stein/core/log.h>
#include <stein/core/read_file.h>
#include <stein/runs/resume_run.h>
#include <stein/runs/start_run.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "runs/toy_experiment.h"

using namespace stein;
using runs::SessionOptions;
using runs::SessionResult;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Counts on a device.
class MovingExperiment final : public runs::Experiment {
 public:
  MovingExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
      : Experiment(kind, {.steps = 10, .checkpoint_every = 5}) {
    add_run([this](OptionTable& table) { table("device", device_, "where it counts"); });
    read(sources);
  }
  std::string name() const override { return "numbers/mover"; }
  std::unique_ptr<runs::Run> make_run(const std::string&) const override {
    return std::make_unique<test::CounterRun>(seeds());
  }

 private:
  std::string device_ = "cpu";
};

const runs::RunKind& mover() {
  static const bool registered = [] {
    runs::RunKind kind = test::counter_kind();
    kind.name = "mover", kind.subcommand = "move", kind.log_files = {};
    kind.parts = [] { return std::vector<runs::Part>{}; };
    kind.make = [](const runs::RunKind& of, const runs::OptionSources& sources) -> std::unique_ptr<runs::Experiment> {
      return std::make_unique<MovingExperiment>(of, sources);
    };
    return runs::register_run_kind(std::move(kind));
  }();
  static_cast<void>(registered);
  return runs::run_kinds().at("mover");
}

void start_on(const std::string& device, const fs::path& root, std::int64_t stop_after) {
  set_log_level(LogLevel::error);
  const MovingExperiment experiment(mover(), {.settings = {{"device", device}}});
  CHECK_FALSE(runs::start_run(experiment, root, Existing::refuse, {.stop_after = stop_after, .quiet = true}).finished);
}

SessionResult resume(const fs::path& root, const Settings& settings = {}, std::int64_t stop_after = 0) {
  return runs::resume_run(RunDirectory::open(root, Access::write), settings, {.stop_after = stop_after, .quiet = true});
}

Json manifest_of(const fs::path& root) {
  return Json::parse(read_file(root / "manifest.json"));
}

}  // namespace

TEST_CASE("a run goes on on another device, which its manifest notes with the step, once", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start_on("cuda", folder / "run", 2);
  CHECK(manifest_of(folder / "run")["device"] == "cuda");
  resume(folder / "run", {}, 3);
  CHECK_FALSE(manifest_of(folder / "run").contains("later_devices"));
  resume(folder / "run", {{"device", "cpu"}}, 4);
  resume(folder / "run", {}, 6);
  resume(folder / "run", {{"device", "cpu"}}, 7);
  CHECK(manifest_of(folder / "run")["later_devices"] == Json{{{"device", "cpu"}, {"steps", 3}}});
  CHECK(manifest_of(folder / "run")["settings"]["device"] == "cuda");  // what it began with
  CHECK_THAT(read_file(folder / "run/config.toml"), Catch::Contains("device = 'cpu'"));
  CHECK_THAT(read_file(folder / "run/log.txt"), Catch::Contains("goes on on cpu where it was on cuda"));
  CHECK(resume(folder / "run", {{"device", "cuda:1"}}).finished);
  CHECK(manifest_of(folder / "run")["later_devices"] ==
        Json{{{"device", "cpu"}, {"steps", 3}}, {{"device", "cuda:1"}, {"steps", 7}}});
  CHECK(resume(folder / "run", {{"device", "cpu"}}).finished);  // it is, and stays as it is
  CHECK(manifest_of(folder / "run")["later_devices"].size() == 2);
}

TEST_CASE("a run that goes on elsewhere may be made longer at the same time", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start_on("cpu", folder / "run", 2);
  const Json summary = resume(folder / "run", {{"steps", "12"}, {"device", "cuda"}}).summary;
  CHECK(summary["steps"] == 12);
  CHECK(manifest_of(folder / "run")["later_devices"] == Json{{{"device", "cuda"}, {"steps", 2}}});
}

TEST_CASE("runs of kinds without a device go on on the processor", "[runs][session]") {
  const test::TemporaryDirectory folder;
  set_log_level(LogLevel::error);
  const test::CounterExperiment experiment(test::registered_counter(), {});
  runs::start_run(experiment, folder / "run", Existing::refuse, {.stop_after = 2, .quiet = true});
  CHECK_ERROR(resume(folder / "run", {{"device", "cuda"}}), usage,
              "a run of `stein count` is on the processor alone, got device=cuda");
  CHECK_ERROR(resume(folder / "run", {{"seeds", "0:2"}}), usage, "may change its steps and nothing else");
  CHECK(resume(folder / "run", {{"device", "cpu"}}).finished);
}

TEST_CASE("a manifest whose later devices are none is refused", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start_on("cpu", folder / "run", 2);
  const RunDirectory directory = RunDirectory::open(folder / "run");
  Json manifest = manifest_of(folder / "run");
  manifest["later_devices"] = Json{"cuda"};
  directory.write_manifest(manifest.dump());
  CHECK_ERROR(resume(folder / "run"), data, "expected a list of devices for 'later_devices'");
}
