// Magnitude pruning: the schedule, which weights go, and that neither gradient, momentum nor noise moves them again.
#include <stein/inference/diagnostics/configurational_temperature.h>
#include <stein/inference/diagnostics/kinetic_temperature.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/masked.h>
#include <stein/inference/posterior.h>
#include <stein/inference/priors/spike_and_slab_prior.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/sgld.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "core/error_matcher.h"
#include "inference/chain_statistics.h"

using namespace stein;
using namespace stein::inference;

namespace {

const MlpSpec masked_network{.inputs = 5, .hidden = {17}, .outputs = 2, .activation = Activation::tanh};
const std::vector<std::string> entries{"layer0.weight", "layer1.weight"};
constexpr std::int64_t weight_count = 5 * 17 + 17 * 2;

struct DrawnRegression {
  std::vector<float> x = std::vector<float>(40 * 5), y = std::vector<float>(40 * 2);
  DrawnRegression() {
    fill_normal(std::span<float>(x), {.seed = 1}, 0);
    fill_normal(std::span<float>(y), {.seed = 2}, 0);
  }
  Batch<float> batch() const {
    return {.inputs = {.dense = {x.data(), 40, 5}}, .targets = {y.data(), 40, 2}, .rows = 40, .data_size = 100};
  }
};

/// A pruned network under a spike-and-slab prior, as for the compression of the paper; `mask` stays with the posterior.
struct Pruned {
  std::unique_ptr<Posterior<float>> posterior;
  Masked<float>* mask;
};

Pruned make(const PruningOptions& options, RowRange rows) {
  auto model = std::make_unique<ParticleMlp>(masked_network);
  auto masked = std::make_unique<Masked<float>>(options, model->layout(), entries, rows);
  Masked<float>* mask = masked.get();
  auto latents = std::make_shared<SpikeAndSlabLatents>(SpikeAndSlabOptions{},
                                                       sizes_of(masked->coordinates(), {"layer0.weight"}), rows);
  std::vector<std::unique_ptr<Prior<float>>> priors;
  priors.push_back(std::make_unique<SpikeAndSlabPrior<float>>(latents, masked->coordinates(),
                                                              std::vector<std::string>{"layer0.weight"}));
  priors.push_back(std::make_unique<GaussianPrior<float>>(GaussianPriorOptions{}, masked->coordinates(),
                                                          std::vector<std::string>{"layer0.weight"}));
  return {std::make_unique<Posterior<float>>(std::move(model), std::move(masked), std::move(priors)), mask};
}

constexpr PruningOptions fast{.final_share = 0.7, .decay = 0.5, .decay_steps = 4};

/// Every number that a sampler keeps for the coordinates, [M, Q] arrays of its saved state by name.
std::vector<std::pair<std::string, std::vector<float>>> states(const Sampler<float>& sampler) {
  Snapshot snapshot;
  sampler.save(snapshot);
  std::vector<std::pair<std::string, std::vector<float>>> found;
  for (const auto& [name, array] : snapshot.arrays())
    if (array.type == ElementType::float32 && array.shape.size() == 2)
      found.emplace_back(name, snapshot.get_vector<float>(name));
  return found;
}

/// N(0, 1) in every free coordinate: no data, only the mask.
class PrunedNormal final : public Target<float> {
 public:
  PrunedNormal(const PruningOptions& options, const Layout& weights, RowRange rows = {})
      : masked_(options, weights, entries, rows) {}
  const Layout& layout() const override { return masked_.coordinates(); }
  void evaluate(const ParticleRows<const float>& coordinates, const Batch<float>&, const NoiseKey&,
                const Evaluation<float>& wanted) override {
    const MatrixView<float> gradient = wanted.gradient;
    for (std::int64_t i = 0; i < gradient.rows; ++i)
      for (std::int64_t q = 0; q < gradient.columns; ++q) gradient(i, q) = -coordinates.values(i, q);
  }
  void adapt(const ParticleRows<const float>& coordinates, const Batch<float>&, const NoiseKey&,
             MatrixView<float>) override {
    masked_.adapt(coordinates);
  }
  std::span<const std::uint8_t> free_coordinates(std::int64_t row) const override {
    return masked_.free_coordinates(row);
  }

 private:
  Masked<float> masked_;
};

/// The mean of a² over what is free in a layer, of all rows together, counted one by one.
double free_mean_square(const PrunedNormal& target, std::int64_t first_row, std::int64_t layer,
                        MatrixView<const float> a) {
  double sum = 0, count = 0;
  for (const LayoutEntry& entry : target.layout().entries()) {
    if (entry.layer != layer) continue;
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t q = entry.offset; q < entry.offset + entry.size(); ++q)
        if (target.free_coordinates(first_row + i)[q] == 1) sum += std::pow(double{a(i, q)}, 2), ++count;
  }
  return sum / count;
}

}  // namespace

TEST_CASE("the share of pruned weights rises as S (1 - D^(k/U)), one step behind the count", "[inference][masked]") {
  const PruningOptions options;
  CHECK(options.share(0) == 0);
  CHECK(options.share(50) == Approx(0.9 * 0.01));
  CHECK(options.share(3000) == Approx(0.9 * (1 - std::pow(0.99, 60))));
  CHECK(options.share(10'000'000) == Approx(0.9));

  Masked<float> masked(fast, mlp_layout(masked_network, 16), entries);
  CHECK(masked.prunable() == weight_count);
  Particles<float> particles(masked.coordinates(), 1);
  fill_normal(particles.values().row(0), {.seed = 3}, 0);
  for (int k = 1; k <= 60; ++k) {
    masked.adapt(particles.coordinates());
    CHECK(masked.pruned(0) == static_cast<std::int64_t>(std::floor(weight_count * fast.share(k - 1))));
  }
  CHECK(masked.pruned(0) == static_cast<std::int64_t>(0.7 * weight_count));
}

TEST_CASE("the smallest weights are pruned, of all layers together, and never come back", "[inference][masked]") {
  Masked<float> masked({.final_share = 0.5, .decay = 0.5, .decay_steps = 1}, mlp_layout(masked_network, 16), entries);
  Particles<float> particles(masked.coordinates(), 1);
  const auto values = particles.values().row(0);
  fill_normal(values, {.seed = 3}, 0);
  std::vector<std::int64_t> chosen;
  for (const std::string& name : entries) {
    const LayoutEntry& entry = particles.layout().at(name);
    for (std::int64_t q = 0; q < entry.size(); ++q) chosen.push_back(entry.offset + q);
  }
  std::ranges::sort(chosen, {}, [&](std::int64_t q) { return std::abs(values[q]); });
  masked.adapt(particles.coordinates());
  CHECK(masked.free_coordinates(0).empty());  // s starts at 0
  masked.adapt(particles.coordinates());
  const std::int64_t first = masked.pruned(0);
  CHECK(first == weight_count / 4);
  const std::set<std::int64_t> smallest(chosen.begin(), chosen.begin() + first);
  for (std::int64_t q = 0; q < particles.size(); ++q)
    CHECK((masked.free_coordinates(0)[q] == 0) == smallest.contains(q));

  // Now what was pruned is the largest, and the others are all alike: the first of those go.
  for (std::int64_t q = 0; q < particles.size(); ++q) values[q] = smallest.contains(q) ? 100.0f : 0.5f;
  std::set<std::int64_t> expected = smallest;
  masked.adapt(particles.coordinates());
  std::ranges::sort(chosen);
  for (const std::int64_t q : chosen)
    if (std::ssize(expected) < masked.pruned(0)) expected.insert(q);
  CHECK(masked.pruned(0) > first);
  for (std::int64_t q = 0; q < particles.size(); ++q)
    CHECK((masked.free_coordinates(0)[q] == 0) == expected.contains(q));

  // The network has zeros there whatever the coordinates say, and no gradient comes back.
  const Layout& layout = masked.weights();
  std::vector<float> weights(static_cast<std::size_t>(layout.size())), slope(weights.size(), 1.0f);
  const auto trace = masked.make_trace();
  masked.forward(particles.coordinates(), {}, {weights.data(), 1, layout.size()}, *trace);
  masked.pullback(particles.coordinates(), {}, {slope.data(), 1, layout.size()}, particles.gradients(), *trace);
  CHECK(std::ranges::count(weights, 0.0f) == layout.size() - particles.size() + masked.pruned(0));
  CHECK(std::ranges::count(weights, 0.5f) == particles.size() - masked.pruned(0));
  for (std::int64_t q = 0; q < particles.size(); ++q)
    CHECK(particles.gradients()(0, q) == (expected.contains(q) ? 0.0f : 1.0f));
}

TEST_CASE("every sampler leaves pruned weights and what it keeps for them at zero, or says that it cannot",
          "[inference][masked]") {
  const DrawnRegression data;
  for (const auto& [name, entry] : samplers().entries()) {
    DYNAMIC_SECTION(name) {
      const auto [made, mask] = make(fast, {.first = 0, .count = 3});
      const auto& posterior = made;  // clang 14 refuses a binding in a lambda
      Particles<float> particles = posterior->initial_particles(3, 3, 1);
      const auto sampler = entry.defaults.make(particles.ensemble(7));
      if (name == "hmc" || name == "nuts") {
        CHECK_ERROR(
            [&] {
              for (int t = 0; t < 200; ++t) sampler->step(particles, *posterior, data.batch());
            }(),
            usage, "a trajectory cannot");
        continue;
      }
      for (int t = 0; t < 60; ++t) {
        const std::vector<std::uint8_t> before(posterior->free_coordinates(2).begin(),
                                               posterior->free_coordinates(2).end());
        sampler->step(particles, *posterior, data.batch());
        bool zero = true, level = true;
        for (std::int64_t i = 0; i < 3; ++i) {
          const auto free = posterior->free_coordinates(i);
          for (std::size_t q = 0; q < free.size(); ++q)
            zero = zero && (free[q] == 1 || particles.values().row(i)[q] == 0);
        }
        for (std::size_t q = 0; q < before.size(); ++q)
          level = level && (before[q] == 1 || particles.gradients().row(2)[q] == 0);
        CHECK(zero);
        CHECK(level);
      }
      CHECK(mask->pruned(0) == static_cast<std::int64_t>(0.7 * weight_count));
      for (const auto& [state, numbers] : states(*sampler)) {
        INFO(state);
        const std::size_t stride = numbers.size() / 3;
        int free_moved = 0;
        for (std::size_t i = 0; i < 3; ++i) {
          const auto free = posterior->free_coordinates(static_cast<std::int64_t>(i));
          for (std::size_t q = 0; q < free.size(); ++q) {
            if (free[q] == 0 && numbers[i * stride + q] != 0) FAIL("a held coordinate has a state");
            free_moved += free[q] == 1 && numbers[i * stride + q] != 0 ? 1 : 0;
          }
        }
        CHECK(free_moved > 0);
      }
      int alive = 0;
      for (const float value : particles.values().row(0)) alive += value != 0 ? 1 : 0;
      CHECK(alive == particles.size() - mask->pruned(0));
    }
  }
}

TEST_CASE("one thermostat a particle is refused for pruned weights", "[inference][masked]") {
  const DrawnRegression data;
  const auto [made, mask] = make(fast, {});
  const auto& posterior = made;
  Particles<float> particles = posterior->initial_particles(1, 3, 1);
  SamplerChoice choice = samplers().at("sgnht").defaults;
  OptionTable::of(choice).set("thermostat", "particle");
  const auto sampler = choice.make(particles.ensemble(7));
  CHECK_ERROR(
      [&] {
        for (int t = 0; t < 20; ++t) sampler->step(particles, *posterior, data.batch());
      }(),
      usage, "sgnht", "one thermostat a particle");
}

TEST_CASE("a mask changes nothing for the coordinates that a quadratic keeps apart", "[inference][masked]") {
  // Without data every coordinate is on its own: the free ones walk as they would without pruning, bit for bit.
  const Layout layout = mlp_layout(masked_network, 16);
  const Batch<float> nothing{.data_size = 1};
  PrunedNormal pruned(fast, layout), whole({.final_share = 0}, layout);
  Particles<float> some(pruned.layout(), 1), all(pruned.layout(), 1);
  Sghmc<float> sampler({}, some.ensemble(3)), other({}, some.ensemble(3));
  for (int t = 0; t < 50; ++t) sampler.step(some, pruned, nothing), other.step(all, whole, nothing);
  CHECK(whole.free_coordinates(0).empty());
  const auto free = pruned.free_coordinates(0);
  for (std::size_t q = 0; q < free.size(); ++q)
    CHECK(some.values().row(0)[q] == (free[q] == 1 ? all.values().row(0)[q] : 0.0f));
}

TEST_CASE("what is pruned does not cool the temperature of positions", "[inference][masked][diagnostics]") {
  constexpr std::int64_t chains = 64, first_row = 5;
  constexpr double h = 0.1;
  PrunedNormal target(fast, mlp_layout(masked_network, 16), {.first = first_row, .count = chains});
  Particles<float> particles(target.layout(), chains, first_row, first_row + chains);
  Sgld<float> sampler({.step = {.step_size = h}}, particles.ensemble(3));
  for (int t = 0; t < 400; ++t) sampler.step(particles, target, {});
  std::vector<ConfigurationalTemperature> meters(chains, ConfigurationalTemperature(target.layout()));
  sampler.observe_gradients([&](const Particles<float>& seen) {
    for (std::int64_t i = 0; i < chains; ++i)
      meters[i].add(seen.coordinates().block(i, 1), seen.gradients().block(i, 1), target);
  });
  for (int t = 0; t < 2000; ++t) sampler.step(particles, target, {});
  for (std::size_t layer = 0; layer < 2; ++layer) {
    ChainAverages found(chains);
    for (std::int64_t i = 0; i < chains; ++i) found.add(i, meters[i].readings()[layer].mean);
    found.count();
    CAPTURE(layer, found.mean(), found.standard_error());
    CHECK(std::abs(found.z(1 / (1 - h / 2))) < critical_value);
    CHECK(found.z(0.5) > mutant_value);
  }
  CHECK_FALSE(meters[0].warning(1).has_value());
}

TEST_CASE("what is pruned does not cool the temperature of momenta", "[inference][masked][diagnostics]") {
  constexpr std::int64_t chains = 64, first_row = 5, steps = 1024;  // whole blocks
  constexpr double eta = 0.05, friction = 0.3;
  PrunedNormal target(fast, mlp_layout(masked_network, 16), {.first = first_row, .count = chains});
  Particles<float> particles(target.layout(), chains, first_row, first_row + chains);
  Sghmc<float> sampler({.step = {.step_size = eta}, .friction = friction}, particles.ensemble(3));
  const Batch<float> nothing{.data_size = 1};
  KineticTemperature meter(target.layout());
  for (int t = 0; t < 400; ++t) sampler.step(particles, target, nothing);
  std::array<double, 2> sums{};
  for (int t = 0; t < steps; ++t) {
    sampler.step(particles, target, nothing);
    meter.add(sampler, target, first_row);
    for (std::int64_t layer = 0; layer < 2; ++layer)
      sums[layer] += sampler.kinetic_scale() * free_mean_square(target, first_row, layer, sampler.state(0));
  }
  const double law = (2 - friction) / (2 - friction - eta / 2);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const auto reading = meter.readings()[layer];
    CAPTURE(layer, reading.mean, law);
    CHECK(reading.mean == Approx(sums[layer] / steps).epsilon(1e-9));
    CHECK(std::abs(reading.mean - law) < critical_value * (reading.high - reading.mean) / 2.75);
    CHECK(reading.high - reading.low < 0.02);
  }
}

TEST_CASE("a pruned chain goes on from its checkpoint to the bit, each row with its own mask", "[inference][masked]") {
  const DrawnRegression data;
  const RowRange rows{.first = 4, .count = 2};
  const auto [made, mask] = make(fast, rows);
  const auto& posterior = made;
  const Particles<float> drawn = posterior->initial_particles(2, 3, 1);
  Particles<float> particles(drawn.layout(), 2, 4, 6), again = particles;
  for (std::int64_t i = 0; i < 2; ++i) std::ranges::copy(drawn.values().row(i), particles.values().row(i).begin());
  Sghmc<float> sampler({.step = {.step_size = 1e-4}}, particles.ensemble(5));
  Snapshot values, momenta, target;
  for (int t = 0; t < 24; ++t) {
    if (t == 12) particles.save(values), sampler.save(momenta), posterior->save(target);
    sampler.step(particles, *posterior, data.batch());
  }
  const auto [resumed, resumed_mask] = make(fast, rows);
  Sghmc<float> other({.step = {.step_size = 1e-4}}, particles.ensemble(5));
  again.restore(values), other.restore(momenta), resumed->restore(target);
  CHECK(resumed_mask->pruned(5) == static_cast<std::int64_t>(std::floor(weight_count * fast.share(11))));
  for (int t = 12; t < 24; ++t) other.step(again, *resumed, data.batch());
  for (std::int64_t i = 0; i < 2; ++i) {
    CHECK(std::ranges::equal(again.values().row(i), particles.values().row(i)));
    CHECK(std::ranges::equal(resumed->free_coordinates(4 + i), posterior->free_coordinates(4 + i)));
  }
  CHECK_FALSE(std::ranges::equal(posterior->free_coordinates(4), posterior->free_coordinates(5)));
  CHECK_ERROR(posterior->free_coordinates(3), usage, "rows 4 to 5, got row 3");
  const auto elsewhere = make(fast, {.first = 2, .count = 2});
  CHECK_ERROR(elsewhere.posterior->restore(target), data, "of rows 4 to 5, expected 2 to 3");
}

TEST_CASE("pruning that makes no sense is refused", "[inference][masked]") {
  const Layout layout = mlp_layout(masked_network);
  CHECK_ERROR(Masked<float>({.final_share = 1}, layout, entries), usage, "final_share");
  CHECK_ERROR(Masked<float>({.decay = 1}, layout, entries), usage, "decay");
  CHECK_ERROR(Masked<float>({}, layout, {"layer2.weight"}), usage, "layer2.weight");
}
