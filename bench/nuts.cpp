// NUTS on a logistic regression: effective draws a second, warm-up included, and the time of a gradient beside the
// matrix products that it needs.
#include <stein/bench/benchmark.h>
#include <stein/bench/logistic_posterior.h>
#include <stein/core/error.h>
#include <stein/inference/diagnostics/chain_diagnostics.h>
#include <stein/inference/samplers/nuts.h>

#include <Eigen/Dense>
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

/// The same posterior in Eigen's products.
class EigenPosterior final : public Target<double> {
 public:
  explicit EigenPosterior(const LogisticData& data)
      : inputs_(Eigen::Map<const Eigen::MatrixXd>(data.inputs.data(), data.rows, data.columns)),
        answers_(Eigen::Map<const Eigen::VectorXd>(data.answers.data(), data.rows)),
        eta_(data.rows),
        rest_(data.rows) {
    layout_.add("weights", {data.columns}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey&,
                MatrixView<double> gradient, std::span<double> value) override {
    for (std::int64_t i = 0; i < gradient.rows; ++i) {
      const Eigen::Map<const Eigen::VectorXd> weights(coordinates.values.row(i).data(), inputs_.cols());
      Eigen::Map<Eigen::VectorXd> slope(gradient.row(i).data(), inputs_.cols());
      eta_.noalias() = inputs_ * weights;
      const auto e = (-eta_.array().abs()).exp();
      if (!value.empty())
        value[i] =
            (answers_.array() * eta_.array() - eta_.array().max(0) - (1 + e).log()).sum() - weights.squaredNorm() / 2;
      rest_ = answers_.array() - (eta_.array() < 0).select(e, 1) / (1 + e);
      slope.noalias() = inputs_.transpose() * rest_;
      slope -= weights;
    }
  }
  /// Only the two products.
  void products(const Eigen::VectorXd& weights, Eigen::VectorXd& slope) {
    eta_.noalias() = inputs_ * weights;
    slope.noalias() = inputs_.transpose() * eta_;
  }

 private:
  Layout layout_;
  Eigen::MatrixXd inputs_;
  Eigen::VectorXd answers_, eta_, rest_;
};

/// Throws Error(numeric) unless both give the same slope, and values that differ by a constant.
void check_same(LogisticPosterior& ours, EigenPosterior& reference, std::int64_t columns) {
  constexpr std::int64_t points = 3;
  Particles<double> start(ours.layout(), points), other = start;
  std::vector<double> values(points), expected(points);
  for (std::int64_t i = 0; i < points; ++i)
    fill_normal(start.values().row(i), {.seed = 4}, static_cast<std::uint32_t>(i));
  ours.evaluate(start.coordinates(), {}, {}, start.gradients(), values);
  reference.evaluate(start.coordinates(), {}, {}, other.gradients(), expected);
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
    Nuts<double> sampler({.trajectory = {.warm_up = options.warm_up}}, options.chains, options.columns, seed);
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

std::vector<Row> measure(const NutsBenchmarkOptions& options) {
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
            .extra = {{"reference_is", "the same sampler, log density in Eigen"},
                      {"least_bulk_effective_sample_size", run.least_effective(options)},
                      {"seconds", seconds.ours},
                      {"gradients_a_step", gradients / chains_steps},
                      {"us_a_gradient_with_sampler", seconds.ours / gradients * 1e6},
                      {"divergences", static_cast<double>(run.divergences)}}};

  Particles<double> point(ours.layout(), 1);
  fill_normal(point.values().row(0), {.seed = 4}, 0);
  std::vector<double> value(1);
  const Eigen::VectorXd weights = Eigen::Map<const Eigen::VectorXd>(point.values().row(0).data(), options.columns);
  Eigen::VectorXd slope(options.columns);
  const Pair gradient = measure_pair([&] { ours.evaluate(point.coordinates(), {}, {}, point.gradients(), value); },
                                     [&] {
                                       reference.products(weights, slope);
                                       keep(slope);
                                     });
  const double operations = 4.0 * static_cast<double>(options.rows * options.columns);
  return {speed,
          {.name = "nuts-gradient",
           .ours = gradient.ours * 1e6,
           .reference = gradient.reference * 1e6,
           .unit = "µs",
           .extra = {{"reference_is", "Eigen's products X w and Xᵀ r alone, without the log density between them"},
                     {"gflops_of_products", operations / gradient.ours / 1e9}}}};
}

[[maybe_unused]] const bool registered = register_benchmark(
    "nuts", "effective draws a second of NUTS on a logistic regression, one core, warm-up included", measure);

}  // namespace
}  // namespace stein::bench
