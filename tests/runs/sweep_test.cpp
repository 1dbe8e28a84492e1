// Runs that differ in a few options: which there are, and how they go on.
#include <stein/core/atomic_file.h>
#include <stein/core/log.h>
#include <stein/core/read_file.h>
#include <stein/runs/start_run.h>
#include <stein/runs/sweep.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "runs/toy_experiment.h"

using namespace stein;
using runs::Sweep;
using runs::SweepAxis;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Sweep plan(const fs::path& root, const std::vector<std::string>& axes, const runs::OptionSources& sources = {}) {
  set_log_level(LogLevel::error);
  static_cast<void>(test::registered_counter());
  std::vector<SweepAxis> parsed;
  for (const std::string& axis : axes) parsed.push_back(SweepAxis::parse(axis));
  return Sweep::plan("count", sources, parsed, root);
}

std::vector<std::string> names_of(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const fs::path& run : sweep.runs()) names.push_back(run.filename().string());
  return names;
}

bool advance(const Sweep& sweep, const runs::SessionOptions& options = {.quiet = true}) {
  return sweep.advance(options);
}

/// Voices of the runs that were made, in order.
std::vector<std::string> made;

/// Counts in a choir or alone: only choirs have singers, only a solo has a pitch. A mute voice is refused where its run
/// is made.
class SongExperiment final : public runs::Experiment {
 public:
  SongExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
      : Experiment(kind, {.steps = 10, .checkpoint_every = 5}), voice_(sources.look_ahead("voice", "solo")) {
    STEIN_CHECK(voice_ == "solo" || voice_ == "choir" || voice_ == "hum" || voice_ == "mute", "unknown voice '{}'",
                voice_);
    add_run([this](OptionTable& table) { table("voice", voice_, "who sings"); });
    if (voice_ == "choir")
      add_part("Choir", [this](OptionTable& table) { table("singers", singers_, "how many", at_least(1)); });
    if (voice_ == "solo") add_part("Solo", [this](OptionTable& table) { table("pitch", pitch_, "how high"); });
    read(sources);
  }
  std::string name() const override { return "song/" + voice_; }
  std::unique_ptr<runs::Run> make_run(const std::string& data) const override {
    made.push_back(voice_);
    if (voice_ == "mute") fail(ErrorKind::data, "there is nothing to hear in '{}'", data);
    return std::make_unique<test::CounterRun>(seeds(), test::CounterOptions{}, "lines.txt", data);
  }

 private:
  std::string voice_;
  std::int64_t singers_ = 2;
  double pitch_ = 440;
};

/// `sing`, which compares voices, in the sources taken for a comparison as the program does it.
Sweep plan_songs(const fs::path& root, runs::OptionSources sources, std::vector<SweepAxis> more = {}) {
  set_log_level(LogLevel::error);
  static const bool registered = [] {
    runs::RunKind kind = test::counter_kind();
    kind.name = kind.subcommand = "sing";
    kind.compared = "voice";
    kind.make = [](const runs::RunKind& own, const runs::OptionSources& given) -> std::unique_ptr<runs::Experiment> {
      return std::make_unique<SongExperiment>(own, given);
    };
    return runs::register_run_kind(std::move(kind));
  }();
  static_cast<void>(registered);
  const auto compared = SweepAxis::compared("sing", sources);
  if (compared) more.insert(more.begin(), *compared);
  return Sweep::plan("sing", sources, more, root);
}

Json summary_of(const fs::path& run) {
  return Json::parse(read_file(run / "summary.json"));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("values of a sweep are separated by commas, or by semicolons where they have commas", "[runs][sweep]") {
  CHECK(SweepAxis::parse("step_size=0.1,0.2").values == Names{"0.1", "0.2"});
  CHECK(SweepAxis::parse("hidden=50,50;100").values == Names{"50,50", "100"});
  CHECK(SweepAxis::parse("policy=svgd").key == "policy");
  CHECK_ERROR(SweepAxis::parse("step_size"), usage, "--sweep expects key=value");
  CHECK_ERROR(SweepAxis::parse("step_size=0.1,,0.2"), usage, "between the separators");
  CHECK_ERROR(SweepAxis::parse("step_size=0.1,"), usage, "between the separators");
  CHECK_ERROR(SweepAxis::parse("step_size=0.1,0.1"), usage, "0.1 occurs twice");
}

TEST_CASE("a sweep has every combination, the last axis changing first", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  CHECK(names_of(plan(folder / "sweep", {"stride=2,1", "end=3,4,5"})) == Names{"stride=2_end=3", "stride=2_end=4",
                                                                               "stride=2_end=5", "stride=1_end=3",
                                                                               "stride=1_end=4", "stride=1_end=5"});
  CHECK(plan(folder / "sweep", {"stride=2,1", "end=3"}).labels() == Names{"stride=2, end=3", "stride=1, end=3"});
  CHECK(names_of(plan(folder / "sweep", {"seeds=0:1,2:3"})) == Names{"seeds=0:1", "seeds=2:3"});
}

TEST_CASE("a plan that makes no sense is refused before anything is written", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  const auto refuse = [&](const std::vector<std::string>& axes, const std::vector<std::string>& parts,
                          const runs::OptionSources& sources = {}) {
    test::check_error([&] { plan(folder / "sweep", axes, sources); }, ErrorKind::usage, parts);
  };
  refuse({"stride=1,2", "stride=3"}, {"'stride' is swept twice"});
  refuse({"stride=1,2"}, {"--sweep stride", "set as well"}, {.settings = {{"stride", "3"}}});
  refuse({"stride=1,-2"}, {"stride"});
  refuse({"strid=1,2"}, {"unknown option 'strid'", "stride"});
  refuse({"beads=1,2"}, {"'beads' needs abacus roman"});
  std::string many = "seeds=0:1", more = "steps=1";
  for (int i = 2; i <= 101; ++i) many += ",0:" + std::to_string(i), more += "," + std::to_string(i);
  refuse({many, more}, {"at most 10000 runs"});
  refuse({"seeds=0:1," + std::string(250, '0') + "0:2"}, {"may take 255 bytes"});
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a sweep that is run leaves a run for every value, and its summaries in one", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  Sweep sweep = plan(folder / "sweep", {"steps=5,7"}, {.preset = "paper", .settings = {{"seeds", "0:2"}}});
  sweep.write(Existing::refuse);
  CHECK(Sweep::is_in(folder / "sweep"));
  CHECK(advance(Sweep::open(folder / "sweep")));  // all that it needs is on disk
  const Json summary = sweep.summary();
  CHECK(summary["kind"] == "counter");
  CHECK(summary["sweep"] == Json{{"steps", {"5", "7"}}});
  REQUIRE(summary["runs"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& run = summary["runs"][i];
    CHECK(run["settings"] == Json{{"steps", i == 0 ? "5" : "7"}});
    CHECK(run["steps"] == (i == 0 ? 5 : 7));
    CHECK(run["seeds"] == Json{0, 1});
    CHECK(run["preset"] == "paper");
  }
  CHECK_THAT(read_file(folder / "sweep/steps=7/config.toml"), Catch::Contains("stride = 5"));
}

TEST_CASE("what a run would refuse when it begins is known before any has begun", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  const auto sources = [](const std::string& voices) {
    return runs::OptionSources{.settings = {{"voice", voices}}, .data = "songs"};
  };
  Sweep sweep = plan_songs(folder / "sweep", sources("solo,mute,hum"));
  const runs::SessionOptions options{.quiet = true};
  made.clear();
  CHECK_ERROR(sweep.check(options, Existing::refuse), data, "voice=mute: there is nothing to hear in '",
              fs::absolute("songs").string());
  CHECK(made == Names{"solo", "mute"});
  CHECK(fs::is_empty(folder.path()));
  CHECK_ERROR(plan_songs("", sources("hum,mute")).check(options, Existing::refuse), data,
              "voice=mute");  // no folder yet
  CHECK_ERROR(sweep.check({.data = "here", .quiet = true}, Existing::refuse), data, "in 'here'");

  Sweep audible = plan_songs(folder / "sweep", sources("solo,choir,hum"));
  audible.write(Existing::refuse);
  REQUIRE_FALSE(advance(audible, {.stop_after = 7, .quiet = true}));  // in the first
  made.clear();
  audible.check(options, Existing::refuse);
  CHECK(made == Names{"choir", "hum"});
  made.clear();
  audible.check(options, Existing::overwrite);  // begun ones begin anew
  CHECK(made == Names{"solo", "choir", "hum"});
  made.clear();
  runs::SessionOptions stopped = options;
  stopped.stop.request_stop();
  audible.check(stopped, Existing::overwrite);
  CHECK(made.empty());
}

TEST_CASE("an interrupted sweep goes on where it stopped", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  Sweep sweep = plan(folder / "sweep", {"steps=5,20,30"});
  sweep.write(Existing::refuse);
  CHECK_FALSE(advance(sweep, {.stop_after = 7, .quiet = true}));
  CHECK(fs::exists(folder / "sweep/steps=5/summary.json"));
  CHECK(fs::exists(folder / "sweep/steps=20/manifest.json"));
  CHECK_FALSE(fs::exists(folder / "sweep/steps=20/summary.json"));
  CHECK_FALSE(fs::exists(folder / "sweep/steps=30"));
  const auto finished = fs::last_write_time(folder / "sweep/steps=5/summary.json");
  sweep.write(Existing::refuse);  // as the same command does once more
  CHECK(advance(Sweep::open(folder / "sweep")));
  CHECK(fs::last_write_time(folder / "sweep/steps=5/summary.json") == finished);
  const std::string log = read_file(folder / "sweep/steps=20/log.txt");
  CHECK_THAT(log, Catch::Contains("stopped after 7"));  // not begun again
  CHECK_THAT(log, !Catch::Contains("steps=30"));        // lines of the next run are not in this one's log
  CHECK(summary_of(folder / "sweep/steps=30")["counts"]["mean"] == 30.0);
}

TEST_CASE("a sweep that is made longer has the results of one that was planned so", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  const auto sources = [](const char* steps) {
    return runs::OptionSources{.settings = {{"steps", steps}, {"seeds", "0:2"}}};
  };
  Sweep sweep = plan(folder / "sweep", {"loud=true,false"}, sources("6")),
        whole = plan(folder / "whole", {"loud=true,false"}, sources("20"));
  whole.write(Existing::refuse);
  REQUIRE(advance(whole));
  sweep.write(Existing::refuse);
  const bool all = GENERATE(true, false);  // of its runs are finished, or the second one has not begun
  CHECK(advance(sweep, {.stop_after = all ? 100 : 5, .quiet = true}) == all);
  Sweep again = Sweep::open(folder / "sweep");
  again.lengthen({{"steps", "20"}}, Access::write);
  CHECK_FALSE(advance(again, {.stop_after = 13, .quiet = true}));
  CHECK(advance(Sweep::open(folder / "sweep")));  // what was asked for is kept
  for (const char* run : {"loud=true", "loud=false"}) {
    CHECK(summary_of(folder / "sweep" / run)["counts"] == summary_of(folder / "whole" / run)["counts"]);
    CHECK(read_file(folder / "sweep" / run / "metrics.jsonl") == read_file(folder / "whole" / run / "metrics.jsonl"));
    CHECK_THAT(read_file(folder / "sweep" / run / "config.toml"), Catch::Contains("steps = 20"));
  }
  CHECK_ERROR(sweep.write(Existing::refuse), usage, "was made longer: continue it with `stein resume");
  again.lengthen({{"steps", "30"}}, Access::read);  // of a rank that is not the first
  CHECK_THAT(read_file(folder / "sweep/sweep.json"), Catch::Contains("\"steps\": \"20\""));
}

TEST_CASE("a sweep becomes longer and nothing else", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  Sweep sweep = plan(folder / "sweep", {"stride=1,2"}, {.settings = {{"steps", "20"}}});
  sweep.write(Existing::refuse);
  const auto refused = [&](const std::string& key, const std::string& value, const char* because) {
    CHECK_ERROR(Sweep::open(folder / "sweep").lengthen({{key, value}}, Access::write), usage, because);
  };
  refused("steps", "19", "the run stride=1 is planned with steps = 20, steps = 19 asks for fewer");
  refused("stride", "3", "the sweep compares runs with different stride");
  refused("loud", "true", "may become longer and nothing else, got 'loud=true'");
  refused("device", "cuda", "may become longer and nothing else, got 'device=cuda'");
  CHECK_THAT(read_file(folder / "sweep/sweep.json"), !Catch::Contains("longer"));
}

TEST_CASE("of a sweep that is made longer a run that ended by itself stays, and the others go on", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  Sweep sweep = plan(folder / "sweep", {"end=4,0"}, {.settings = {{"steps", "6"}}});
  sweep.write(Existing::refuse);
  REQUIRE(advance(sweep));
  const std::string before = read_file(folder / "sweep/end=4/summary.json");
  Sweep again = Sweep::open(folder / "sweep");
  again.lengthen({{"steps", "9"}}, Access::write);
  CHECK(advance(again));
  CHECK(read_file(folder / "sweep/end=4/summary.json") == before);
  CHECK(summary_of(folder / "sweep/end=0")["counts"]["mean"] == 9.0);
}

TEST_CASE("asked to stop while a run sums up, a sweep begins no other", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  Sweep sweep = plan(folder / "sweep", {"steps=5,7"});
  sweep.write(Existing::refuse);
  test::in_summary = [](const Watch& watch) { watch.stop().request_stop(); };
  const bool done = advance(sweep);
  test::in_summary = nullptr;
  CHECK_FALSE(done);
  CHECK_FALSE(fs::exists(folder / "sweep/steps=7"));
  runs::SessionOptions stopped{.quiet = true};
  stopped.stop.request_stop();
  CHECK_FALSE(advance(sweep, stopped));
  CHECK_FALSE(fs::exists(folder / "sweep/steps=7"));
  CHECK(advance(sweep));
  CHECK(sweep.summary()["runs"].size() == 2);
}

TEST_CASE("asked to stop between two runs, a sweep begins no other", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  Sweep sweep = plan(folder / "sweep", {"steps=5,7"});
  sweep.write(Existing::refuse);
  const test::CounterExperiment first(test::registered_counter(), {.settings = {{"steps", "5"}}});
  REQUIRE(runs::start_run(first, folder / "sweep/steps=5", Existing::refuse, {.quiet = true}).finished);
  runs::SessionOptions stopped{.quiet = true};
  stopped.stop.request_stop();
  CHECK_FALSE(advance(sweep, stopped));
  CHECK_FALSE(fs::exists(folder / "sweep/steps=7"));
}

TEST_CASE("runs of a sweep find the data that it was planned with, also those that begin later", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  plan(folder / "sweep", {"steps=5,7,9"}, {.data = "here"}).write(Existing::refuse);
  CHECK_FALSE(advance(Sweep::open(folder / "sweep"), {.stop_after = 5, .quiet = true}));
  CHECK_FALSE(advance(Sweep::open(folder / "sweep"), {.stop_after = 7, .quiet = true}));
  CHECK(advance(Sweep::open(folder / "sweep"), {.data = "there", .quiet = true}));
  CHECK(summary_of(folder / "sweep/steps=5")["from"] == fs::absolute("here").string());
  CHECK(summary_of(folder / "sweep/steps=7")["from"] == fs::absolute("here").string());
  CHECK(summary_of(folder / "sweep/steps=9")["from"] == "there");
  plan(folder / "sweep", {"steps=5,7,9"}, {.data = "elsewhere"}).write(Existing::refuse);  // the same sweep
  CHECK_THAT(read_file(folder / "sweep/sweep.json"), Catch::Contains(fs::absolute("elsewhere").string()));
}

TEST_CASE("a run that diverges stops no other, and is not tried again", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  Sweep sweep = plan(folder / "sweep", {"breaks_at=3,0"});
  sweep.write(Existing::refuse);
  CHECK(advance(sweep));
  CHECK(Sweep::diverged(folder / "sweep/breaks_at=3"));
  CHECK_FALSE(Sweep::diverged(folder / "sweep/breaks_at=0"));
  CHECK(fs::exists(folder / "sweep/breaks_at=0/summary.json"));
  CHECK_FALSE(fs::exists(folder / "sweep/breaks_at=3/summary.json"));
  const Json summary = sweep.summary();
  REQUIRE(summary["runs"].size() == 2);
  CHECK_THAT(summary["runs"][0]["diverged"].get<std::string>(), Catch::Contains("seed 0 lost count at 3"));
  CHECK(summary["runs"][1]["counts"]["mean"] == 10.0);
  const std::string log = read_file(folder / "sweep/breaks_at=3/log.txt");
  CHECK(advance(sweep));
  CHECK(read_file(folder / "sweep/breaks_at=3/log.txt") == log);
}

TEST_CASE("a damaged summary is written again, and one that cannot be is a data error", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  Sweep sweep = plan(folder / "sweep", {"steps=5,7"});
  sweep.write(Existing::refuse);
  CHECK(advance(sweep));
  write_file_atomically(folder / "sweep/steps=5/summary.json", "{\"steps\": 5");
  CHECK_ERROR(sweep.summary(), data, "summary.json' is no JSON object");
  CHECK(advance(sweep));
  CHECK(sweep.summary()["runs"][0]["counts"]["mean"] == 5.0);
}

TEST_CASE("another sweep in the folder is refused, or replaced with all its runs", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  const auto first = [&] { return plan(folder / "sweep", {"steps=5,7"}); };
  const auto second = [&] { return plan(folder / "sweep", {"steps=7,9"}); };
  first().write(Existing::refuse);
  CHECK(advance(first()));
  CHECK_ERROR(second().write(Existing::refuse), usage, "holds another sweep", "--overwrite");
  Sweep longer = plan(folder / "sweep", {"steps=5,7,9"});
  CHECK_ERROR(longer.write(Existing::refuse), usage, "holds another sweep");
  Sweep broken = plan(folder / "sweep", {"steps=5,7"}, {.settings = {{"breaks_at", "3"}}});
  CHECK_ERROR(broken.write(Existing::refuse), usage, "holds another sweep");
  fs::create_directory(folder / "sweep/steps=9");
  write_file_atomically(folder / "sweep/steps=9/mine.txt", "mine");
  CHECK_ERROR(second().write(Existing::overwrite), usage, "steps=9", "no run of Stein");
  CHECK(fs::exists(folder / "sweep/steps=5/summary.json"));  // nothing went
  fs::remove_all(folder / "sweep/steps=9");
  write_file_atomically(first().page(), "the earlier report");
  second().write(Existing::overwrite);
  CHECK_FALSE(fs::exists(first().page()));
  CHECK_FALSE(fs::exists(folder / "sweep/steps=5"));
  CHECK_FALSE(fs::exists(folder / "sweep/steps=7/summary.json"));
  CHECK(names_of(Sweep::open(folder / "sweep")) == Names{"steps=7", "steps=9"});
  write_file_atomically(folder / "sweep/sweep.json", "{");  // damaged
  CHECK_ERROR(first().write(Existing::refuse), data, "sweep.json");
  first().write(Existing::overwrite);
  CHECK(names_of(Sweep::open(folder / "sweep")) == Names{"steps=5", "steps=7"});
}

TEST_CASE("a sweep is not touched while another is at work on it or on one of its runs", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  const auto sweep = [&] { return plan(folder / "sweep", {"steps=5,7"}); };
  {
    Sweep held = sweep();
    held.write(Existing::refuse);
    for (const Existing existing : {Existing::refuse, Existing::overwrite})
      CHECK_ERROR(sweep().write(existing), usage, "another process is at work on the sweep");
    CHECK_ERROR(Sweep::open(folder / "sweep", Access::write), usage, "another process is at work on the sweep");
    CHECK(advance(held));
  }
  const Sweep resumed = Sweep::open(folder / "sweep", Access::write);
  CHECK_ERROR(sweep().write(Existing::refuse), usage, "another process is at work on the sweep");
  CHECK(Sweep::open(folder / "sweep").size() == 2);  // to look at it is free
  const test::TemporaryDirectory other;
  plan(other / "sweep", {"steps=5,7"}).write(Existing::refuse);
  CHECK(advance(Sweep::open(other / "sweep")));
  const RunDirectory served = RunDirectory::open(other / "sweep/steps=7", Access::write);
  CHECK_ERROR(plan(other / "sweep", {"steps=5,7"}).write(Existing::overwrite), usage, "another process is at work",
              "steps=7");
  CHECK(fs::exists(other / "sweep/steps=5/summary.json"));
}

TEST_CASE("a person's files in the run of a sweep stay where it is replaced", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  const auto sweep = [&] { return plan(folder / "sweep", {"steps=5,7"}); };
  sweep().write(Existing::refuse);
  CHECK(advance(sweep()));
  write_file_atomically(folder / "sweep/steps=5/mine.txt", "mine");
  sweep().write(Existing::overwrite);
  CHECK_FALSE(fs::exists(folder / "sweep/steps=5/summary.json"));
  CHECK(advance(sweep()));
  CHECK(fs::exists(folder / "sweep/steps=5/summary.json"));
  CHECK(read_file(folder / "sweep/steps=5/mine.txt") == "mine");
}

TEST_CASE("a folder without a sweep, or with a broken plan, is an error in words", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  CHECK_FALSE(Sweep::is_in(folder.path()));
  CHECK_ERROR(Sweep::open(folder.path()), data, "there is no sweep");
  write_file_atomically(folder / "sweep.json", GENERATE("{", "[]", "{\"kind\": \"counter\"}", "{\"kind\": 3}",
                                                        R"({"kind": "counter", "axes": [{"key": "end", "values": []}],
                                                              "runs": [{"directory": "a", "settings": {}, "config": ""}]})"));
  CHECK_ERROR(Sweep::open(folder.path()), data, "sweep.json");
  const test::TemporaryDirectory other;
  write_file_atomically(other / "mine.txt", "mine");
  CHECK_ERROR(plan(other.path(), {"steps=5,7"}).write(Existing::overwrite), usage, "files that are no sweep");
}

TEST_CASE("runs of two kinds have no table", "[runs][sweep]") {
  runs::RunKind small = test::counter_kind(), large = test::counter_kind();
  small.name = "small", small.subcommand = large.subcommand = "weigh", large.name = "large";
  small.recognises = [](const runs::OptionSources& sources) { return sources.look_ahead("steps", "") == "5"; };
  large.recognises = [](const runs::OptionSources& sources) { return sources.look_ahead("steps", "") == "7"; };
  static const bool registered = runs::register_run_kind(small) && runs::register_run_kind(large);
  REQUIRE(registered);
  CHECK_ERROR(Sweep::plan("weigh", {}, {SweepAxis::parse("steps=5,7")}, "none"), usage, "kinds small and large");
  CHECK(Sweep::plan("weigh", {}, {SweepAxis::parse("steps=7")}, "none").size() == 1);
}

TEST_CASE("several values of the option that a kind compares are a sweep over it", "[runs][sweep][compared]") {
  const test::TemporaryDirectory folder;
  Sweep songs = plan_songs(folder / "songs", {.settings = {{"voice", "hum"}, {"steps", "3"}, {"voice", "solo,choir"}}});
  CHECK(songs.axes() == std::vector{SweepAxis{.key = "voice", .values = {"solo", "choir"}}});
  CHECK(names_of(songs) == Names{"voice=solo", "voice=choir"});
  CHECK(songs.labels() == Names{"solo", "choir"});
  CHECK(plan_songs(folder / "songs", {.toml = "voice = \"choir,hum\"\n", .toml_name = "f.toml"}).labels() ==
        Names{"choir", "hum"});
  CHECK(plan_songs(folder / "songs", {.settings = {{"voice", "hum,solo"}}}, {SweepAxis::parse("steps=3,4")}).labels() ==
        Names{"hum, steps=3", "hum, steps=4", "solo, steps=3", "solo, steps=4"});
  runs::OptionSources one{.settings = {{"voice", "hum"}}};
  CHECK_FALSE(SweepAxis::compared("sing", one).has_value());
  CHECK(one.settings.size() == 1);
  runs::OptionSources other{.settings = {{"voice", "hum,solo"}}};  // of a kind that compares nothing
  CHECK_FALSE(SweepAxis::compared("count", other).has_value());
}

TEST_CASE("a comparison that makes no sense is refused", "[runs][sweep][compared]") {
  const test::TemporaryDirectory folder;
  const auto refuse = [&](const std::string& voices, const std::vector<std::string>& parts) {
    test::check_error(
        [&] {
          plan_songs(folder / "songs", {.settings = {{"voice", voices}}});
        },
        ErrorKind::usage, parts);
  };
  refuse("hum,solo,hum", {"option 'voice' names 'hum' twice"});
  refuse("hum,", {"names between commas", "'hum,'"});
  refuse("hum,bass", {"unknown voice 'bass'"});
  test::check_error(
      [&] {
        plan_songs(folder / "songs", {.settings = {{"voice", "hum,solo"}}}, {SweepAxis::parse("voice=choir")});
      },
      ErrorKind::usage, {"'voice' is swept twice"});
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("an option that only some runs of a sweep have is for them, and one that none has is refused",
          "[runs][sweep][compared]") {
  const test::TemporaryDirectory folder;
  Sweep songs = plan_songs(
      folder / "songs",
      {.toml = "singers = 8\n", .toml_name = "f.toml", .settings = {{"voice", "solo,choir,hum"}, {"pitch", "220"}}});
  songs.write(Existing::refuse);
  CHECK(advance(Sweep::open(folder / "songs")));
  const auto config_of = [&](const std::string& voice) {
    return read_file(folder / "songs" / ("voice=" + voice) / "config.toml");
  };
  CHECK_THAT(config_of("solo"), Catch::Contains("pitch = 220") && !Catch::Contains("singers"));
  CHECK_THAT(config_of("choir"), Catch::Contains("singers = 8") && !Catch::Contains("pitch"));
  CHECK_THAT(config_of("hum"), !Catch::Contains("singers") && !Catch::Contains("pitch"));
  CHECK(plan_songs(folder / "swept", {.settings = {{"pitch", "220"}}}, {SweepAxis::parse("voice=hum,solo")}).size() ==
        2);

  const auto refuse = [&](const runs::OptionSources& sources, const std::vector<SweepAxis>& axes,
                          const std::vector<std::string>& parts) {
    test::check_error([&] { plan_songs(folder / "none", sources, axes); }, ErrorKind::usage, parts);
  };
  refuse({.settings = {{"voice", "hum,solo"}, {"pitch", "220"}, {"beads", "3"}}}, {},
         {"option 'beads' needs abacus roman; song/hum has none"});
  refuse({.settings = {{"voice", "hum,solo"}, {"pitch", "220"}, {"pich", "3"}}}, {}, {"unknown option 'pich'"});
  refuse({.toml = "\nsingers = 8\n", .toml_name = "f.toml", .settings = {{"voice", "hum,solo"}}}, {},
         {"f.toml, line 2", "unknown option 'singers'"});
  refuse({.settings = {{"voice", "hum,choir"}, {"singers", "0"}}}, {}, {"singers"});
  // Two runs of one voice that differ in nothing would be called different.
  refuse({.settings = {{"voice", "hum,solo"}}}, {SweepAxis::parse("pitch=1,2")}, {"unknown option 'pitch'"});
}

TEST_CASE("a sweep without a folder takes one that is named after all of it", "[runs][sweep][compared]") {
  const test::TemporaryDirectory folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const auto claimed = [](const std::string& voices) {
    Sweep songs = plan_songs("", {.settings = {{"voice", voices}}});
    songs.claim_directory();
    songs.write(Existing::refuse);
    return songs.directory().string();
  };
  CHECK(claimed("solo,choir") == "runs/song-solo+choir-1");
  CHECK(claimed("solo,choir") == "runs/song-solo+choir-2");
  CHECK(claimed("hum,solo") == "runs/song-hum+solo-1");
  CHECK(Sweep::open("runs/song-hum+solo-1").labels() == Names{"hum", "solo"});
  fs::current_path(before);
}
