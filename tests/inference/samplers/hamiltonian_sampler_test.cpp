// HMC and NUTS: the integrator, invariance of the posterior, the joint distribution test of Geweke, simulation-based
// calibration, and the warm-up.
#include <stein/core/safetensors.h>
#include <stein/inference/samplers/hmc.h>
#include <stein/inference/samplers/nuts.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "distributed/thread_ranks.h"
#include "inference/chain_statistics.h"
#include "inference/correlated_gaussian.h"
#include "inference/ensemble_of.h"

using namespace stein;
using namespace stein::inference;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// log p = −Σ (x⁴/4 + x²/2): no linear force.
class Quartic final : public Target<double> {
 public:
  explicit Quartic(std::int64_t size) { layout_.add("position", {size}, Role::weight); }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey&,
                const Evaluation<double>& wanted) override {
    const auto gradient = wanted.gradient;
    const auto value = wanted.value;
    for (std::int64_t i = 0; i < gradient.rows; ++i) {
      if (!value.empty()) value[i] = 0;
      for (std::int64_t q = 0; q < gradient.columns; ++q) {
        const double x = coordinates.values(i, q);
        if (std::abs(x) > edge && edge > 0) fail(ErrorKind::numeric, "there is no density beyond {}", edge);
        gradient(i, q) = broken ? NAN : -x * x * x - x;
        if (!value.empty()) value[i] -= x * x * x * x / 4 + x * x / 2;
      }
    }
  }
  bool has_value(const Batch<double>&) const override { return !gradient_only; }

  bool broken = false, gradient_only = false;
  double edge = 0;  ///< beyond which it has no density, or 0

 private:
  Layout layout_;
};

/// x ~ N(0, 1), ten answers y ~ N(x, 1) that a test draws anew: Geweke 2004.
class MeanOfTen final : public Target<double> {
 public:
  MeanOfTen() { layout_.add("mean", {1}, Role::weight); }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey&,
                const Evaluation<double>& wanted) override {
    const auto gradient = wanted.gradient;
    const auto value = wanted.value;
    const double x = coordinates.values(0, 0);
    gradient(0, 0) = sum - 11 * x;
    if (!value.empty()) value[0] = sum * x - 11 * x * x / 2;
  }
  double sum = 0;

 private:
  Layout layout_;
};

/// w ~ N(0, I₂), ten answers with logit w·x: not Gaussian, and as easily simulated.
class SmallLogistic final : public Target<double> {
 public:
  explicit SmallLogistic(Draws& draws) : inputs_(10, 2), answers_(10) {
    layout_.add("weight", {2}, Role::weight);
    truth = {draws.normal(), draws.normal()};
    for (int i = 0; i < 10; ++i) {
      inputs_.row(i) << draws.normal(), draws.normal();
      answers_(i) = draws.uniform() < 1 / (1 + std::exp(-inputs_.row(i).dot(truth))) ? 1 : -1;
    }
  }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey&,
                const Evaluation<double>& wanted) override {
    const auto gradient = wanted.gradient;
    const auto value = wanted.value;
    const Eigen::Vector2d w = Eigen::Map<const Eigen::Vector2d>(coordinates.values.row(0).data());
    Eigen::Vector2d slope = -w;
    double log_density = -w.squaredNorm() / 2;
    for (int i = 0; i < 10; ++i) {
      const double margin = answers_(i) * inputs_.row(i).dot(w);
      log_density -= std::log1p(std::exp(-margin));
      slope += answers_(i) / (1 + std::exp(margin)) * inputs_.row(i).transpose();
    }
    Eigen::Map<Eigen::Vector2d>(gradient.row(0).data()) = slope;
    if (!value.empty()) value[0] = log_density;
  }
  Eigen::Vector2d truth;

 private:
  MatrixXd inputs_;
  VectorXd answers_;
  Layout layout_;
};

template <class S>
typename S::Options without_warm_up(double step_size) {
  return {.trajectory = {.step_size = step_size, .warm_up = 0}};
}

const std::vector<double> unit_mass(3, 1.0);

}  // namespace

TEST_CASE("the energy error of a leapfrog trajectory falls with the square of the step", "[inference][hamiltonian]") {
  Quartic target(3);
  const Hamiltonian<double> hamiltonian(target, {}, {}, 0, unit_mass, {});
  const auto error = [&](double step) {
    PhasePoint<double> point(3);
    point.position = {0.5, -1, 1.5}, point.momentum = {1, 0.3, -0.7};
    hamiltonian.evaluate(point);
    const double before = hamiltonian.log_joint(point);
    for (int l = 0; l < std::lround(1 / step); ++l) hamiltonian.leapfrog(point, step);
    return std::abs(hamiltonian.log_joint(point) - before);
  };
  CHECK(error(0.01) / error(0.005) == Approx(4).epsilon(0.01));
  CHECK(error(0.005) / error(0.0025) == Approx(4).epsilon(0.01));
}

TEST_CASE("a trajectory walked back ends where it began", "[inference][hamiltonian]") {
  Quartic target(3);
  const Hamiltonian<double> hamiltonian(target, {}, {}, 0, unit_mass, {});
  PhasePoint<double> point(3);
  point.position = {0.5, -1, 1.5}, point.momentum = {1, 0.3, -0.7};
  hamiltonian.evaluate(point);
  const PhasePoint<double> start = point;
  for (int l = 0; l < 50; ++l) hamiltonian.leapfrog(point, 0.1);
  for (double& r : point.momentum) r = -r;
  for (int l = 0; l < 50; ++l) hamiltonian.leapfrog(point, 0.1);
  for (std::size_t q = 0; q < 3; ++q) {
    CHECK(point.position[q] == Approx(start.position[q]).margin(1e-12));
    CHECK(point.momentum[q] == Approx(-start.momentum[q]).margin(1e-12));
  }
}

TEST_CASE("from the posterior the factor e^(−ΔH) averages to one", "[inference][hamiltonian]") {
  // Creutz 1988: exact for every reversible, volume-preserving integrator at any step.
  const CorrelatedGaussian target(VectorXd{{1, -2, 0.5}}, MatrixXd{{2, 0.9, 0}, {0.9, 1, -0.3}, {0, -0.3, 0.25}});
  CorrelatedGaussian asked = target;
  const Hamiltonian<double> hamiltonian(asked, {}, {}, 0, unit_mass, {});
  constexpr std::int64_t trials = 20'000;
  ChainAverages factor(trials);
  for (std::int64_t i = 0; i < trials; ++i) {
    Draws draws({.seed = 5}, static_cast<std::uint32_t>(i));
    PhasePoint<double> point(3);
    Eigen::Map<VectorXd>(point.position.data(), 3) = target.draw(draws);
    hamiltonian.draw_momentum(point, [&] { return draws.normal(); });
    hamiltonian.evaluate(point);
    const double before = hamiltonian.log_joint(point);
    for (int l = 0; l < 7; ++l) hamiltonian.leapfrog(point, 0.3);
    factor.add(i, std::exp(hamiltonian.log_joint(point) - before));
  }
  factor.count();
  CHECK(std::abs(factor.z(1)) < critical_value);
  CHECK(factor.standard_error() < 0.05);
  CHECK(factor.standard_error() > 1e-4);  // the step is not so short that nothing is tested
}

TEMPLATE_TEST_CASE("chains that start in a correlated Gaussian stay in it", "[inference][hamiltonian]", Hmc<double>,
                   Nuts<double>) {
  constexpr std::int64_t chains = 64;
  CorrelatedGaussian target(VectorXd{{1, -2, 0.5}}, MatrixXd{{2, 0.9, 0}, {0.9, 1, -0.3}, {0, -0.3, 0.25}});
  Particles<double> particles(target.layout(), chains);
  Draws draws({.seed = 3}, 0);
  for (std::int64_t i = 0; i < chains; ++i)
    Eigen::Map<VectorXd>(particles.values().row(i).data(), 3) = target.draw(draws);
  TestType sampler(without_warm_up<TestType>(0.35), ensemble_of(chains, 3, 17));
  std::vector<ChainAverages> found(9, ChainAverages(chains));
  for (int step = 0; step < 150; ++step) {
    const StepReport report = sampler.step(particles, target, {});
    CHECK_FALSE(report.divergent);
    for (std::int64_t i = 0; i < chains; ++i) {
      const VectorXd x = Eigen::Map<const VectorXd>(particles.values().row(i).data(), 3) - target.mean();
      const double seen[] = {x(0),        x(1),        x(2),        x(0) * x(0), x(1) * x(1),
                             x(2) * x(2), x(0) * x(1), x(0) * x(2), x(1) * x(2)};
      for (std::size_t k = 0; k < 9; ++k) found[k].add(i, seen[k]);
    }
    for (ChainAverages& average : found) average.count();
  }
  const double law[] = {0, 0, 0, 2, 1, 0.25, 0.9, 0, -0.3};
  for (std::size_t k = 0; k < 9; ++k) {
    CHECK(std::abs(found[k].z(law[k])) < critical_value);
    CHECK(found[k].standard_error() < 0.1);  // the chains mix: the test can see something
  }
}

TEMPLATE_TEST_CASE("answers and parameter drawn in turn keep their joint law", "[inference][hamiltonian]", Hmc<double>,
                   Nuts<double>) {
  constexpr std::int64_t chains = 64;
  ChainAverages square(chains), fourth(chains), product(chains);
  std::vector<TestType> samplers;
  for (std::int64_t i = 0; i < chains; ++i)
    samplers.emplace_back(without_warm_up<TestType>(0.25), ensemble_of(1, 1, static_cast<std::uint64_t>(i)));
  std::vector<Draws> draws;
  MeanOfTen target;
  std::vector<Particles<double>> particles(chains, Particles<double>(target.layout(), 1));
  for (std::int64_t i = 0; i < chains; ++i) {
    draws.emplace_back(NoiseKey{.seed = 8}, static_cast<std::uint32_t>(i));
    particles[i].values()(0, 0) = draws[i].normal();
  }
  for (int step = 0; step < 2000; ++step) {
    for (std::int64_t i = 0; i < chains; ++i) {
      double& x = particles[i].values()(0, 0);
      target.sum = 10 * x + std::sqrt(10) * draws[i].normal();
      samplers[i].step(particles[i], target, {});
      square.add(i, x * x), fourth.add(i, x * x * x * x), product.add(i, x * target.sum);
    }
    square.count(), fourth.count(), product.count();
  }
  CHECK(std::abs(square.z(1)) < critical_value);
  CHECK(std::abs(fourth.z(3)) < critical_value);
  CHECK(std::abs(product.z(10)) < critical_value);
}

TEMPLATE_TEST_CASE("the truth has a uniform rank among draws from the posterior of what it made",
                   "[inference][hamiltonian][slow]", Hmc<double>, Nuts<double>) {
  // Simulation-based calibration (Talts et al. 2018): 16 equally likely ranks, 15 degrees of freedom.
  constexpr int simulations = 800, draws_kept = 15, bins = draws_kept + 1;
  std::vector<double> counts[2] = {std::vector<double>(bins), std::vector<double>(bins)};
  for (int s = 0; s < simulations; ++s) {
    Draws draws({.seed = 21}, static_cast<std::uint32_t>(s));
    SmallLogistic target(draws);
    typename TestType::Options options;
    options.trajectory.warm_up = 200;
    TestType sampler(options, ensemble_of(1, 2, static_cast<std::uint64_t>(s)));
    Particles<double> particles(target.layout(), 1);
    for (int t = 0; t < 200; ++t) sampler.step(particles, target, {});
    int ranks[2] = {0, 0};
    for (int kept = 0; kept < draws_kept; ++kept) {
      for (int t = 0; t < 5; ++t) sampler.step(particles, target, {});
      for (int k = 0; k < 2; ++k) ranks[k] += particles.values()(0, k) < target.truth(k) ? 1 : 0;
    }
    for (int k = 0; k < 2; ++k) ++counts[k][static_cast<std::size_t>(ranks[k])];
  }
  for (const auto& count : counts) {
    const double expected = static_cast<double>(simulations) / bins;
    double statistic = 0;
    for (const double n : count) statistic += (n - expected) * (n - expected) / expected;
    CHECK(statistic < 37.70);  // χ² of 15 degrees of freedom at p = 1e-3
  }
}

TEST_CASE("dual averaging finds the step size whose acceptance is the wanted one", "[inference][hamiltonian]") {
  const auto acceptance = [](double step_size) { return std::exp(-step_size * step_size / 4); };
  for (const double wanted : {0.3, 0.65, 0.8, 0.95}) {
    for (const double start : {0.001, 1.0, 30.0}) {
      DualAveraging averaging;
      averaging.restart(start);
      double step_size = start;
      for (int t = 0; t < 3000; ++t) step_size = averaging.update(acceptance(step_size), wanted);
      CAPTURE(wanted, start, averaging.average());
      CHECK(acceptance(averaging.average()) == Approx(wanted).margin(0.01));
    }
  }
}

TEST_CASE("dual averaging that is scaled goes on as if it had begun there", "[inference][hamiltonian]") {
  DualAveraging scaled, begun;
  scaled.restart(2), begun.restart(0.5);
  for (int t = 0; t < 40; ++t) {
    if (t == 20) scaled.scale(0.25);
    const double acceptance = 0.5 + 0.4 * std::sin(t), factor = t < 20 ? 0.25 : 1;
    CHECK(factor * scaled.update(acceptance, 0.8) == Approx(begun.update(acceptance, 0.8)));
  }
  CHECK(scaled.average() == Approx(begun.average()));
}

TEMPLATE_TEST_CASE("a step size that is scaled in the warm-up stays so", "[inference][hamiltonian]", Hmc<double>,
                   Nuts<double>) {
  Quartic target(3);
  typename TestType::Options options;
  options.trajectory.warm_up = 150;
  TestType sampler(options, ensemble_of(1, 3, 4)), scaled(options, ensemble_of(1, 3, 4));
  Particles<double> particles(target.layout(), 1), others = particles;
  for (int t = 0; t < 10; ++t) sampler.step(particles, target, {}), scaled.step(others, target, {});
  CHECK(scaled.step_size(0) == sampler.step_size(0));
  scaled.scale_step_size(0.25);
  sampler.step(particles, target, {}), scaled.step(others, target, {});
  // One acceptance, of 0 to 1, moves dual averaging by a factor of less than 2 from the wanted one.
  CHECK(scaled.step_size(0) < 0.6 * sampler.step_size(0));
}

TEMPLATE_TEST_CASE("trajectories are accepted at least as often as was asked for, and more often where more was",
                   "[inference][hamiltonian]", Hmc<double>, Nuts<double>) {
  // Averaging log ε over noisy acceptances keeps a step that is too small by a little, in Stan too: acceptance lies
  // above what was asked for, the more the lower that is.
  CorrelatedGaussian target(VectorXd::Zero(10), MatrixXd::Identity(10, 10));
  double last = 0;
  for (const double wanted : {0.6, 0.75, 0.9}) {
    typename TestType::Options options;
    options.trajectory.target_acceptance = wanted;
    TestType sampler(options, ensemble_of(4, 10, 2));
    Particles<double> particles(target.layout(), 4);
    for (int t = 0; t < 1000; ++t) sampler.step(particles, target, {});
    CHECK(std::isnan(sampler.acceptance()));
    for (int t = 0; t < 1000; ++t) sampler.step(particles, target, {});
    CAPTURE(wanted, sampler.acceptance(), sampler.step_size(0));
    CHECK(sampler.acceptance() > wanted - 0.03);
    CHECK(sampler.acceptance() < wanted + 0.5 * (1 - wanted));
    CHECK(sampler.acceptance() > last);
    last = sampler.acceptance();
  }
}

TEMPLATE_TEST_CASE("the warm-up finds the scales", "[inference][hamiltonian]", Hmc<double>, Nuts<double>) {
  MatrixXd covariance = VectorXd{{1, 1e4, 1e-4}}.asDiagonal();
  CorrelatedGaussian target(VectorXd::Zero(3), covariance);
  Particles<double> particles(target.layout(), 4);
  TestType sampler({}, ensemble_of(4, 3, 2));
  for (int t = 0; t < 1000; ++t) CHECK(sampler.step(particles, target, {}).exploring);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t q = 0; q < 3; ++q)
      CHECK(std::abs(std::log(sampler.inverse_mass(i)[static_cast<std::size_t>(q)] / covariance(q, q))) < 0.7);
  CHECK_FALSE(sampler.step(particles, target, {}).exploring);
  CHECK(sampler.divergences() == 0);
}

TEMPLATE_TEST_CASE("a window estimates the variances from its own steps alone", "[inference][hamiltonian]", Hmc<double>,
                   Nuts<double>) {
  // The last window has 500 of the 875 steps that estimate: with the sums of the windows before it in them the
  // variances would be 1.75.
  constexpr std::int64_t chains = 8, size = 12;
  CorrelatedGaussian target(VectorXd::Zero(size), MatrixXd::Identity(size, size));
  Particles<double> particles(target.layout(), chains);
  TestType sampler({}, ensemble_of(chains, size, 2));
  for (int t = 0; t < 1000; ++t) sampler.step(particles, target, {});
  double sum = 0;
  for (std::int64_t i = 0; i < chains; ++i)
    for (const double variance : sampler.inverse_mass(i)) sum += variance;
  CHECK(sum / (chains * size) == Approx(1).margin(0.15));
}

TEST_CASE("the windows of a warm-up are Stan's", "[inference][hamiltonian]") {
  const auto ends = [](std::int64_t steps) {
    const WarmUpWindows windows(steps);
    std::vector<std::int64_t> closing;
    for (std::int64_t t = 0; t < steps; ++t)
      if (windows.closes(t)) closing.push_back(t + 1);
    return closing;
  };
  CHECK(ends(1000) == std::vector<std::int64_t>{100, 150, 250, 450, 950});
  CHECK(ends(100) == std::vector<std::int64_t>{90});
  CHECK(ends(19).empty());
}

TEMPLATE_TEST_CASE("half the steps, saved and restored, go on to the same bits", "[inference][hamiltonian]",
                   Hmc<double>, Nuts<double>) {
  Quartic target(3);
  Particles<double> particles(target.layout(), 2);
  typename TestType::Options options;
  options.trajectory.warm_up = 150;
  TestType sampler(options, ensemble_of(2, 3, 4)), resumed(options, ensemble_of(2, 3, 4));
  for (int t = 0; t < 100; ++t) sampler.step(particles, target, {});
  Snapshot state, positions;
  sampler.save(state), particles.save(positions);
  Particles<double> again(target.layout(), 2);
  resumed.restore(state), again.restore(positions);
  for (int t = 0; t < 100; ++t) sampler.step(particles, target, {}), resumed.step(again, target, {});
  for (std::int64_t i = 0; i < 2; ++i) CHECK(std::ranges::equal(particles.values().row(i), again.values().row(i)));
  CHECK(sampler.gradients() == resumed.gradients());
  CHECK(sampler.acceptance() == resumed.acceptance());
}

namespace {

/// Some steps of five chains behind a warm-up, on one process or as one of several ranks. @returns all that they left
template <class Tested>
std::string state_of_chains(const std::shared_ptr<distributed::Communicator>& ranks) {
  Quartic target(3);
  Particles<double> particles(target.layout(), 5);
  typename Tested::Options options;
  options.trajectory.warm_up = 60;
  Tested sampler(options, ensemble_of(5, 3, 4));
  if (ranks) sampler.share_with(*ranks);
  for (int t = 0; t < 80; ++t) sampler.step(particles, target, {});
  Snapshot state;
  state.put_saved("sampler", sampler), state.put_saved("particles", particles);
  return encode_safetensors(state);
}

}  // namespace

TEMPLATE_TEST_CASE("ranks that share chains have those of one process", "[inference][hamiltonian][distributed]",
                   Hmc<double>, Nuts<double>) {
  const std::string alone = state_of_chains<TestType>(nullptr);
  for (const int size : {2, 3, 5, 7}) {
    std::vector<std::string> found(static_cast<std::size_t>(size));
    test::on_ranks(size, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
      found[static_cast<std::size_t>(ranks->rank())] = state_of_chains<TestType>(ranks);
    });
    CAPTURE(size);
    for (const std::string& state : found) CHECK((state == alone));
  }
}

TEMPLATE_TEST_CASE("of chains that cannot go on ranks tell of the first, and leave all where they were",
                   "[inference][hamiltonian][distributed]", Hmc<double>, Nuts<double>) {
  std::vector<std::string> told(3);
  std::vector<double> first(3);
  test::on_ranks(3, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
    Quartic target(2);
    Particles<double> particles(target.layout(), 6);
    for (const std::int64_t broken : {3, 4, 5}) particles.values()(broken, 0) = INFINITY;
    TestType sampler({}, ensemble_of(6, 2, 0));
    sampler.share_with(*ranks);
    const auto place = static_cast<std::size_t>(ranks->rank());
    try {
      sampler.step(particles, target, {});
    } catch (const Error& error) {
      told[place] = error.what();
    }
    first[place] = particles.values()(0, 0);
  });
  for (const std::string& sentence : told) CHECK_THAT(sentence, Catch::Contains("where chain 3 stands"));
  CHECK(first == std::vector<double>(3));
}

TEMPLATE_TEST_CASE("a trajectory to where the target has no density is divergent, and the chain goes on",
                   "[inference][hamiltonian]", Hmc<double>, Nuts<double>) {
  Quartic target(2);
  target.edge = 1;
  Particles<double> particles(target.layout(), 1);
  typename TestType::Options options;
  options.trajectory = {.step_size = 0.3, .warm_up = 0};
  TestType sampler(options, ensemble_of(1, 2, 0));
  int divergent = 0, accepted = 0;
  for (int t = 0; t < 200; ++t) {
    const StepReport report = sampler.step(particles, target, {});
    divergent += report.divergent;
    accepted += report.accepted;
    for (const double x : particles.values().row(0)) REQUIRE(std::abs(x) <= 1);
  }
  CHECK(divergent > 20);
  CHECK(accepted > 20);
  CHECK(sampler.divergences() == divergent);
}

TEMPLATE_TEST_CASE("a target without a density, or one that is no number where the chain starts, is refused",
                   "[inference][hamiltonian]", Hmc<double>, Nuts<double>) {
  Quartic target(2);
  Particles<double> particles(target.layout(), 1);
  TestType sampler({}, ensemble_of(1, 2, 0));
  target.gradient_only = true;
  CHECK_ERROR(sampler.step(particles, target, {}), usage, "needs a target with a log density");
  target.gradient_only = false;
  target.broken = true;
  CHECK_ERROR(sampler.step(particles, target, {}), numeric, "the gradient of position[0] of particle 0 is nan");
  particles.values()(0, 0) = INFINITY;
  CHECK_ERROR(sampler.step(particles, target, {}), numeric, "the log density where chain 0 stands", "at step 0");
}
