// Settings of a run on disk, compared by key.
#include <stein/core/run_manifest.h>
#include <stein/runs/recorded_settings.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "runs/toy_experiment.h"

using namespace stein;
using test::CounterExperiment;

namespace {

const runs::RunKind kind = test::counter_kind();

/// Checks an experiment with `now` against a checkpoint whose settings are `before`.
void check(const std::string& before, std::vector<std::pair<std::string, std::string>> now) {
  const test::TemporaryDirectory folder;
  Snapshot state;
  state.put_text("settings", before);
  runs::check_settings(CounterExperiment(kind, {.settings = std::move(now)}), state,
                       RunDirectory::create(folder / "run"));
}

const std::string same = "seeds = \"0:1\"\ncheckpoint_every = 5\nend = 0\n";

}  // namespace

TEST_CASE("order, notation and length of a run may differ from its checkpoint", "[runs][settings]") {
  CHECK_NOTHROW(check("stride = 1\nloud = false\n" + same, {{"steps", "99"}}));
  CHECK_NOTHROW(check(same + "loud = false\nstride = 1.0\n", {}));
}

TEST_CASE("a changed value is refused by name, with both values", "[runs][settings]") {
  CHECK_ERROR(check(same + "loud = false\nstride = 1.0\n", {{"stride", "2"}}), usage, "config.toml", "`stride = 1`",
              "`stride = 2`", "stein count --config");
  CHECK_ERROR(check(same + "loud = false\nstride = 1.0\n", {{"seeds", "0:2"}}), usage, "seeds = 0:1", "seeds = 0:2");
}

TEST_CASE("an option that is newer than the checkpoint counts as its value in older runs", "[runs][settings]") {
  CHECK_NOTHROW(check(same + "stride = 1.0\n", {{"loud", "true"}}));
  CHECK_ERROR(check(same + "stride = 1.0\n", {}), usage, "`loud = true`", "`loud = false`");
  CHECK_ERROR(check(same + "loud = false\n", {}), usage, "before there was an option 'stride'");
}

TEST_CASE("an option that is no more is refused by name", "[runs][settings]") {
  CHECK_ERROR(check(same + "stride = 1.0\nloud = false\nabacus = \"roman\"\n", {}), data, "the checkpoint in '",
              "abacus = roman", "does not have");
}

TEST_CASE("of a file and a checkpoint that differ, the one that is not as the run began is named", "[runs][settings]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  Snapshot state;
  state.put_text("settings", same + "loud = false\nstride = 2.0\n");
  const auto began_with = [&](const std::string& stride) {
    directory.write_manifest(to_json({.command = "count", .settings = {{"stride", stride}}}));
  };
  const auto go_on = [&] { runs::check_settings(CounterExperiment(kind, {}), state, directory); };  // stride = 1
  began_with("1");
  CHECK_ERROR(go_on(), data, "run/checkpoints' is another run's: it has `stride = 2`", "began with `stride = 1`");
  began_with("2");
  CHECK_ERROR(go_on(), usage, "config.toml' was changed since the run began: that has `stride = 2`",
              "the file `stride = 1`");
  for (const char* unknown : {"3", ""}) {
    began_with(unknown);
    CHECK_ERROR(go_on(), usage, "config.toml' was changed since the run began, or the checkpoint is another run's");
  }
  directory.write_manifest(to_json({.command = "count"}));  // of an earlier version
  CHECK_ERROR(go_on(), usage, "config.toml' was changed since the run began, or the checkpoint is another run's");
  directory.write_manifest(R"({"settings": {"stride": 1}})");
  CHECK_ERROR(go_on(), data, "expected an object of texts for 'settings'");
}

TEST_CASE("a checkpoint without settings is none that a run wrote", "[runs][settings]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  CHECK_ERROR(runs::check_settings(CounterExperiment(kind, {}), Snapshot(), directory), data,
              "run/checkpoints' says nothing of the settings of a run");
}

TEST_CASE("saved settings are those that a check accepts", "[runs][settings]") {
  const test::TemporaryDirectory folder;
  const CounterExperiment experiment(kind, {.settings = {{"stride", "0.1"}, {"steps", "7"}}});
  Snapshot state;
  runs::save_settings(experiment, state);
  CHECK(state.get_text("settings").find("steps =") == std::string::npos);
  CHECK_NOTHROW(runs::check_settings(experiment, state, RunDirectory::create(folder / "run")));
}
