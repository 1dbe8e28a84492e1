// A sketch that keeps the contract honest, not part of the library: the spike-and-slab Gaussian–Laplace regression of
// Deng et al. 2019, whose latent variables (eq. 12–15) move in `adapt` and nowhere else.
#include <stein/inference/target.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

using namespace stein;
using namespace stein::inference;

namespace {

struct SpikeAndSlab {
  double laplace_scale = 0.1;  // v₀
  double gaussian_scale = 10;  // v₁
  double a = 1, b = 4;         // δ ~ Beta(a, b)
  double nu = 1, lambda = 1;   // σ² ~ IG(ν/2, νλ/2)
};

/// Linear regression; one set of latents a chain, rows keyed by their global number.
class SpikeAndSlabRegression final : public Target<double> {
 public:
  SpikeAndSlabRegression(SpikeAndSlab prior, std::int64_t size, std::int64_t chains)
      : prior_(prior),
        rho_(size * chains, 0.5),
        kappa0_(size * chains, 0.5 / prior.laplace_scale),
        kappa1_(size * chains, 0.5 / prior.gaussian_scale),
        previous_(size * chains, 0.0),
        sigma_(chains, 1.0),
        delta_(chains, 0.5) {
    layout_.add("weight", {size}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }

  /// Q₁ of eq. 10 for the present latents.
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>& batch, const NoiseKey&,
                MatrixView<double> gradient, std::span<double> value) override {
    for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
      const std::int64_t chain = coordinates.first_row + i;
      const auto beta = coordinates.values.row(i);
      const double variance = sigma_[chain] * sigma_[chain], scale = batch.data_size / static_cast<double>(batch.rows);
      double sum = -scale * squared_residuals(beta, batch) / (2 * variance) -
                   noise_count(batch) / 2 * std::log(variance) - prior_.nu * prior_.lambda / (2 * variance);
      for (std::int64_t j = 0; j < size(); ++j) {
        const double k0 = kappa0_[chain * size() + j], k1 = kappa1_[chain * size() + j];
        double slope = 0;
        for (std::int64_t r = 0; r < batch.rows; ++r) slope += residual(beta, batch, r) * batch.inputs.dense(r, j);
        gradient(i, j) =
            scale * slope / variance - k0 * std::copysign(1.0, beta[j]) / sigma_[chain] - k1 * beta[j] / variance;
        sum -= k0 * std::abs(beta[j]) / sigma_[chain] + k1 * beta[j] * beta[j] / (2 * variance);
      }
      if (!value.empty()) value[i] = sum;
    }
  }

  void adapt(const ParticleRows<const double>& coordinates, const Batch<double>& batch, const NoiseKey&,
             MatrixView<double>, double weight) override {
    for (std::int64_t i = 0; i < coordinates.values.rows; ++i)
      adapt_chain(coordinates.values.row(i), coordinates.first_row + i, batch, weight);
  }

  void save(Snapshot& snapshot) const override {
    snapshot.put("rho", rho_), snapshot.put("kappa0", kappa0_), snapshot.put("kappa1", kappa1_);
    snapshot.put("previous", previous_), snapshot.put("sigma", sigma_), snapshot.put("delta", delta_);
  }
  void restore(const Snapshot& snapshot) override {
    const auto get = [&](const char* name, std::vector<double>& to) { snapshot.get(name, std::span<double>(to)); };
    get("rho", rho_), get("kappa0", kappa0_), get("kappa1", kappa1_);
    get("previous", previous_), get("sigma", sigma_), get("delta", delta_);
  }

 private:
  std::int64_t size() const { return layout_.size(); }
  /// N + p + ν + 2: what multiplies −log σ in Q₁ (the published R_a lacks the 2 that eq. 10 implies).
  double noise_count(const Batch<double>& batch) const {
    return batch.data_size + static_cast<double>(size()) + prior_.nu + 2;
  }
  double residual(std::span<const double> beta, const Batch<double>& batch, std::int64_t row) const {
    double rest = batch.targets(row, 0);
    for (std::int64_t j = 0; j < size(); ++j) rest -= batch.inputs.dense(row, j) * beta[j];
    return rest;
  }
  double squared_residuals(std::span<const double> beta, const Batch<double>& batch) const {
    double sum = 0;
    for (std::int64_t row = 0; row < batch.rows; ++row) sum += residual(beta, batch, row) * residual(beta, batch, row);
    return sum;
  }
  /// eq. 12, in log space.
  double slab_probability(double beta, double sigma, double delta) const {
    const double slab = -beta * beta / (2 * sigma * sigma * prior_.gaussian_scale) -
                        0.5 * std::log(2 * std::numbers::pi * sigma * sigma * prior_.gaussian_scale) + std::log(delta);
    const double spike = -std::abs(beta) / (sigma * prior_.laplace_scale) - std::log(2 * sigma * prior_.laplace_scale) +
                         std::log1p(-delta);
    return 1 / (1 + std::exp(spike - slab));
  }
  void adapt_chain(std::span<const double> beta, std::int64_t chain, const Batch<double>& batch, double weight) {
    const auto towards = [weight](double& latent, double target) { latent += weight * (target - latent); };
    double& sigma = sigma_[chain];
    double absolute = 0, square = 0, slabs = 0;
    for (std::int64_t j = 0; j < size(); ++j) {
      const std::int64_t place = chain * size() + j;
      const double probability = slab_probability(previous_[place], sigma, delta_[chain]);
      towards(rho_[place], probability);
      towards(kappa0_[place], (1 - probability) / prior_.laplace_scale);
      towards(kappa1_[place], probability / prior_.gaussian_scale);
      absolute += kappa0_[place] * std::abs(beta[j]);
      square += kappa1_[place] * beta[j] * beta[j];
      slabs += rho_[place];
      if (weight > 0) previous_[place] = beta[j];
    }
    const double a = noise_count(batch);
    const double c = batch.data_size / static_cast<double>(batch.rows) * squared_residuals(beta, batch) + square +
                     prior_.nu * prior_.lambda;
    towards(sigma, (absolute + std::sqrt(absolute * absolute + 4 * a * c)) / (2 * a));
    towards(delta_[chain], (slabs + prior_.a - 1) / (prior_.a + prior_.b + static_cast<double>(size()) - 2));
  }

  SpikeAndSlab prior_;
  Layout layout_;
  std::vector<double> rho_, kappa0_, kappa1_, previous_, sigma_, delta_;
};

struct Regression {
  std::vector<double> x{0.5, -1, 1.5, 1, 0.25, -0.5, -0.75, 0.5, 1, 0.25, 1, -1.25, -0.5, -0.5, 0.75};
  std::vector<double> y{1.4, 0.9, -0.6, 1.1, -0.2};
  Batch<double> batch() const {
    return {.inputs = {.dense = {x.data(), 5, 3}}, .targets = {y.data(), 5, 1}, .rows = 5, .data_size = 15};
  }
};

Snapshot saved(const SpikeAndSlabRegression& target) {
  Snapshot snapshot;
  target.save(snapshot);
  return snapshot;
}

/// The log joint of both chains, with `sigma` of every chain multiplied by a factor.
std::vector<double> value_at(SpikeAndSlabRegression& target, const Particles<double>& particles, double factor) {
  const Snapshot kept = saved(target);
  Snapshot changed;
  for (const auto& [name, array] : kept.arrays()) {
    std::vector<double> numbers = kept.get_vector<double>(name);
    if (name == "sigma")
      for (double& number : numbers) number *= factor;
    changed.put(name, numbers);
  }
  target.restore(changed);
  Particles<double> scratch = particles;
  std::vector<double> value(static_cast<std::size_t>(particles.rows()));
  target.evaluate(particles.coordinates(), Regression{}.batch(), {}, scratch.gradients(), value);
  target.restore(kept);
  return value;
}

}  // namespace

TEST_CASE("a spike-and-slab target keeps its latents still in evaluate and moves them in adapt",
          "[inference][contract]") {
  const Regression data;
  SpikeAndSlabRegression target({}, 3, 2);
  Particles<double> particles(target.layout(), 2);
  const double start[2][3] = {{0.8, -0.02, 0.3}, {-0.5, 1.1, 0.04}};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) particles.values()(i, j) = start[i][j];
  const auto rho = [&] { return saved(target).get_vector<double>("rho"); };

  const std::vector<double> before = rho();
  value_at(target, particles, 1);
  target.adapt(particles.coordinates(), data.batch(), {}, {}, 0);  // ω = 0: fixed priors
  CHECK(rho() == before);
  target.adapt(particles.coordinates(), data.batch(), {}, {}, 1);
  // The weight before the first step is 0: slab density 1/√(2π·10), spike density 1/(2·0.1), δ = ½.
  const double slab = 1 / std::sqrt(20 * std::numbers::pi);
  for (const double probability : rho()) CHECK(probability == Approx(slab / (slab + 5)));
  target.adapt(particles.coordinates(), data.batch(), {}, {}, 1);
  const Snapshot after = saved(target);
  CHECK(rho() != before);

  SECTION("the gradient is that of the value, by central differences") {
    target.evaluate(particles.coordinates(), data.batch(), {}, particles.gradients(), {});
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) {
        Particles<double> above = particles, below = particles;
        above.values()(i, j) += 1e-6;
        below.values()(i, j) -= 1e-6;
        const double difference = (value_at(target, above, 1)[i] - value_at(target, below, 1)[i]) / 2e-6;
        CHECK(particles.gradients()(i, j) == Approx(difference).epsilon(1e-6));
      }
  }
  SECTION("after a full step sigma maximises the objective (eq. 14 against eq. 10)") {
    const std::vector<double> best = value_at(target, particles, 1);
    for (const double factor : {0.99, 0.999, 1.001, 1.01})
      for (int i = 0; i < 2; ++i) CHECK(value_at(target, particles, factor)[i] < best[i]);
    const std::vector<double> above = value_at(target, particles, 1 + 1e-5),
                              below = value_at(target, particles, 1 - 1e-5);
    for (int i = 0; i < 2; ++i) CHECK((above[i] - below[i]) / 2e-5 == Approx(0).margin(1e-4));
  }
  SECTION("the larger a weight, the more it belongs to the slab, chain by chain") {
    const std::vector<double> found = rho();
    CHECK(found[0] > found[2]);
    CHECK(found[2] > found[1]);
    CHECK(found[4] > found[3]);
    CHECK(found[3] > found[5]);
  }
  SECTION("a restored target goes on as the saved one would") {
    SpikeAndSlabRegression other({}, 3, 2);
    other.restore(after);
    target.adapt(particles.coordinates(), data.batch(), {}, {}, 0.5);
    other.adapt(particles.coordinates().block(1, 1), data.batch(), {}, {},
                0.5);  // rows by their global number, in any order
    other.adapt(particles.coordinates().block(0, 1), data.batch(), {}, {}, 0.5);
    CHECK(saved(other).get_vector<double>("sigma") == saved(target).get_vector<double>("sigma"));
    CHECK(rho() == saved(other).get_vector<double>("rho"));
  }
}
