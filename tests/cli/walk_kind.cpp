// A kind of run that the program does not have: a walk towards the mean of a stream of unknown length, with a
// validation score that can stop it early. tests/cli/run_kind_test.cpp starts, kills, resumes, evaluates, sweeps and
// reports it.
#include <stein/core/rng.h>
#include <stein/runs/measured.h>
#include <stein/runs/repetitions.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/validated_repetition.h>

#include <chrono>
#include <cmath>
#include <thread>

namespace stein::test {
namespace {

using Json = nlohmann::ordered_json;

struct WalkOptions {
  double step_size = 0.1;
  std::int64_t length = 1000;
  std::int64_t pause = 0;
  bool smooth = false;
  runs::Validation::Options validation{};

  template <class V>
  void describe(V& v) {
    v("step_size", step_size, "share of the way to each number of the stream", probability);
    v("length", length, "numbers in the stream, which nobody is told", between(1, 1e6));
    v("pause", pause, "between two steps, for those who want to interrupt", between(0, 1000), "microseconds");
    v("smooth", smooth, "says nothing: an option that runs of an older version lack").in_older_runs("false");
    validation.describe(v);
    v.preset("slow", "a tenth of the usual step", {{"step_size", "0.01"}});
  }
};

class Walker final : public runs::ValidatedRepetition {
 public:
  Walker(const WalkOptions& options, std::uint64_t seed)
      : ValidatedRepetition(options.validation, runs::Better::lower), options_(options), seed_(seed) {}

  double place() const { return place_; }
  std::uint64_t seed() const override { return seed_; }
  std::int64_t steps_done() const override { return steps_; }

 private:
  void learn(std::int64_t until, const StopToken& stop, runs::Records& records) override {
    for (int k = 0; k < 16 && steps_ < until && !out_of_data() && !stop.stop_requested(); ++k) {
      Draws draws({.seed = seed_, .step = static_cast<std::uint64_t>(steps_), .stream = Stream::test}, 0);
      place_ += options_.step_size * (1 + draws.normal() - place_);
      ++steps_;
      std::this_thread::sleep_for(std::chrono::microseconds(options_.pause));
      if (runs::is_recorded(steps_)) records.number(steps_, "place", place_);
    }
  }
  double validate() override { return std::abs(place_ - 1); }
  bool out_of_data() const override { return steps_ >= options_.length; }
  void save_model(Snapshot& snapshot) const override { snapshot.put("place", place_); }
  void restore_model(const Snapshot& snapshot) override { place_ = snapshot.get_scalar<double>("place"); }
  void save_training(Snapshot& snapshot) const override { snapshot.put("steps", steps_); }
  void restore_training(const Snapshot& snapshot) override { steps_ = snapshot.get_scalar<std::int64_t>("steps"); }

  WalkOptions options_;
  std::uint64_t seed_;
  double place_ = 0;
  std::int64_t steps_ = 0;
};

class WalkRun final : public runs::RunOf<Walker> {
 public:
  using RunOf::RunOf;
  std::string source() const override { return "made by a test"; }
  Json protocol() const override { return {{"env", "line"}}; }
  Json summarize(const Watch&) override {
    std::vector<double> places;
    for (std::int64_t i = 0; i < count(); ++i) places.push_back(repetition(i).place());
    return {{"env", "line"}, {"place", runs::measured(places)}};
  }
};

class WalkExperiment final : public runs::Experiment {
 public:
  WalkExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
      : Experiment(kind, {.steps = 0, .checkpoint_every = 50, .may_end = true}) {
    add_run([](OptionTable&) {});
    add_part("Walk", [this](OptionTable& table) { options_.describe(table); });
    read(sources);
  }
  std::string name() const override { return "line/walk"; }
  std::unique_ptr<runs::Run> make_run(const std::string&) const override {
    return std::make_unique<WalkRun>(seeds(),
                                     [&](std::uint64_t seed) { return std::make_unique<Walker>(options_, seed); });
  }

 private:
  WalkOptions options_;
};

class WalkEvaluation final : public runs::RunActionOn<WalkExperiment, WalkRun> {
 public:
  void describe(OptionTable& table) override {
    table("target", target_, "where the walk should be");
    table("best", best_, "look at the best state by validation instead of the last");
  }
  std::string readable(const Json& result) const override {
    return runs::summary_line("distance", runs::mean_and_deviation(result["distance"]));
  }

 private:
  Json perform_on(const WalkExperiment&, WalkRun& run, const RunDirectory&, const runs::Console&) override {
    std::vector<double> distances;
    for (std::int64_t i = 0; i < run.count(); ++i) {
      if (best_) run.repetition(i).restore_best();
      distances.push_back(std::abs(run.repetition(i).place() - target_));
    }
    return {{"distance", runs::measured(distances)}};
  }
  double target_ = 1;
  bool best_ = false;
};

std::vector<runs::Part> walk_parts() {
  WalkOptions options;
  return {runs::make_part("walk", "", "", OptionTable::of(options))};
}

const char* const script = R"((tools) => {
  const section = (group, key) => [
    tools.element("p", {class: "lead"}, tools.counts(group.runs)),
    tools.table(group.runs, "run", [["place", (s) => [tools.format(s.place.mean, 3)]]], () => false),
    tools.element("div", {class: "plots"}, ...tools.overTime(group, key, "steps", "place", "Place", "Where walks are.", "place"))];
  return {name: "Walk", title: (group) => group.task, badge: () => "", section, facts: () => []};
})";

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "walk",
     .subcommand = "walk",
     .description = "Walk towards the mean of a stream",
     .unit = "steps",
     .directory = "line-walk",
     .arguments = {"step_size"},
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<WalkExperiment>(kind, sources); },
     .parts = walk_parts,
     .readable =
         [](const Json& summary) { return runs::summary_line("place", runs::mean_and_deviation(summary["place"])); },
     .report = {.script = script,
                .needs = {"place"},
                .columns = {{"place, mean ± sd", [](const Json& s) { return runs::mean_and_deviation(s["place"]); }}},
                .label = [](const Json& summary) { return summary["name"].get<std::string>(); }},
     .actions = {{"eval", [] { return std::make_unique<WalkEvaluation>(); }}}});

}  // namespace
}  // namespace stein::test
