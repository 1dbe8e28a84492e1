// NUTS on a logistic regression: effective draws a second, warm-up included, and the time of a gradient beside the
// matrix products that it needs.
#include <stein/bench/benchmark.h>
#include <stein/bench/eigen_posterior.h>
#include <stein/bench/logistic_posterior.h>
#include <stein/core/error.h>
#include <stein/inference/diagnostics/chain_diagnostics.h>
#include <stein/inference/samplers/nuts.h>

#include <algorithm>
#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;

struct NutsBenchmarkOptions {
  std::int64_t rows = 1000, columns = 25, chains = 4, warm_up = 1000, draws = 1000;

  template <class V>
  void describe(V& v) {
    v("rows", rows, "of data", between(1, 1e6));
    v("columns", columns, "weights", between(1, 1000));
    v("chains", chains, "one after the other", between(1, 100));
    v("warm_up", warm_up, "steps that tune and are not kept", between(0, 1e6), "steps");
    v("draws", draws, "kept of each chain", between(8, 1e6), "steps");
  }
};

/// Throws Error(numeric) unless both give the same slope, and values that differ by a constant.
void check_same(LogisticPosterior& ours, EigenPosterior& reference, std::int64_t columns) {
  constexpr std::int64_t points = 3;
  Particles<double> start(ours.layout(), points), other = start;
  std::vector<double> values(points), expected(points);
  for (std::int64_t i = 0; i < points; ++i)
    fill_normal(start.values().row(i), {.seed = 4}, static_cast<std::uint32_t>(i));
  ours.evaluate(start.coordinates(), {}, {}, {.gradient = start.gradients(), .value = values});
  reference.evaluate(start.coordinates(), {}, {}, {.gradient = other.gradients(), .value = expected});
  double error = 0;
  for (std::int64_t i = 0; i < points; ++i) {
    error = std::max(error, std::abs(values[i] - values[0] - expected[i] + expected[0]) / std::abs(expected[0]));
    for (std::int64_t j = 0; j < columns; ++j)
      error = std::max(error, std::abs(start.gradients()(i, j) - other.gradients()(i, j)) / 100);
  }
  if (!(error < 1e-11)) fail(ErrorKind::numeric, "benchmark nuts: ours and the reference differ by {:.2g}", error);
}

/// Warm-up and draws of all chains.
struct Run {
  std::vector<double> draws;  ///< [columns][chains][draws]
  std::int64_t gradients = 0, divergences = 0;

  Run(Target<double>& target, const NutsBenchmarkOptions& options, std::uint64_t seed)
      : draws(static_cast<std::size_t>(options.columns * options.chains * options.draws)) {
    Particles<double> particles(target.layout(), options.chains);
    for (std::int64_t i = 0; i < options.chains; ++i)
      fill_normal(particles.values().row(i), {.seed = seed, .stream = Stream::initial_values},
                  static_cast<std::uint32_t>(i));
    Nuts<double> sampler({.trajectory = {.warm_up = options.warm_up}}, particles.ensemble(seed));
    for (std::int64_t t = -options.warm_up; t < options.draws; ++t) {
      sampler.step(particles, target, {});
      if (t < 0) continue;
      for (std::int64_t j = 0; j < options.columns; ++j)
        for (std::int64_t i = 0; i < options.chains; ++i)
          draws[static_cast<std::size_t>((j * options.chains + i) * options.draws + t)] = particles.values()(i, j);
    }
    gradients = sampler.gradients(), divergences = sampler.divergences();
  }

  double least_effective(const NutsBenchmarkOptions& options) const {
    double least = INFINITY;
    for (std::int64_t j = 0; j < options.columns; ++j)
      least = std::min(least, bulk_effective_sample_size(
                                  {draws.data() + j * options.chains * options.draws, options.chains, options.draws}));
    return least;
  }
};

std::vector<Row> measure_nuts(const NutsBenchmarkOptions& options) {
  const LogisticData data(options.rows, options.columns, 1);
  LogisticPosterior ours(data);
  EigenPosterior reference(data);
  check_same(ours, reference, options.columns);

  const Run run(ours, options, 1), reference_run(reference, options, 1);
  const Pair seconds = measure_pair([&] { keep(Run(ours, options, 1).gradients); },
                                    [&] { keep(Run(reference, options, 1).gradients); }, {.warm_up_seconds = 0.01});
  const auto chains_steps = static_cast<double>(options.chains * (options.warm_up + options.draws));
  const auto gradients = static_cast<double>(run.gradients);
  Row speed{.name = "nuts-logistic",
            .ours = run.least_effective(options) / seconds.ours,
            .reference = reference_run.least_effective(options) / seconds.reference,
            .unit = "ESS/s",
            .better = Better::higher,
            .extra = {{"reference_is", "the same sampler, log density in Eigen, " + reference.instructions()},
                      {"least_bulk_effective_sample_size", run.least_effective(options)},
                      {"seconds", seconds.ours},
                      {"gradients_a_step", gradients / chains_steps},
                      {"us_a_gradient_with_sampler", seconds.ours / gradients * 1e6},
                      {"divergences", static_cast<double>(run.divergences)}}};

  Particles<double> point(ours.layout(), 1);
  fill_normal(point.values().row(0), {.seed = 4}, 0);
  std::vector<double> value(1);
  std::vector<double> slope(static_cast<std::size_t>(options.columns));
  const auto ours_once = [&] {
    ours.evaluate(point.coordinates(), {}, {}, {.gradient = point.gradients(), .value = value});
  };
  const Pair products = measure_pair(ours_once, [&] {
    reference.products(point.values().row(0), slope);
    keep(slope.front());
  });
  const Pair density = measure_pair(ours_once, [&] {
    reference.evaluate(point.coordinates(), {}, {}, {.gradient = point.gradients(), .value = value});
  });
  const double operations = 4.0 * static_cast<double>(options.rows * options.columns);
  return {speed,
          {.name = "nuts-density",
           .ours = density.ours * 1e6,
           .reference = density.reference * 1e6,
           .unit = "µs",
           .extra = {{"reference_is", "log density and gradient in Eigen, " + reference.instructions()}}},
          {.name = "nuts-gradient",
           .ours = products.ours * 1e6,
           .reference = products.reference * 1e6,
           .unit = "µs",
           .extra = {{"reference_is", "Eigen's products X w and Xᵀ r alone, without the log density between them, " +
                                          reference.instructions()},
                     {"gflops_of_products", operations / products.ours / 1e9}}}};
}

[[maybe_unused]] const bool registered = register_benchmark(
    "nuts", "effective draws a second of NUTS on a logistic regression, one core, warm-up included", measure_nuts);

}  // namespace
}  // namespace stein::bench
