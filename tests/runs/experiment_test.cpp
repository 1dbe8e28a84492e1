// Where an experiment's options come from, in which rank, and what is refused.
#include <stein/runs/experiment.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "runs/toy_experiment.h"

using namespace stein;
using runs::OptionSources;
using test::CounterExperiment;

namespace {

const runs::RunKind counter = test::counter_kind();

double stride_of(const OptionSources& sources) {
  return CounterExperiment(counter, sources).counting.stride;
}

}  // namespace

TEST_CASE("a preset ranks above the defaults, the file above it, a setting above all", "[runs][experiment]") {
  const std::string file = "stride = 3.0\n";
  CHECK(stride_of({}) == 1);
  CHECK(stride_of({.preset = "paper"}) == 5);
  CHECK(stride_of({.preset = "paper", .toml = file, .toml_name = "f.toml"}) == 3);
  CHECK(stride_of({.preset = "paper", .toml = file, .toml_name = "f.toml", .settings = {{"stride", "2"}}}) == 2);
  CHECK(CounterExperiment(counter, {.preset = "paper"}).preset() == "paper");
}

TEST_CASE("an unknown preset is refused with the nearest one", "[runs][experiment]") {
  CHECK_ERROR(CounterExperiment(counter, {.preset = "papre"}), usage, "papre", "paper");
}

TEST_CASE("a preset of parts that stand elsewhere is refused with who has it", "[runs][experiment]") {
  runs::RunKind counting = test::counter_kind();
  counting.parts = [] {
    const Preset wooden{.name = "wooden", .description = "", .settings = {}};
    return std::vector<runs::Part>{{.group = "abacus", .name = "roman", .description = "", .presets = {wooden}},
                                   {.group = "abacus", .name = "chinese", .description = "", .presets = {wooden}},
                                   {.group = "abacus", .name = "bare", .description = ""}};
  };
  CHECK_ERROR(CounterExperiment(counting, {.preset = "wooden"}), usage,
              "preset 'wooden' needs abacus roman or abacus chinese; numbers/counter has none of that name");
  CHECK_ERROR(CounterExperiment(counting, {.preset = "iron"}), usage, "has no preset 'iron'", "Known: paper");
}

TEST_CASE("an option of a part that stands elsewhere is refused with who has it", "[runs][experiment]") {
  CHECK_ERROR(CounterExperiment(counter, {.settings = {{"beads", "1"}}}), usage, "'beads' needs abacus roman",
              "numbers/counter has none");
  CHECK_ERROR(CounterExperiment(counter, {.settings = {{"strid", "1"}}}), usage, "unknown option 'strid'", "stride");
}

TEST_CASE("an option that only runs beside this one have is passed over, in settings and in the file",
          "[runs][experiment]") {
  const std::string file = "stride = 3.0\nbeads = [1, 2]\nabacus.frame = \"oak\"\n";
  const std::set<std::string> of_others{"abacus.frame", "beads", "end"};
  CHECK(stride_of({.toml = file, .toml_name = "f.toml", .settings = {{"beads", "1"}}, .of_others = of_others}) == 3);
  CHECK_ERROR(stride_of({.toml = file, .toml_name = "f.toml", .of_others = {"beads"}}), usage, "f.toml, line 3",
              "abacus.frame");
  CHECK_ERROR(stride_of({.settings = {{"strid", "1"}}, .of_others = of_others}), usage, "unknown option 'strid'");
  // Its own options are read and checked whoever else has them.
  CHECK(CounterExperiment(counter, {.settings = {{"end", "7"}}, .of_others = of_others}).counting.end == 7);
  CHECK_ERROR(stride_of({.settings = {{"end", "-7"}}, .of_others = of_others}), usage, "end");
}

TEST_CASE("help of several experiments has the parts of all, each once", "[runs][experiment]") {
  class Longer final : public runs::Experiment {
   public:
    explicit Longer(const runs::RunKind& own) : Experiment(own, {.steps = 1, .checkpoint_every = 1}) {
      add_run([](OptionTable&) {});
      add_part("Patience", [this](OptionTable& table) {
        table("patience", patience_, "how long it may take");
        table.preset("endless", "nobody", {{"patience", "true"}});
      });
    }
    std::string name() const override { return "longer"; }
    std::unique_ptr<runs::Run> make_run(const std::string&) const override { return nullptr; }

   private:
    bool patience_ = false;
  };
  std::vector<std::unique_ptr<runs::Experiment>> beside;
  beside.push_back(std::make_unique<Longer>(counter));
  beside.push_back(std::make_unique<Longer>(counter));
  const std::string help = CounterExperiment(counter, {}).help(beside);
  CHECK_THAT(help, Catch::Contains("\nCounting\n") && Catch::Contains("  paper\n    Counting: Somebody 2018\n") &&
                       Catch::Contains("Patience: nobody"));
  for (const std::string once : {"\nPatience\n", "checkpoint_every", "Patience: nobody"}) {
    CAPTURE(once);
    REQUIRE(help.find(once) != std::string::npos);
    CHECK(help.find(once) == help.rfind(once));
  }
}

TEST_CASE("what a run's file lacks takes the value of older runs, and is refused where none is known",
          "[runs][experiment]") {
  const std::string rest = "seeds = \"0:1\"\nsteps = 10\ncheckpoint_every = 5\nend = 0\n";
  const CounterExperiment older(counter, {.toml = rest + "stride = 2.0\n", .toml_name = "config.toml", .of_run = true});
  CHECK(older.counting.loud);
  CHECK(older.counting.stride == 2);
  CHECK_ERROR(CounterExperiment(counter, {.toml = rest + "loud = false\n", .toml_name = "config.toml", .of_run = true}),
              usage, "'config.toml' has no 'stride'");
  CHECK_FALSE(CounterExperiment(counter, {.toml = rest, .toml_name = "mine.toml"}).counting.loud);  // no run's file
}

TEST_CASE("help shows the defaults whatever was set, the presets, and every part", "[runs][experiment]") {
  const std::string help = CounterExperiment(counter, {.settings = {{"stride", "7"}}}).help();
  CHECK_THAT(help, Catch::Contains("Counting") && Catch::Contains("default 1;") &&
                       Catch::Contains("  paper\n    Counting: Somebody 2018\n") && Catch::Contains("stride=5") &&
                       !Catch::Contains("default 7"));
}

TEST_CASE("two options of one name are refused", "[runs][experiment]") {
  class Twice final : public runs::Experiment {
   public:
    explicit Twice(const runs::RunKind& own) : Experiment(own, {.steps = 1, .checkpoint_every = 1}) {
      add_run([](OptionTable&) {});
      add_part("Seeds", [this](OptionTable& table) { table("seeds", seeds_, "again"); });
    }
    std::string name() const override { return "twice"; }
    std::unique_ptr<runs::Run> make_run(const std::string&) const override { return nullptr; }

   private:
    std::string seeds_;
  };
  CHECK_ERROR(Twice(counter), usage, "'seeds' is described twice");
}

TEST_CASE("seeds are a range of at least one", "[runs][experiment]") {
  CHECK(CounterExperiment(counter, {.settings = {{"seeds", "3:7"}}}).seeds().count() == 4);
  CHECK_ERROR(CounterExperiment(counter, {.settings = {{"seeds", "7:7"}}}), usage, "7:7", "hold no seed");
  CHECK_ERROR(CounterExperiment(counter, {.settings = {{"seeds", "0:99999"}}}), usage, "at most 10000 seeds");
  CHECK_ERROR(CounterExperiment(counter, {.settings = {{"seeds", "-1:2"}}}), usage, "A:B");
}
