// An experiment small enough to follow by hand: repetitions that count.
#pragma once

#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/runs/experiment.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace stein::test {

/// Options of the toy experiment's second part.
struct CounterOptions {
  double stride = 1;
  bool loud = false;
  std::int64_t end = 0, strides_at_once = 1, breaks_at = 0, warns_at = 0;

  template <class V>
  void describe(V& v) {
    v("stride", stride, "how far a count goes", positive);
    v("loud", loud, "an option that the first version did not have").in_older_runs("true");
    v("end", end, "where repetitions end by themselves; 0: nowhere", at_least(0));
    v("strides_at_once", strides_at_once, "strides before metrics are handed over", at_least(1)).in_older_runs("1");
    v("breaks_at", breaks_at, "count at which a repetition diverges; 0: nowhere", at_least(0)).in_older_runs("0");
    v("warns_at", warns_at, "count from which on there is a warning; 0: never", at_least(0)).in_older_runs("0");
    v.preset("paper", "Somebody 2018", {{"stride", "5"}});
  }
};

/// What is done while a counter concludes.
inline std::function<void(std::uint64_t seed, const StopToken& stop)> in_conclusion;

/// Counts in strides of its seed + 1; records its count at every stride and a line at every other one.
class Counter final : public runs::Repetition {
 public:
  Counter(std::uint64_t seed, const CounterOptions& options) : seed_(seed), options_(options) {}

  std::uint64_t seed() const override { return seed_; }
  std::int64_t steps_done() const override { return steps_; }
  bool ended() const override { return options_.end > 0 && steps_ >= options_.end; }
  void advance(std::int64_t until, const StopToken&, runs::Records& records) override {
    for (std::int64_t k = 0; k < options_.strides_at_once && steps_ < until && !ended(); ++k) take_stride(records);
  }
  void conclude(const StopToken& stop) override {
    if (in_conclusion && !concluded_) in_conclusion(seed_, stop);
    concluded_ = !stop.stop_requested();
  }
  bool concluded() const { return concluded_; }
  void forget_conclusion() { concluded_ = false; }
  std::optional<std::string> warning() const override {
    if (options_.warns_at == 0 || steps_ < options_.warns_at) return std::nullopt;
    return "counted to " + std::to_string(steps_);
  }
  void save(Snapshot& snapshot) const override {
    snapshot.put("counts", std::vector<std::int64_t>{steps_, strides_});
    if (concluded_) snapshot.put("concluded", std::uint8_t{1});
  }
  void restore(const Snapshot& snapshot) override {
    concluded_ = snapshot.contains("concluded");
    const auto counts = snapshot.get_vector<std::int64_t>("counts");
    steps_ = counts.at(0), strides_ = counts.at(1);
  }

 private:
  void take_stride(runs::Records& records) {
    concluded_ = false;
    steps_ += static_cast<std::int64_t>(seed_) + 1;
    ++strides_;
    if (options_.breaks_at > 0 && steps_ >= options_.breaks_at)
      fail(ErrorKind::numeric, "seed {} lost count at {}", seed_, steps_);
    records.number(steps_, "count", static_cast<double>(steps_));
    if (records.wants_lines() && strides_ % 2 == 0)
      records.line(steps_, std::to_string(seed_) + ":" + std::to_string(steps_));
  }

  std::uint64_t seed_;
  CounterOptions options_;
  std::int64_t steps_ = 0, strides_ = 0;
  bool concluded_ = false;
};

/// What is done while counters are summed up.
inline std::function<void(const Watch&)> in_summary;

class CounterRun final : public runs::RunOf<Counter> {
 public:
  explicit CounterRun(runs::SeedRange seeds, const CounterOptions& options = {}, std::string line_log = "",
                      std::string data = "")
      : RunOf(
            seeds, [&](std::uint64_t seed) { return std::make_unique<Counter>(seed, options); }, std::move(line_log)),
        data_(std::move(data)) {}
  std::string source() const override { return "this test"; }
  nlohmann::ordered_json protocol() const override { return {{"env", "numbers"}, {"edition", 1}}; }
  void check_manifest(const nlohmann::ordered_json& manifest) const override {
    if (manifest.at("protocol").at("edition") != 1) fail(ErrorKind::data, "these are other numbers");
  }
  nlohmann::ordered_json summarize(const Watch& watch) override {
    if (in_summary) in_summary(watch);
    std::vector<double> counts;
    for (std::int64_t i = 0; i < count(); ++i) {
      counts.push_back(static_cast<double>(repetition(i).steps_done()));
      repetition(i).forget_conclusion();
    }
    return {{"env", "numbers"}, {"from", data_}, {"counts", runs::measured(counts)}};
  }
  void write_results(const RunDirectory& directory) override {
    const bool finished = std::filesystem::exists(directory.summary());
    write_file_atomically(directory.file("counted.txt"), finished ? "after the summary" : "before the summary");
  }

 private:
  std::string data_;
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
  std::unique_ptr<runs::Run> make_run(const std::string& data) const override {
    return std::make_unique<CounterRun>(seeds(), counting, "lines.txt", data);
  }

  CounterOptions counting;
};

/// The kind of the toy experiment.
inline runs::RunKind counter_kind() {
  return {
      .name = "counter",
      .subcommand = "count",
      .description = "Count",
      .unit = "numbers",
      .directory = "NUMBERS",
      .reads_data = true,
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
      .log_files = {"lines.txt"},
      .result_files = {"counted.txt"},
      .readable = [](const nlohmann::ordered_json&) { return std::string(); },
      .report = {.script = "(tools) => ({})",
                 .columns = {{"count", [](const nlohmann::ordered_json& s) { return runs::text(s["counts"]); }}},
                 .label = [](const nlohmann::ordered_json&) { return std::string("counter"); }}};
}

/// The same with something of its report changed.
template <class Change>
runs::RunKind counter_kind_with(const Change& change) {
  runs::RunKind kind = counter_kind();
  change(kind.report);
  return kind;
}

/// The kind of the toy experiment, registered in this program: runs of it can be opened again.
inline const runs::RunKind& registered_counter() {
  static const bool registered = runs::register_run_kind(counter_kind());
  static_cast<void>(registered);
  return runs::run_kinds().at("counter");
}

}  // namespace stein::test
