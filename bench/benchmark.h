// Benchmarks: ours against a reference, measured interleaved in one run, one row a case.
#pragma once

#include <stein/core/options.h>
#include <stein/core/registry.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace stein::bench {

/// Which of two measured numbers is the better one.
enum class Better { lower, higher };

/// One measured case. Its name begins with the policy, sampler or environment that it is about: `svgd-onehot`.
struct Row {
  std::string name;
  double ours = 0;
  double reference = 0;
  std::string unit;  ///< of both: "µs", "M/s"
  Better better = Better::lower;
  /// What else there is to say: {"allocations", 0.}, {"reference_is", "LibTorch, 1 thread"}.
  std::vector<std::pair<std::string, std::variant<double, std::string>>> extra = {};

  /// How many times better ours is.
  double ratio() const { return better == Better::lower ? reference / ours : ours / reference; }
};

/// Options of a benchmark as they were typed: name and value.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// How many threads a benchmark uses where nobody says.
enum class Cores { one, all };

/// A registered benchmark: its line in `stein list` and `stein bench`, its options, and what measures it.
struct Benchmark {
  std::string description;
  Cores cores;
  std::function<std::string()> options;                  ///< one line each; empty if there are none
  std::function<std::vector<Row>(const Settings&)> run;  ///< throws Error(usage) naming a setting that it does not have
  /// Throws Error(usage) saying what the machine lacks for it, a GPU for example.
  std::function<void()> check_machine = [] {};

  /// The sentence of `check_machine`, with which it is left out where all are measured; empty where nothing is lacking.
  std::string lacking() const;
};

/// All benchmarks that are linked in.
Registry<Benchmark>& benchmarks();

/// Of a benchmark without options.
struct NoOptions {
  template <class V>
  void describe(V&) {}
};

/// What a benchmark does: its options as text, and itself.
struct Measure {
  std::function<std::string()> options;
  std::function<std::vector<Row>(const Settings&)> run;

  /// `measure` with its options, which are set before it is called.
  template <class Options>
  static Measure of(std::vector<Row> (*measure)(const Options&)) {
    const auto options_text = [] {
      Options defaults;
      return help_text(OptionTable::of(defaults));
    };
    const auto run = [measure](const Settings& settings) {
      Options options;
      OptionTable table = OptionTable::of(options);
      for (const auto& [key, value] : settings) table.set(key, value);
      return measure(options);
    };
    return {options_text, run};
  }
};

/// For a namespace-scope constant: registers `measure` under `name`.
template <class Options>
bool register_benchmark(
    const std::string& name, std::string description, std::vector<Row> (*measure)(const Options&),
    Cores cores = Cores::one, std::function<void()> check_machine = [] {}) {
  const Measure measured = Measure::of(measure);
  return benchmarks().add(name,
                          {std::move(description), cores, measured.options, measured.run, std::move(check_machine)});
}

/// Measures of benchmarks that need LibTorch, by name, once the library stein::bench_torch is loaded.
Registry<Measure>& torch_measures();

/// Registers a benchmark whose measure is in stein::bench_torch, which is loaded when the measure is asked for.
bool register_torch_benchmark(
    const std::string& name, std::string description, Cores cores = Cores::one,
    std::function<void()> check_machine = [] {});

/// Seconds of one call of each of two callables.
struct Pair {
  double ours = 0;
  double reference = 0;
};

/// How long and how often a pair is measured.
struct PairSettings {
  std::int64_t rounds = 9;       ///< at least 7; each measures ours and the reference, in alternating order
  double round_seconds = 0.05;   ///< each callable is repeated within a round until it has taken this long
  double warm_up_seconds = 0.1;  ///< each callable runs this long before anything is measured
};

/// Medians over the rounds of the time of one call. Throws Error(usage) for fewer than 7 rounds.
Pair measure_pair(const std::function<void()>& ours, const std::function<void()>& reference,
                  const PairSettings& settings = {});

/// Keeps the compiler from dropping the computation of `value`.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

}  // namespace stein::bench
