// The memory that training a language model takes, in multiples of its weights, against what has to be there.
#include <stein/bench/benchmark.h>
#include <stein/bench/resident_memory.h>
#include <stein/inference/models/particle_recurrent.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/training/weight_sampler.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stein::bench {
namespace {

using namespace stein::inference;
using namespace stein::training;

constexpr std::int64_t rows_a_step = 20, step_length = 35, vocabulary_size = 10'000;
constexpr double data_size = 929'589;

struct MemoryOptions {
  std::int64_t hidden = 650;
  std::vector<std::string> methods{"sgd", "sgld", "psgld", "bbb", "sharpening", "svgd"};

  template <class V>
  void describe(V& v) {
    v("hidden", hidden, "units of both layers", between(1, 10'000));
    v("methods", methods, "methods that are measured; optimizers are plain gradient steps");
  }
};

/// A training that keeps a state to go back to before every step, so that few steps make the two there may be.
class Training {
 public:
  Training(const std::string& method, std::int64_t hidden)
      : weights_(options_of(method),
                 std::make_unique<ParticleRecurrent>(RecurrentSpec{.vocabulary = vocabulary_size, .hidden = hidden}),
                 {.size = data_size, .sequence = step_length, .minibatches = data_size / (rows_a_step * step_length)},
                 1, {.keep_every = 1}) {}

  /// @param sequences, steps  of the minibatch
  void step(std::int64_t sequences, std::int64_t steps) {
    const std::vector<std::int32_t> tokens(static_cast<std::size_t>(sequences * steps), 1);
    const std::vector<float> targets(tokens.size(), 1);
    Batch<float> batch;
    batch.inputs.tokens = {tokens.data(), sequences, steps};
    batch.targets = {targets.data(), sequences, steps};
    batch.rows = sequences, batch.size = sequences * steps, batch.data_size = data_size, batch.unit = DataUnit::tokens;
    weights_.step(batch);
  }
  WeightSampler& weights() { return weights_; }

 private:
  static WeightMethodOptions options_of(const std::string& method) {
    WeightMethodOptions options = weight_methods().at(method).defaults;
    OptionTable table = OptionTable::of(options);
    table.set("step_size", "1e-7");
    if (table.contains("optimizer")) table.set("optimizer", "sgd"), table.set("momentum", "0");
    return options;
  }

  WeightSampler weights_;
};

/// Bytes of arrays that a training holds between its steps.
struct Held {
  double particles = 0;    ///< φ, and as much for its gradient
  double weights = 0;      ///< θ and its gradient, where they are not φ and its gradient themselves
  double sampler = 0;      ///< state of the sampler
  double generations = 0;  ///< that can be gone back to

  double sum() const { return 2 * particles + weights + sampler + generations; }
};

Held held_by(WeightSampler& weights) {
  Held held;
  Snapshot progress;
  weights.save_progress(progress);
  for (const auto& [name, array] : progress.arrays())
    (name.starts_with("sampler/rollback/") ? held.generations : held.sampler) +=
        static_cast<double>(array.bytes.size());
  held.particles =
      static_cast<double>(weights.particles().values().rows * weights.particles().layout().size()) * sizeof(float);
  if (!weights.posterior().parameterization().passes_through())
    held.weights = 2 * static_cast<double>(weights.weight_rows() * weights.weight_count()) * sizeof(float);
  return held;
}

std::vector<Row> measure_lm_memory(const MemoryOptions& options) {
  const ParticleRecurrent network({.vocabulary = vocabulary_size, .hidden = options.hidden});
  const double bytes_of_weights = static_cast<double>(network.layout().size()) * sizeof(float);
  std::vector<Row> measured;
  for (const std::string& method : options.methods) {
    std::unique_ptr<Training> training;
    const auto resident = peak_memory_of([&] {
      training = std::make_unique<Training>(method, options.hidden);
      for (int t = 0; t < 4; ++t) training->step(1, 1);
    });
    const auto activations = peak_memory_of([&] { training->step(rows_a_step, step_length); });
    if (!resident || !activations) continue;
    const Held held = held_by(training->weights());
    const auto multiples = [&](double bytes) { return bytes / bytes_of_weights; };
    measured.push_back({.name = fmt::format("{}-2x{}", method, options.hidden),
                        .ours = multiples(*resident),
                        .reference = multiples(held.sum()),
                        .unit = "weights",
                        .extra = {{"reference_is", "arrays that a training has to hold between steps"},
                                  {"particles", multiples(held.particles)},
                                  {"gradients", multiples(held.particles)},
                                  {"weights_and_gradients", multiples(held.weights)},
                                  {"sampler", multiples(held.sampler)},
                                  {"generations", multiples(held.generations)},
                                  {"working", multiples(*resident - held.sum())},
                                  {"parameters", bytes_of_weights / sizeof(float)},
                                  {"activations_mb", *activations / 1e6},
                                  {"peak_mb", (*resident + *activations) / 1e6}}});
  }
  return measured;
}

[[maybe_unused]] const bool registered =
    register_benchmark("lm-memory", "memory of a training by each method, in multiples of the network's weights",
                       measure_lm_memory, Cores::all);

}  // namespace
}  // namespace stein::bench
