// Which kind of run a subcommand means, and what a kind must have.
#include <stein/core/run_manifest.h>
#include <stein/runs/measured.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/run_kind.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "runs/toy_experiment.h"

using namespace stein;
using runs::OptionSources;
using runs::RunKind;

namespace {

RunKind whole_kind(const std::string& name) {
  RunKind kind = test::counter_kind();
  kind.name = name;
  kind.subcommand = "classify";
  return kind;
}

RunKind kind_of_data(const std::string& name, const std::string& ending) {
  RunKind kind = whole_kind(name);
  kind.recognises = [ending](const OptionSources& sources) { return sources.data.ends_with(ending); };
  return kind;
}

const bool registered =
    runs::register_run_kind(kind_of_data("images", ".idx")) && runs::register_run_kind(kind_of_data("tables", ".csv"));

}  // namespace

TEST_CASE("kinds that share a subcommand are told apart by their data", "[runs][kind]") {
  REQUIRE(registered);
  CHECK(runs::kinds_of("classify").size() == 2);
  CHECK(runs::kind_of("classify", {.data = "digits.idx"}).name == "images");
  CHECK(runs::kind_of("classify", {.data = "iris.csv"}).name == "tables");
  CHECK_ERROR(runs::kind_of("classify", {.data = "poem.txt"}), usage, "stein classify", "images, tables");
  CHECK_ERROR(runs::kind_of("sundial", {}), usage, "no subcommand 'sundial'");
}

TEST_CASE("the kind of a run on disk is the manifest's, or its subcommand's in older runs", "[runs][kind]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  directory.write_manifest(to_json({.command = "classify", .kind = "tables"}));
  CHECK(runs::kind_of(directory).name == "tables");
  directory.write_manifest(R"({"command": "images"})");
  CHECK(runs::kind_of(directory).name == "images");
  directory.write_manifest(R"({"command": "sundial"})");
  CHECK_ERROR(runs::kind_of(directory), data, "kind 'sundial'", "images", "tables");
}

TEST_CASE("a manifest that is damaged is a data error that names the field", "[runs][kind]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  const auto [text, expected] = GENERATE(table<std::string, std::string>(
      {{R"({"kind": 3})", "expected a text for 'kind', found 3"},
       {R"({"preset": null})", "expected a text for 'preset', found null"},
       {R"({"later_commits": "abc"})", R"(expected a list of texts for 'later_commits', found "abc")"},
       {R"({"later_commits": ["abc", 1]})", "expected a list of texts for 'later_commits'"},
       {R"({"protocol": []})", "expected an object for 'protocol', found []"},
       {R"({"protocol": {"data_folder": 5}})", "expected a text for 'data_folder', found 5"},
       {"[]", "is no JSON object"},
       {"{", "is no JSON object"}}));
  directory.write_manifest(text);
  CHECK_ERROR(runs::read_manifest(directory), data, "manifest.json", expected);
}

TEST_CASE("a kind that lacks something is refused when it is registered", "[runs][kind]") {
  RunKind nameless = whole_kind("");
  CHECK_ERROR(runs::register_run_kind(nameless), usage, "needs a name");
  RunKind speechless = whole_kind("speechless");
  speechless.readable = nullptr;
  CHECK_ERROR(runs::register_run_kind(speechless), usage, "'speechless' needs make, parts and readable");
  RunKind plain = whole_kind("plain");
  plain.report.script = "";
  CHECK_ERROR(runs::register_run_kind(plain), usage, "report of the kind of run 'plain'");
  CHECK_ERROR(runs::register_run_kind(whole_kind("images")), usage, "'images' is registered twice");
}
