// An experiment small enough to follow by hand: repetitions that count.
#pragma once

#include <stein/runs/experiment.h>
#include <stein/runs/run_kind.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace stein::test {

/// Counts in strides of its seed + 1; records its count at every stride and a line at every other one.
class Counter final : public runs::Repetition {
 public:
  Counter(std::uint64_t seed, std::int64_t end) : seed_(seed), end_(end) {}

  std::uint64_t seed() const override { return seed_; }
  std::int64_t steps_done() const override { return steps_; }
  bool ended() const override { return end_ > 0 && steps_ >= end_; }
  void advance(std::int64_t, const StopToken&, runs::Records& records) override {
    steps_ += static_cast<std::int64_t>(seed_) + 1;
    ++strides_;
    records.number(steps_, "count", static_cast<double>(steps_));
    if (records.wants_lines() && strides_ % 2 == 0)
      records.line(steps_, std::to_string(seed_) + ":" + std::to_string(steps_));
  }
  void save(Snapshot& snapshot) const override { snapshot.put("counts", std::vector<std::int64_t>{steps_, strides_}); }
  void restore(const Snapshot& snapshot) override {
    const auto counts = snapshot.get_vector<std::int64_t>("counts");
    steps_ = counts.at(0), strides_ = counts.at(1);
  }

 private:
  std::uint64_t seed_;
  std::int64_t end_, steps_ = 0, strides_ = 0;
};

class CounterRun final : public runs::RunOf<Counter> {
 public:
  CounterRun(runs::SeedRange seeds, std::int64_t end, std::string line_log = "")
      : RunOf(
            seeds, [end](std::uint64_t seed) { return std::make_unique<Counter>(seed, end); }, std::move(line_log)) {}
  std::string source() const override { return "this test"; }
  nlohmann::ordered_json protocol() const override { return {{"env", "numbers"}}; }
  nlohmann::ordered_json summarize() override { return {{"env", "numbers"}}; }
};

/// Options of the toy experiment's two parts.
struct CounterOptions {
  double stride = 1;
  bool loud = false;
  std::int64_t end = 0;

  template <class V>
  void describe(V& v) {
    v("stride", stride, "how far a count goes", positive);
    v("loud", loud, "an option that the first version did not have").in_older_runs("true");
    v("end", end, "where repetitions end by themselves; 0: nowhere", at_least(0));
    v.preset("paper", "Somebody 2018", {{"stride", "5"}});
  }
};

class CounterExperiment final : public runs::Experiment {
 public:
  CounterExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
      : Experiment(kind, {.steps = 10, .checkpoint_every = 5}) {
    add_run([](OptionTable&) {});
    add_part("Counting", [this](OptionTable& table) { counting.describe(table); });
    read(sources);
  }
  std::string name() const override { return "numbers/counter"; }
  std::unique_ptr<runs::Run> make_run(const std::string&) const override {
    return std::make_unique<CounterRun>(seeds(), counting.end);
  }

  CounterOptions counting;
};

/// The kind of the toy experiment, which is not registered.
inline runs::RunKind counter_kind() {
  return {
      .name = "counter",
      .subcommand = "count",
      .description = "Count",
      .unit = "numbers",
      .directory = "NUMBERS",
      .make = [](const runs::RunKind& kind, const runs::OptionSources& sources) -> std::unique_ptr<runs::Experiment> {
        return std::make_unique<CounterExperiment>(kind, sources);
      },
      .parts =
          [] {
            CounterOptions options;
            std::vector<runs::Part> parts{runs::make_part("counting", "", "", OptionTable::of(options))};
            parts.push_back({.group = "abacus", .name = "roman", .description = "", .options = {"beads"}});
            return parts;
          },
      .readable = [](const nlohmann::ordered_json&) { return std::string(); },
      .report = {.label = [](const nlohmann::ordered_json&) { return std::string("counter"); }}};
}

}  // namespace stein::test
