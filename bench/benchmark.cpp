#include <stein/bench/benchmark.h>

#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/core/median.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace stein::bench {
namespace {

double seconds_of(const std::function<void()>& call, std::int64_t repetitions) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < repetitions; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Warms up, and finds how many calls fill a round.
std::int64_t repetitions_for(const std::function<void()>& call, const PairSettings& settings) {
  double spent = 0;
  std::int64_t calls = 0;
  for (std::int64_t next = 1; spent < settings.warm_up_seconds; next *= 2) {
    spent += seconds_of(call, next);
    calls += next;
  }
  const double calls_a_round = settings.round_seconds * static_cast<double>(calls) / spent;
  return std::max<std::int64_t>(1, std::llround(calls_a_round));
}

}  // namespace

std::string Benchmark::lacking() const {
  try {
    check_machine();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return error.what();
  }
  return "";
}

Registry<Benchmark>& benchmarks() {
  static Registry<Benchmark> registry("benchmark");
  return registry;
}

Registry<Measure>& torch_measures() {
  static Registry<Measure> registry("benchmark");
  return registry;
}

bool register_torch_benchmark(const std::string& name, std::string description, Cores cores,
                              std::function<void()> check_machine) {
  const auto measure = [name]() -> const Measure& {
    load_component("bench_torch");
    return torch_measures().at(name);
  };
  return benchmarks().add(
      name, {std::move(description), cores, [measure] { return measure().options(); },
             [measure](const Settings& settings) { return measure().run(settings); }, std::move(check_machine)});
}

Pair measure_pair(const std::function<void()>& ours, const std::function<void()>& reference,
                  const PairSettings& settings) {
  STEIN_CHECK(settings.rounds >= 7, "a benchmark needs at least 7 rounds, got {}", settings.rounds);
  const std::int64_t our_calls = repetitions_for(ours, settings);
  const std::int64_t reference_calls = repetitions_for(reference, settings);
  std::vector<double> our_times, reference_times;
  const auto measure_ours = [&] { our_times.push_back(seconds_of(ours, our_calls) / static_cast<double>(our_calls)); };
  const auto measure_reference = [&] {
    reference_times.push_back(seconds_of(reference, reference_calls) / static_cast<double>(reference_calls));
  };
  for (std::int64_t round = 0; round < settings.rounds; ++round) {
    if (round % 2 == 0) {
      measure_ours();
      measure_reference();
    } else {
      measure_reference();
      measure_ours();
    }
  }
  return {.ours = median(our_times), .reference = median(reference_times)};
}

}  // namespace stein::bench
