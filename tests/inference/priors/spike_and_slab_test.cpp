// The spike-and-slab Gaussian–Laplace prior and its adaptive latents against the equations of Deng et al. 2019 written
// out, finite differences, and the marginal posterior that EM climbs.
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/priors/spike_and_slab_prior.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/torch/particle_mlp_reference.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// Ten rows of three inputs and two targets, of fifteen in all.
struct Data {
  std::vector<double> x = std::vector<double>(30), y = std::vector<double>(20), classes = std::vector<double>(10);
  Data() {
    fill_normal(std::span<double>(x), {.seed = 1}, 0);
    fill_normal(std::span<double>(y), {.seed = 2}, 0);
    for (int i = 0; i < 10; ++i) classes[i] = i % 2;
  }
  Batch<double> regression() const {
    return {.inputs = {.dense = {x.data(), 10, 3}}, .targets = {y.data(), 10, 2}, .rows = 10, .data_size = 15};
  }
  Batch<double> classification() const {
    Batch<double> batch = regression();
    batch.targets = {classes.data(), 10, 1};
    return batch;
  }
};

const std::vector<std::string> sparse{"layer0.weight", "layer1.weight"};
constexpr double p = 3 * 4 + 4 * 2;

MlpSpec network(SlabLikelihood likelihood) {
  const bool regression = likelihood == SlabLikelihood::regression;
  return {.inputs = 3,
          .hidden = {4},
          .outputs = 2,
          .activation = Activation::tanh,
          .likelihood = regression ? Likelihood::gaussian : Likelihood::categorical,
          .learn_noise_precision = regression};
}

SpikeAndSlabPosterior<double> make(const SpikeAndSlabOptions& options, RowRange rows = {}) {
  return make_spike_and_slab_posterior<double>(
      {.sparse = options}, std::make_unique<ParticleMlpReference<double>>(network(options.likelihood)), sparse, rows);
}

Snapshot saved(const Target<double>& target) {
  Snapshot snapshot;
  target.save(snapshot);
  return snapshot;
}

/// The state of a posterior's latents, with the numbers of one array multiplied by a factor.
Snapshot scaled(const Snapshot& state, std::string_view array, double factor) {
  Snapshot changed;
  for (const auto& [name, kept] : state.arrays()) {
    if (name != array) {
      changed.put_array(name, kept);
      continue;
    }
    std::vector<double> numbers = state.get_vector<double>(name);
    for (double& number : numbers) number *= factor;
    changed.put(name, numbers);
  }
  return changed;
}

double value_of(Posterior<double>& posterior, const Particles<double>& particles, const Batch<double>& batch) {
  Particles<double> scratch = particles;
  std::vector<double> value(static_cast<std::size_t>(particles.rows()));
  posterior.evaluate(particles.coordinates(), batch, {}, {.gradient = scratch.gradients(), .value = value});
  return value[0];
}

/// P(γ = 1 | β) from the two densities themselves.
double slab_probability(double beta, double sigma, double delta, double v0, double v1) {
  const double slab = std::exp(-beta * beta / (2 * sigma * sigma * v1)) / std::sqrt(2 * std::numbers::pi * v1) / sigma;
  const double spike = std::exp(-std::abs(beta) / (sigma * v0)) / (2 * sigma * v0);
  return delta * slab / (delta * slab + (1 - delta) * spike);
}

/// All sparse weights of one row.
std::vector<double> sparse_weights(const Particles<double>& particles, std::int64_t row = 0) {
  std::vector<double> weights;
  for (const std::string& name : sparse) {
    const LayoutEntry& entry = particles.layout().at(name);
    for (std::int64_t q = 0; q < entry.size(); ++q) weights.push_back(particles.values()(row, entry.offset + q));
  }
  return weights;
}

/// One gradient and, with the particles moved elsewhere, one adaptation.
void one_step(Posterior<double>& posterior, Particles<double>& particles, const Batch<double>& batch, double shift) {
  posterior.evaluate(particles.coordinates(), batch, {}, {.gradient = particles.gradients()});
  for (std::int64_t i = 0; i < particles.rows(); ++i)
    for (double& value : particles.values().row(i)) value += shift * std::cos(static_cast<double>(i) + value);
  posterior.adapt(particles.coordinates(), batch, {}, particles.buffers());
}

/// A prior without a number that is 1.
SpikeAndSlabOptions uneven(SlabLikelihood likelihood) {
  return {.likelihood = likelihood,
          .laplace_scale = 0.3,
          .gaussian_scale = 2,
          .sigma = 1.4,
          .slab_share = 0.3,
          .sigma_shape = 3,
          .sigma_scale = 0.7,
          .rate = 50};
}

constexpr SlabLikelihood both[] = {SlabLikelihood::regression, SlabLikelihood::classification};

}  // namespace

TEST_CASE("the log joint is Q1 of equation 10, and its gradient that of the value", "[inference][sparse]") {
  const Data data;
  for (const SlabLikelihood likelihood : both) {
    const bool regression = likelihood == SlabLikelihood::regression;
    const SpikeAndSlabOptions options = uneven(likelihood);
    const auto [posterior, latents] = make(options);
    const Batch<double> batch = regression ? data.regression() : data.classification();
    Particles<double> particles = posterior->initial_particles(1, 3, 1);
    for (int t = 0; t < 3; ++t) one_step(*posterior, particles, batch, 0.1);

    const double sigma = latents->sigma(0), variance = sigma * sigma;
    // The likelihood of the same network with a fixed noise precision, then the rest of Q₁ by hand.
    MlpSpec plain = network(likelihood);
    plain.learn_noise_precision = false;
    if (regression) plain.noise_precision = 1 / variance;
    ParticleMlpReference<double> model(plain);
    std::vector<double> value(1), ignored(static_cast<std::size_t>(particles.size()));
    model.log_likelihood(particles.coordinates(), batch, {},
                         {.gradient = {ignored.data(), 1, particles.size()}, .value = value});
    double expected = value[0] - (p + 3 + 2) / 2 * std::log(variance) - 3 * 0.7 / (2 * variance);
    const std::vector<double> beta = sparse_weights(particles);
    for (std::size_t j = 0; j < beta.size(); ++j) {
      const double rho = latents->rho(0)[j];
      expected -= std::abs(beta[j]) * (1 - rho) / 0.3 / sigma + beta[j] * beta[j] * rho / 2 / (2 * variance);
    }
    for (const char* name : {"layer0.bias", "layer1.bias"})  // N(0, 1), with its normaliser
      for (const double b : particles.view(name, 0).row(0)) expected -= (b * b + std::log(2 * std::numbers::pi)) / 2;
    CHECK(value_of(*posterior, particles, batch) == Approx(expected).epsilon(1e-12));

    posterior->evaluate(particles.coordinates(), batch, {}, {.gradient = particles.gradients()});
    for (std::int64_t q = 0; q < particles.size(); ++q) {
      Particles<double> up = particles, down = particles;
      up.values()(0, q) += 1e-6, down.values()(0, q) -= 1e-6;
      const double slope = (value_of(*posterior, up, batch) - value_of(*posterior, down, batch)) / 2e-6;
      CHECK(particles.gradients()(0, q) == Approx(slope).margin(1e-6).epsilon(1e-6));
    }
    particles.view("layer0.weight", 0)(0, 0) = 0;  // the kink: no pull from the Laplace part
    std::vector<double> slope(static_cast<std::size_t>(particles.size()));
    SpikeAndSlabPrior<double>(std::make_shared<SpikeAndSlabLatents>(*latents), particles.layout(), sparse)
        .add_log_density(particles.coordinates(), {.gradient = {slope.data(), 1, particles.size()}});
    CHECK(slope[0] == 0);
  }
}

TEST_CASE("a layer that is worked through in parts has the law of all its weights", "[inference][sparse]") {
  constexpr std::int64_t size = 150'001;
  const SpikeAndSlabOptions options = uneven(SlabLikelihood::classification);
  Layout layout;
  layout.add("bias", {5}, Role::bias, 1);
  layout.add("layer0.weight", {size}, Role::weight, 1);
  const std::int64_t first = layout.at("layer0.weight").offset;
  Particles<double> particles(layout, 1);
  fill_normal(particles.values().row(0), {.seed = 3}, 0);
  const std::span<double> beta = particles.values().row(0).subspan(static_cast<std::size_t>(first));
  const auto latents = std::make_shared<SpikeAndSlabLatents>(options, std::vector<std::int64_t>{size}, RowRange{0, 1});
  latents->adapt(0, beta, beta, {});
  const double sigma = latents->sigma(0);
  REQUIRE(sigma != 1.4);
  double expected = -(size + 3 + 2) / 2.0 * std::log(sigma * sigma) - 3 * 0.7 / (2 * sigma * sigma);
  for (std::size_t j = 0; j < beta.size(); ++j) {
    const double rho = latents->rho(0)[j];
    expected -= std::abs(beta[j]) * (1 - rho) / 0.3 / sigma + beta[j] * beta[j] * rho / 2 / (2 * sigma * sigma);
  }
  std::vector<double> slope(static_cast<std::size_t>(particles.size())), value(1);
  SpikeAndSlabPrior<double>(latents, layout, {"layer0.weight"})
      .add_log_density(particles.coordinates(), {.gradient = {slope.data(), 1, particles.size()}, .value = value});
  CHECK(value[0] == Approx(expected).epsilon(1e-10));
  for (const std::size_t j : {0U, 8191U, 8192U, 65535U, 65536U, 100'000U, 150'000U}) {
    const double rho = latents->rho(0)[j], sign = beta[j] > 0 ? 1 : -1;
    CHECK(rho == Approx(0.3 + options.weight(2) * (slab_probability(beta[j], 1.4, 0.3, 0.3, 2) - 0.3)).epsilon(1e-9));
    CHECK(slope[static_cast<std::size_t>(first) + j] ==
          Approx(-(1 - rho) / (0.3 * sigma) * sign - rho / (2 * sigma * sigma) * beta[j]).epsilon(1e-12));
  }
}

TEST_CASE("rho starts at delta and follows equation 12 at the weights before the step", "[inference][sparse]") {
  const Data data;
  const SpikeAndSlabOptions options{.laplace_scale = 0.2,
                                    .gaussian_scale = 3,
                                    .sigma = 0.8,
                                    .slab_share = 0.35,
                                    .slab_share_a = 2,
                                    .slab_share_b = 5,
                                    .rate = 8,
                                    .rate_offset = 20};
  const auto [posterior, latents] = make(options);
  Particles<double> particles = posterior->initial_particles(1, 3, 1);
  std::vector<double> rho(static_cast<std::size_t>(p), 0.35), delta{0.35, 0.35};
  CHECK(std::ranges::equal(latents->rho(0), rho));
  double sigma = 0.8;
  for (int k = 1; k <= 40; ++k) {
    const std::vector<double> before = sparse_weights(particles);
    one_step(*posterior, particles, data.classification(), 0.2);
    const std::vector<double> after = sparse_weights(particles);
    const double omega = std::min(1.0, 8 * std::pow(k + 1 + 20, -0.7));
    for (std::size_t j = 0; j < rho.size(); ++j)
      rho[j] = (1 - omega) * rho[j] + omega * slab_probability(before[j], sigma, delta[j < 12 ? 0 : 1], 0.2, 3);
    // 0 = dQ₁/dσ = −(p + ν + 2)/σ + Σ κ₀|β|/σ² + (Σ κ₁ β² + νλ)/σ³, found by bisection.
    const auto slope = [&](double s) {
      double sum = -(p + 1 + 2) / s + 1 / (s * s * s);
      for (std::size_t j = 0; j < rho.size(); ++j)
        sum += (1 - rho[j]) / 0.2 * std::abs(after[j]) / (s * s) + rho[j] / 3 * after[j] * after[j] / (s * s * s);
      return sum;
    };
    double low = 1e-3, high = 1e3;
    for (int i = 0; i < 200; ++i) (slope((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
    sigma = (1 - omega) * sigma + omega * low;
    // 0 = dQ₂/dδ: (Σ ρ + a − 1)/δ = (p_l − Σ ρ + b − 1)/(1 − δ).
    for (int l = 0; l < 2; ++l) {
      double slabs = 0;
      for (int j = 12 * l; j < (l == 0 ? 12 : 20); ++j) slabs += rho[j];
      const double size = l == 0 ? 12 : 8, for_slab = slabs + 2 - 1, for_spike = size - slabs + 5 - 1;
      delta[l] = (1 - omega) * delta[l] + omega * for_slab / (for_slab + for_spike);
    }
    for (std::size_t j = 0; j < rho.size(); ++j) CHECK(latents->rho(0)[j] == Approx(rho[j]).epsilon(1e-10));
    CHECK(latents->sigma(0) == Approx(sigma).epsilon(1e-10));
    for (std::size_t l = 0; l < 2; ++l) CHECK(latents->slab_share(0, l) == Approx(delta[l]).epsilon(1e-10));
  }
}

TEST_CASE("a full step puts sigma where Q1 has its maximum; the published count does not", "[inference][sparse]") {
  const Data data;
  for (const SlabLikelihood likelihood : both)
    for (const SigmaCount count : {SigmaCount::derived, SigmaCount::published}) {
      const bool regression = likelihood == SlabLikelihood::regression;
      const Batch<double> batch = regression ? data.regression() : data.classification();
      const auto [made, latents] = make(
          {.likelihood = likelihood, .adaptation = SlabAdaptation::expectation_maximisation, .sigma_count = count});
      const auto& posterior = made;  // clang 14 refuses a binding in a lambda
      Particles<double> particles = posterior->initial_particles(1, 3, 1);
      one_step(*posterior, particles, batch, 0.1);
      const Snapshot state = saved(*posterior);
      const auto at = [&](double factor) {
        posterior->restore(scaled(state, "prior0/sigma", factor));
        return value_of(*posterior, particles, batch);
      };
      const double slope = (at(1 + 1e-5) - at(1 - 1e-5)) / 2e-5;  // dQ₁/d log σ
      // With R_a short of 2 the slope left at its root is −2 σ⁻¹ σ = −2.
      CHECK(slope == Approx(regression && count == SigmaCount::published ? -2 : 0).margin(1e-5));
      CHECK(at(1 + 1e-3) + at(1 - 1e-3) < 2 * at(1));
    }
}

TEST_CASE("EM with gradient ascent ends where the marginal posterior is level", "[inference][sparse]") {
  // A straight line in three inputs, all of whose weights stay off zero. log p(β, σ, δ | data) with γ summed out, b the
  // intercept: what EM climbs (Dempster, Laird & Rubin 1977), written without any of its equations.
  const double v0 = 1, v1 = 4, a = 2, b = 3, nu = 2, lambda = 0.5, n = 12;
  std::vector<double> x(36), y(12);
  fill_normal(std::span<double>(x), {.seed = 5}, 0);
  fill_normal(std::span<double>(y), {.seed = 6}, 0);
  for (int i = 0; i < 12; ++i) y[i] = 2 * x[3 * i] - x[3 * i + 1] + 0.7 * x[3 * i + 2] + 0.3 * y[i];
  const Batch<double> batch{
      .inputs = {.dense = {x.data(), 12, 3}}, .targets = {y.data(), 12, 1}, .rows = 12, .data_size = n};
  const auto marginal = [&](const std::vector<double>& at) {  // β₁ β₂ β₃ b σ δ
    const double sigma = at[4], delta = at[5], variance = sigma * sigma;
    double sum = -at[3] * at[3] / 2 - n * std::log(sigma) - (nu / 2 + 1) * std::log(variance) -
                 nu * lambda / (2 * variance) + (a - 1) * std::log(delta) + (b - 1) * std::log(1 - delta);
    for (int i = 0; i < 12; ++i) {
      const double rest = y[i] - at[0] * x[3 * i] - at[1] * x[3 * i + 1] - at[2] * x[3 * i + 2] - at[3];
      sum -= rest * rest / (2 * variance);
    }
    for (int j = 0; j < 3; ++j)
      sum += std::log((1 - delta) * std::exp(-std::abs(at[j]) / (sigma * v0)) / (2 * sigma * v0) +
                      delta * std::exp(-at[j] * at[j] / (2 * variance * v1)) /
                          std::sqrt(2 * std::numbers::pi * variance * v1));
    return sum;
  };
  const auto [posterior, latents] = make_spike_and_slab_posterior<double>(
      {.sparse = {.likelihood = SlabLikelihood::regression,
                  .laplace_scale = v0,
                  .gaussian_scale = v1,
                  .slab_share_a = a,
                  .slab_share_b = b,
                  .sigma_shape = nu,
                  .sigma_scale = lambda,
                  .adaptation = SlabAdaptation::expectation_maximisation}},
      std::make_unique<ParticleMlpReference<double>>(MlpSpec{.inputs = 3, .learn_noise_precision = true}),
      {"layer0.weight"});
  Particles<double> particles = posterior->initial_particles(1, 3, 1);
  Sgld<double> ascent({.step = {.step_size = 2e-3}, .temperature = {.temperature = 0}}, particles.ensemble(1));
  for (int t = 0; t < 4000; ++t) ascent.step(particles, *posterior, batch);
  std::vector<double> found(particles.values().row(0).begin(), particles.values().row(0).end());
  found.push_back(latents->sigma(0)), found.push_back(latents->slab_share(0, 0));
  for (std::size_t q = 0; q < found.size(); ++q) {
    std::vector<double> up = found, down = found;
    up[q] += 1e-5, down[q] -= 1e-5;
    INFO("coordinate " << q << " at " << found[q]);
    CHECK((marginal(up) - marginal(down)) / 2e-5 == Approx(0).margin(1e-4));
  }
}

TEST_CASE("fixed latents stay, and so do a sigma and a delta that are not to be learned", "[inference][sparse]") {
  const Data data;
  const auto [still, still_latents] = make({.sigma = 2, .slab_share = 0.3, .adaptation = SlabAdaptation::fixed});
  const auto [deep, deep_latents] =
      make({.sigma = 2, .slab_share = 0.3, .adapt_sigma = false, .adapt_slab_share = false});
  Particles<double> particles = still->initial_particles(1, 3, 1);
  for (int t = 0; t < 5; ++t) {
    Particles<double> same = particles;
    one_step(*still, particles, data.classification(), 0.1);
    one_step(*deep, same, data.classification(), 0.1);
  }
  for (const auto& latents : {still_latents, deep_latents}) {
    CHECK(latents->sigma(0) == 2);
    CHECK(latents->slab_share(0, 1) == 0.3);
  }
  CHECK(std::ranges::all_of(still_latents->rho(0), [](double rho) { return rho == 0.3; }));
  CHECK(std::ranges::none_of(deep_latents->rho(0), [](double rho) { return rho == 0.3; }));
}

TEST_CASE("no weight is too large or too small for rho", "[inference][sparse]") {
  SpikeAndSlabLatents latents({.laplace_scale = 1e-4,
                               .gaussian_scale = 10,
                               .adaptation = SlabAdaptation::expectation_maximisation,
                               .adapt_sigma = false,
                               .adapt_slab_share = false},
                              {4}, {});
  const std::vector<double> beta{0, 1e-5, 50, 1e200};
  latents.adapt(0, beta, beta, {});
  CHECK(latents.rho(0)[0] == Approx(slab_probability(0, 1, 0.5, 1e-4, 10)));
  CHECK(latents.rho(0)[1] == Approx(slab_probability(1e-5, 1, 0.5, 1e-4, 10)));
  CHECK(latents.rho(0)[2] == 1);  // both densities underflow: e^−125 against e^−500000
  CHECK(latents.rho(0)[3] == 0);  // the Gaussian's tail is the thinner one
}

TEST_CASE("omega is A (k + B)^-alpha, limited to one", "[inference][sparse]") {
  const SpikeAndSlabOptions options;
  CHECK(options.weight(1) == Approx(10 * std::pow(1001, -0.7)));
  CHECK(options.weight(20'000) == Approx(10 * std::pow(21'000, -0.7)));
  CHECK(SpikeAndSlabOptions{.rate = 1e6}.weight(1) == 1);
  CHECK(SpikeAndSlabOptions{.adaptation = SlabAdaptation::expectation_maximisation}.weight(7) == 1);
  CHECK(SpikeAndSlabOptions{.adaptation = SlabAdaptation::fixed}.weight(7) == 0);
}

TEST_CASE("residuals are what the slope by the log noise precision says", "[inference][sparse]") {
  // d/d log γ of (N/n) Σ w [log γ − γ (y − f)²]/2 is (count − γ squares)/2.
  const Data data;
  MlpSpec spec = network(SlabLikelihood::regression);
  ParticleMlpReference<double> model(spec);
  Particles<double> particles(model.layout(), 1);
  initialise_coordinates(particles, 4, 1);
  particles.view("log_noise_precision", 0)(0, 0) = std::log(0.4);
  const std::vector<double> row_weights{1, 2, 0.5, 0, 1, -0.5, 1, 1, 3, 2};  // 11 in all
  const std::vector<std::int32_t> outputs{0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
  Batch<double> weighted = data.regression(), chosen = data.regression();
  weighted.row_weights = row_weights;
  chosen.outputs = outputs;
  chosen.targets = {data.y.data(), 10, 1};
  Batch<double> masked = data.regression();
  std::vector<double> mask(static_cast<std::size_t>(10 * masked.inputs.dense.columns), 1);
  for (std::size_t j = 0; j < mask.size(); j += 3) mask[j] = 0;
  masked.input_mask = {mask.data(), 10, masked.inputs.dense.columns};
  for (const Batch<double>& batch : {data.regression(), weighted, chosen, masked}) {
    const Residuals found = residuals_of<double>(model, particles.coordinates(), batch);
    model.log_likelihood(particles.coordinates(), batch, {}, {.gradient = particles.gradients()});
    const double slope = particles.gradients()(0, model.layout().at("log_noise_precision").offset);
    CHECK((found.count - 0.4 * found.squares) / 2 == Approx(slope).epsilon(1e-12));
    CHECK(found.squares > 0);
  }
  CHECK(residuals_of<double>(model, particles.coordinates(), data.regression()).count == 15 * 2);
}

TEST_CASE("every row has latents of its own, the same in a shard", "[inference][sparse]") {
  const Data data;
  const SpikeAndSlabOptions options{.likelihood = SlabLikelihood::regression, .rate = 100};
  const auto [whole, all] = make(options, {.first = 0, .count = 4});
  const auto [half, some] = make(options, {.first = 2, .count = 2});
  const auto& part = half;
  Particles<double> particles = whole->initial_particles(4, 3, 1), shard(particles.layout(), 2, 2, 4);
  for (std::int64_t i = 0; i < 2; ++i) std::ranges::copy(particles.values().row(2 + i), shard.values().row(i).begin());
  const auto step = [&](Posterior<double>& posterior, Particles<double>& rows) {
    posterior.evaluate(rows.coordinates(), data.regression(), {}, {.gradient = rows.gradients()});
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      for (std::int64_t q = 0; q < rows.size(); ++q) rows.values()(i, q) += 1e-3 * rows.gradients()(i, q);
    posterior.adapt(rows.coordinates(), data.regression(), {}, rows.buffers());
  };
  for (int t = 0; t < 10; ++t) step(*whole, particles), step(*part, shard);
  for (const std::int64_t row : {2, 3}) {
    CHECK(all->sigma(row) == some->sigma(row));
    CHECK(std::ranges::equal(all->rho(row), some->rho(row)));
    CHECK(all->slab_share(row, 1) == some->slab_share(row, 1));
  }
  CHECK(all->sigma(2) != all->sigma(3));
  CHECK_ERROR(part->evaluate(particles.coordinates(), data.regression(), {}, {.gradient = particles.gradients()}),
              usage, "rows 2 to 3, got row 0");
}

TEST_CASE("two hundred steps are a hundred, a checkpoint, and a hundred, to the bit", "[inference][sparse]") {
  std::vector<float> x(64 * 6), y(64);
  fill_normal(std::span<float>(x), {.seed = 1}, 0);
  fill_normal(std::span<float>(y), {.seed = 2}, 0);
  const auto batch = [&](int t) {
    const int first = 16 * (t % 4);
    return Batch<float>{.inputs = {.dense = {x.data() + first * 6, 16, 6}},
                        .targets = {y.data() + first, 16, 1},
                        .rows = 16,
                        .data_size = 64};
  };
  const auto fresh = [] {
    return make_spike_and_slab_posterior<float>(
        {.sparse = {.likelihood = SlabLikelihood::regression}},
        std::make_unique<ParticleMlp>(MlpSpec{.inputs = 6, .hidden = {8}, .learn_noise_precision = true}),
        {"layer0.weight"}, {.first = 0, .count = 3});
  };
  const auto [posterior, latents] = fresh();
  Particles<float> particles = posterior->initial_particles(3, 1, 1);
  Sgld<float> sampler({.step = {.step_size = 1e-3}}, particles.ensemble(5));
  Snapshot rows, sampler_state, latent_state;
  for (int t = 0; t < 200; ++t) {
    if (t == 100) particles.save(rows), sampler.save(sampler_state), posterior->save(latent_state);
    sampler.step(particles, *posterior, batch(t));
  }
  const auto [resumed, resumed_latents] = fresh();
  Particles<float> again(particles.layout(), 3);
  Sgld<float> other({.step = {.step_size = 1e-3}}, particles.ensemble(5));
  again.restore(rows), other.restore(sampler_state), resumed->restore(latent_state);
  for (int t = 100; t < 200; ++t) other.step(again, *resumed, batch(t));
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(std::ranges::equal(again.values().row(i), particles.values().row(i)));
    CHECK(std::ranges::equal(resumed_latents->rho(i), latents->rho(i)));
    CHECK(resumed_latents->sigma(i) == latents->sigma(i));
    CHECK(resumed_latents->slab_share(i, 0) == latents->slab_share(i, 0));
    CHECK(latents->sigma(i) != 1);
  }
}

TEST_CASE("the fused network and its reference move the same latents", "[inference][sparse][parity]") {
  std::vector<float> x(40 * 5), y(40 * 2);
  fill_normal(std::span<float>(x), {.seed = 1}, 0);
  fill_normal(std::span<float>(y), {.seed = 2}, 0);
  const Batch<float> batch{
      .inputs = {.dense = {x.data(), 40, 5}}, .targets = {y.data(), 40, 2}, .rows = 40, .data_size = 100};
  const MlpSpec spec{.inputs = 5, .hidden = {17}, .outputs = 2, .learn_noise_precision = true};
  const auto run = [&](std::unique_ptr<Model<float>> model) {
    auto made = make_spike_and_slab_posterior<float>({.sparse = {.likelihood = SlabLikelihood::regression, .rate = 50}},
                                                     std::move(model), sparse, {.first = 0, .count = 2});
    Particles<float> particles = made.posterior->initial_particles(2, 1, 1);
    Sgld<float> sampler({.step = {.step_size = 1e-4}}, particles.ensemble(5));
    for (int t = 0; t < 20; ++t) sampler.step(particles, *made.posterior, batch);
    return made.latents;
  };
  const auto fused = run(std::make_unique<ParticleMlp>(spec));
  const auto reference = run(std::make_unique<ParticleMlpReference<float>>(spec));
  for (const std::int64_t i : {0, 1}) {
    CHECK(fused->sigma(i) == Approx(reference->sigma(i)).epsilon(1e-5));
    for (std::size_t j = 0; j < 5 * 17; ++j) CHECK(fused->rho(i)[j] == Approx(reference->rho(i)[j]).margin(1e-4));
  }
}

TEST_CASE("a spike and slab that does not fit its model is refused", "[inference][sparse]") {
  const auto made = [](const SpikeAndSlabOptions& options, const std::string& entry) {
    return make_spike_and_slab_posterior<double>(
        {.sparse = options}, std::make_unique<ParticleMlpReference<double>>(network(SlabLikelihood::classification)),
        {entry});
  };
  CHECK_ERROR(made({.likelihood = SlabLikelihood::regression}, "layer0.weight"), usage, "log_noise_precision");
  CHECK_ERROR(made({}, "layer0.wieght"), usage, "layer0.wieght", "layer0.weight");
  CHECK_ERROR(made({.laplace_scale = 0}, "layer0.weight"), usage, "laplace_scale");
  CHECK_ERROR(made({.slab_share = 1}, "layer0.weight"), usage, "slab_share");
  const auto one = make({}).posterior, two = make({}, {.first = 0, .count = 2}).posterior;
  CHECK_ERROR(two->restore(saved(*one)), data, "of rows 0 to 0, expected 0 to 1");
  Snapshot latents;
  SpikeAndSlabLatents({}, {3, 2}, {}).save(latents);
  CHECK_ERROR(SpikeAndSlabLatents({}, {2, 3}, {}).restore(latents), data, "layers with 3, 2 weights, expected 2, 3");
}
