// pSGLD and Santa with a metric that moves: every step written out in double, as their papers and
// inference/samplers/diffusion_steps.inc have it, with the sampler's own noise.
#include <stein/inference/samplers/psgld.h>
#include <stein/inference/samplers/santa.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "inference/ensemble_of.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr std::int64_t rows = 2, size = 3;
constexpr std::uint64_t seed = 5;
constexpr double data_size = 10;
const Batch<double> batch{.data_size = data_size};

/// ∇ log p at step t: a bowl that moves, so that gradients differ also while particles rest.
double slope(double x, std::uint64_t t) {
  return 3 - 2 * x - static_cast<double>(t * t);
}

class MovingBowl final : public Target<double> {
 public:
  MovingBowl() { layout_.add("x", {size}, Role::weight); }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey& noise,
                const Evaluation<double>& wanted) override {
    const MatrixView<double> gradient = wanted.gradient;
    for (std::int64_t i = 0; i < gradient.rows; ++i)
      for (std::int64_t q = 0; q < gradient.columns; ++q) gradient(i, q) = slope(coordinates.values(i, q), noise.step);
  }

 private:
  Layout layout_;
};

double start(std::int64_t i, std::int64_t q) {
  return 0.5 + static_cast<double>(i) - 0.7 * static_cast<double>(q);
}

double normal(std::uint64_t t, std::int64_t i, std::int64_t q) {
  return normal_at<double>({.seed = seed, .step = t, .stream = Stream::sampler}, static_cast<std::uint32_t>(i),
                           static_cast<std::uint64_t>(q));
}

/// h_t = h/(1 + t/2) and T_t = T/(t + 1): every step has numbers of its own.
constexpr StepSizeOptions falling(double step_size) {
  return {.step_size = step_size, .step_decay_steps = 2};
}
constexpr TemperatureOptions annealed{.temperature = 0.5, .annealing_exponent = 1};
double step_size_at(double h, std::uint64_t t) {
  return h / (1 + static_cast<double>(t) / 2);
}
double temperature_at(std::uint64_t t) {
  return 0.5 / static_cast<double>(t + 1);
}

/// v after the gradient of step t: two steps of warm-up average (s g)² with equal weights, then the decay is 0.7.
double averaged(double square, double scaled, std::uint64_t t) {
  if (t == 0) return scaled * scaled;
  if (t == 1) return (square + scaled * scaled) / 2;
  return 0.7 * square + 0.3 * scaled * scaled;
}

AveragedSquareOptions adaptive(SquareOf square_of) {
  return {.decay = 0.7, .epsilon = 0.3, .square_of = square_of, .warm_up = 2};
}

constexpr double first_eta = 0.01, initial_thermostat = 3;

/// One coordinate of Santa: warm-up in steps 0 and 1, exploration in 2, 3 and 4, then refinement.
struct SantaCoordinate {
  double x, u = 0, v = 0, alpha = 0;

  static double metric_of(double v) { return 1 / std::sqrt(0.3 + std::sqrt(v)); }

  /// A chain starts after the warm-up: u ~ N(0, η), α = √η C.
  void begin(double eta, std::int64_t i, std::int64_t q) {
    const NoiseKey key{.seed = seed, .step = 1, .stream = Stream::initial_values};
    u = std::sqrt(eta) * normal_at<double>(key, static_cast<std::uint32_t>(i), static_cast<std::uint64_t>(q));
    alpha = std::sqrt(eta) * initial_thermostat;
  }

  void move(const SantaOptions& options, double scale, std::uint64_t t, std::int64_t i, std::int64_t q) {
    const double eta = step_size_at(first_eta, t), kinetic = eta * temperature_at(t);
    const bool exploring = t < 5, splitting = options.scheme == SantaScheme::splitting;
    if (t == 2) begin(eta, i, q);
    const double before = metric_of(v);
    if (t >= 2 && splitting) x += before * u / 2;
    const double g = slope(x, t);
    v = averaged(v, scale * g, t);
    if (t < 2) return;
    const double metric = metric_of(v);
    double kick = eta * metric * g;
    if (exploring) kick += std::sqrt(2 * kinetic * before) * normal(t, i, q);
    if (exploring && options.metric_correction) kick += kinetic * (1 - before / metric) / u;
    if (splitting) {  // algorithm 2
      if (exploring) alpha += (u * u - kinetic) / 2;
      u = std::exp(-alpha / 2) * (std::exp(-alpha / 2) * u + kick);
      if (exploring) alpha += (u * u - kinetic) / 2;
      x += metric * u / 2;
    } else {  // algorithm 1
      if (exploring) alpha += u * u - kinetic;
      u = (1 - alpha) * u + kick;
      x += metric * u;
    }
  }
};

}  // namespace

// Caught here: v times 3, its root or (1 − β) lost, N for 1/N, a warm-up that averages with the decay or moves, √G or
// the ½ lost in the drift, T or h of another step.
TEST_CASE("two updates of warm-up and three of adaptive pSGLD are those of its equations", "[inference][adaptive]") {
  const SquareOf square_of = GENERATE(SquareOf::joint, SquareOf::mean);
  const double scale = square_of == SquareOf::joint ? 1 : 1 / data_size;
  MovingBowl target;
  Particles<double> particles(target.layout(), rows);
  Psgld<double> sampler({.step = falling(0.2), .temperature = annealed, .square = adaptive(square_of)},
                        ensemble_of(rows, size, seed));
  std::vector<double> position, average(rows * size);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t q = 0; q < size; ++q) position.push_back(particles.values()(i, q) = start(i, q));
  for (std::uint64_t t = 0; t < 5; ++t) {
    sampler.step(particles, target, batch);
    const double h = step_size_at(0.2, t);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t q = 0; q < size; ++q) {
        double &x = position[static_cast<std::size_t>(i * size + q)],
               &v = average[static_cast<std::size_t>(i * size + q)];
        const double g = slope(x, t);
        v = averaged(v, scale * g, t);
        const double metric = 1 / (0.3 + std::sqrt(v));
        if (t >= 2) x += h / 2 * metric * g + std::sqrt(h * temperature_at(t) * metric) * normal(t, i, q);
        CAPTURE(t, i, q);
        CHECK(particles.values()(i, q) == Approx(x).epsilon(1e-12));
        CHECK(std::as_const(sampler).state(0)(i, q) == Approx(v).epsilon(1e-12));
      }
    }
  }
}

// Caught here: all that pSGLD's test catches, and G for G′ in the noise, one root of the two lost, a thermostat that
// moves in the refinement or stays in the exploration, noise in the refinement, a half step left out of the splitting.
TEST_CASE("Santa's warm-up, exploration and refinement are those of its equations", "[inference][adaptive]") {
  const SquareOf square_of = GENERATE(SquareOf::joint, SquareOf::mean);
  const double scale = square_of == SquareOf::joint ? 1 : 1 / data_size;
  const SantaOptions options{.step = falling(first_eta),
                             .temperature = annealed,
                             .scheme = GENERATE(SantaScheme::euler, SantaScheme::splitting),
                             .exploration_steps = 3,
                             .initial_thermostat = initial_thermostat,
                             .square = adaptive(square_of),
                             .metric_correction = GENERATE(false, true)};
  MovingBowl target;
  Particles<double> particles(target.layout(), rows);
  Santa<double> sampler(options, ensemble_of(rows, size, seed));
  std::vector<SantaCoordinate> expected;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t q = 0; q < size; ++q) expected.push_back({.x = particles.values()(i, q) = start(i, q)});
  for (std::uint64_t t = 0; t < 8; ++t) {
    sampler.step(particles, target, batch);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t q = 0; q < size; ++q) {
        SantaCoordinate& coordinate = expected[static_cast<std::size_t>(i * size + q)];
        coordinate.move(options, scale, t, i, q);
        CAPTURE(t, i, q, static_cast<int>(options.scheme), options.metric_correction);
        CHECK(particles.values()(i, q) == Approx(coordinate.x).epsilon(1e-11));
        CHECK(std::as_const(sampler).state(0)(i, q) == Approx(coordinate.u).epsilon(1e-11));
        CHECK(std::as_const(sampler).state(1)(i, q) == Approx(coordinate.v).epsilon(1e-11));
        CHECK(std::as_const(sampler).state(2)(i, q) == Approx(coordinate.alpha).epsilon(1e-11));
      }
    }
  }
}
