// What runs on all cores although there are fewer particles than cores, against one core: the same work, the same bits.
#include <stein/bench/benchmark.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/mean_field_gaussian.h>
#include <stein/inference/samplers/nuts.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/inference/targets/variational_objective.h>

#include <vector>

namespace stein::bench {
namespace {

using namespace stein::inference;

struct CoresOptions {
  std::int64_t rows = 4096;

  template <class V>
  void describe(V& v) {
    v("rows", rows, "of a batch", between(1, 1e6));
  }
};

const MlpSpec small_network{.inputs = 117, .hidden = {50, 50}, .outputs = 2};

/// Random rows with answers for both outputs.
class Data {
 public:
  explicit Data(std::int64_t rows)
      : rows_(rows),
        inputs_(static_cast<std::size_t>(rows * small_network.inputs)),
        answers_(static_cast<std::size_t>(rows * small_network.outputs)) {
    fill_normal(std::span<float>(inputs_), {.seed = 1}, 0);
    fill_normal(std::span<float>(answers_), {.seed = 1}, 1);
  }
  Batch<float> batch(std::int64_t rows) const {
    return {.inputs = {.dense = {inputs_.data(), rows, small_network.inputs}},
            .targets = {answers_.data(), rows, small_network.outputs},
            .rows = rows,
            .data_size = static_cast<double>(rows)};
  }
  Batch<float> batch() const { return batch(rows_); }

 private:
  std::int64_t rows_;
  std::vector<float> inputs_, answers_;
};

class Comparison {
 public:
  Comparison() : threads_(thread_count()) {}
  ~Comparison() { set_thread_count(threads_); }
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  /// Throws Error(numeric) unless `body`, which returns numbers, returns the same ones on one core.
  template <class Body>
  Row measure(const std::string& name, const Body& body) const {
    const auto on = [&](int threads) {
      set_thread_count(threads);
      return body();
    };
    const std::vector<float> on_all = on(threads_), on_one = on(1);
    if (on_all != on_one) fail(ErrorKind::numeric, "benchmark cores: {} differs between thread counts", name);
    const Pair seconds = measure_pair([&] { on(threads_); }, [&] { on(1); });
    return {.name = name,
            .ours = seconds.ours * 1e3,
            .reference = seconds.reference * 1e3,
            .unit = "ms",
            .extra = {{"reference_is", "the same on one core"}, {"threads", static_cast<double>(threads_)}}};
  }

 private:
  int threads_;
};

/// Value and gradient of a target at its starting particles; the gradients' first row stands for all of them.
class Gradient {
 public:
  Gradient(std::unique_ptr<Posterior<float>> target, std::int64_t particles, const Batch<float>& batch)
      : target_(std::move(target)),
        particles_(target_->initial_particles(particles, 1, 1)),
        batch_(batch),
        value_(static_cast<std::size_t>(particles)) {}
  std::vector<float> operator()() {
    target_->evaluate(particles_.coordinates(), batch_, {}, {.gradient = particles_.gradients(), .value = value_});
    const auto row = particles_.gradients().row(0);
    return {row.begin(), row.end()};
  }

 private:
  std::unique_ptr<Posterior<float>> target_;
  Particles<float> particles_;
  Batch<float> batch_;
  std::vector<double> value_;
};

/// Predictions of one network for all inputs of a batch.
class Prediction {
 public:
  explicit Prediction(const Batch<float>& batch)
      : posterior_(make_network_posterior({}, small_network)),
        weights_(1, posterior_->weight_layout().size()),
        batch_(batch),
        outputs_(batch.rows, small_network.outputs) {
    posterior_->effective_weights(posterior_->initial_particles(1, 1, 1).coordinates(), {}, weights_.view());
  }
  std::vector<float> operator()() {
    posterior_->model().predict({weights_.view()}, batch_.inputs, outputs_.view());
    return {outputs_.row(batch_.rows - 1).begin(), outputs_.row(batch_.rows - 1).end()};
  }

 private:
  std::unique_ptr<Posterior<float>> posterior_;
  Matrix<float> weights_;
  Batch<float> batch_;
  Matrix<float> outputs_;
};

std::vector<Row> measure_cores(const CoresOptions& options) {
  const Data data(options.rows);
  const Comparison comparison;
  std::vector<Row> found;
  for (const auto& [name, particles] : {std::pair{"one-network", 1}, {"four-networks", 4}}) {
    Gradient gradient(make_network_posterior({}, small_network), particles, data.batch());
    found.push_back(comparison.measure(name, [&] { return gradient(); }));
  }

  Prediction prediction(data.batch());
  found.push_back(comparison.measure("one-network-prediction", [&] { return prediction(); }));

  auto likelihood = std::make_unique<ParticleMlp>(small_network);
  auto family = std::make_unique<MeanFieldGaussian<float>>(likelihood->layout(), VariationalOptions{});
  Gradient bound(make_variational_objective<float>(std::move(likelihood), std::move(family), ScaleMixtureOptions{}), 1,
                 data.batch());
  found.push_back(comparison.measure("bayes-by-backprop", [&] { return bound(); }));

  const auto posterior = make_network_posterior({}, small_network);
  const Particles<float> start = posterior->initial_particles(4, 1, 1);
  const Batch<float> few = data.batch(std::min<std::int64_t>(options.rows, 128));
  found.push_back(comparison.measure("four-chains", [&] {
    Particles<float> chains = start;
    Nuts<float> sampler({.trajectory = {.step_size = 1e-3, .warm_up = 0}, .max_depth = 4}, chains.ensemble(1));
    sampler.step(chains, *posterior, few);
    return std::vector<float>(chains.values().row(0).begin(), chains.values().row(0).end());
  }));
  return found;
}

[[maybe_unused]] const bool registered =
    register_benchmark("cores", "gradients, predictions and chains of few networks on all cores, against one core",
                       measure_cores, Cores::all);

}  // namespace
}  // namespace stein::bench
