// The exact laws refuse samplers that are slightly wrong: every mutant of every sampler must exceed a |z| of 10 in a
// statistic that the right sampler keeps below 6.1. The table that it prints is in docs/inference.md.
#include <stein/inference/direct.h>
#include <stein/inference/hmc.h>
#include <stein/inference/nuts.h>
#include <stein/inference/posterior.h>
#include <stein/inference/psgld.h>
#include <stein/inference/santa.h>
#include <stein/inference/sghmc.h>
#include <stein/inference/sgld.h>
#include <stein/inference/sgnht.h>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <functional>
#include <iostream>
#include <string>

#include "inference/quadratic_chain.h"
#include "inference/splitting_law.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr double data_size = 100;  // N of run_chains

struct Mutant {
  const char* name;
  DiffusionNumbers (*spoil)(DiffusionNumbers, double step_size);
};

const std::vector<Mutant> noise_mutants{
    {"h for √h", [](DiffusionNumbers n, double h) { return n.noise *= std::sqrt(h), n; }},
    {"noise/N", [](DiffusionNumbers n, double) { return n.noise /= data_size, n; }},
    {"noise/√N", [](DiffusionNumbers n, double) { return n.noise /= std::sqrt(data_size), n; }},
    {"lost ½", [](DiffusionNumbers n, double) { return n.noise /= std::sqrt(2), n; }},
};

/// n = 10 of N = 50 numbers that are all 1: log p(y | x) = −τ Σ (y − x)²/2 N/n.
class RepeatedNumber final : public Model<double> {
 public:
  RepeatedNumber(std::int64_t size, bool scaled) : scaled_(scaled) { layout_.add("mean", {size}, Role::weight); }
  const Layout& layout() const override { return layout_; }
  void log_likelihood(const ParticleRows<const double>& weights, const Batch<double>& batch, const NoiseKey&,
                      MatrixView<double> gradient, std::span<double> value) override {
    const double count = scaled_ ? batch.data_size : static_cast<double>(batch.rows);
    std::ranges::fill(value, 0.0);
    for (std::int64_t i = 0; i < gradient.rows; ++i)
      for (std::int64_t q = 0; q < gradient.columns; ++q) {
        gradient(i, q) = count * (1 - weights.values(i, q));
        if (!value.empty()) value[i] -= count * std::pow(1 - weights.values(i, q), 2) / 2;
      }
  }
  std::int64_t output_count() const override { return layout_.size(); }
  void predict(const ParticleRows<const double>&, const Inputs<double>&, MatrixView<double>) override {}

 private:
  Layout layout_;
  bool scaled_;
};

/// N(0, 1/20) in every coordinate, or its mirror image.
class NormalPrior final : public Prior<double> {
 public:
  static constexpr double precision = 20;
  explicit NormalPrior(double sign) : sign_(sign) {}
  void add_gradient(const ParticleRows<const double>& rows, MatrixView<double> gradient,
                    std::span<double> value) const override {
    const MatrixView<const double> values = rows.values;
    for (std::int64_t i = 0; i < values.rows; ++i)
      for (std::int64_t q = 0; q < values.columns; ++q) {
        gradient(i, q) -= sign_ * precision * values(i, q);
        if (!value.empty()) value[i] -= sign_ * precision * values(i, q) * values(i, q) / 2;
      }
  }

 private:
  double sign_;
};

enum class Spoiled { nothing, prior_sign, minibatch };

/// The chains' mean against that of the conjugate posterior, N/(N + 20): exact for every sampler that is linear on it.
template <class S>
double z_of_posterior_mean(typename S::Options options, Spoiled spoiled) {
  constexpr std::int64_t chains = 64, size = 4, steps = 2000;
  auto model = std::make_unique<RepeatedNumber>(size, spoiled != Spoiled::minibatch);
  auto direct = std::make_unique<Direct<double>>(model->layout());
  std::vector<std::unique_ptr<Prior<double>>> priors;
  priors.push_back(std::make_unique<NormalPrior>(spoiled == Spoiled::prior_sign ? -1 : 1));
  Posterior<double> target(std::move(model), std::move(direct), std::move(priors));
  const Batch<double> batch{.rows = 10, .data_size = 50};
  S sampler(options, chains, size, 5);
  Particles<double> particles(target.layout(), chains);
  ChainAverages mean(chains);
  for (int t = 0; t < 2 * steps; ++t) {
    sampler.step(particles, target, batch);
    if (t < steps) continue;
    for (std::int64_t i = 0; i < chains; ++i) mean.add(i, particles.values()(i, 0));
    mean.count();
  }
  return std::abs(mean.z(50 / (50 + NormalPrior::precision)));
}

/// The law of one sampler, and how it is refused.
struct Subject {
  std::string name;
  std::function<double(const Mutant*)> law;       ///< |z| of what noise decides; empty where a Metropolis test decides
  std::function<double(Spoiled)> posterior_mean;  ///< |z| of the mean of a conjugate posterior
};

constexpr ChainPlan plan{.curvature = 1, .gradient_noise = 0};

template <class S, class See>
double z_of(typename S::Options options, const Mutant* mutant, double law, const ChainPlan& chosen, const See& see) {
  Opened<S> sampler(options, chosen.chains, chosen.size, 3);
  sampler.metric_at_rest = true;
  if (mutant != nullptr) sampler.spoil = mutant->spoil;
  ChainAverages average(chosen.chains);
  run_chains<double>(chosen, sampler, [&](const Particles<double>& particles, const Opened<S>& moved) {
    for (std::int64_t i = 0; i < chosen.chains; ++i) average.add(i, see(particles, moved, i));
    average.count();
  });
  return std::abs(average.z(law));
}

double square_of_position(const Particles<double>& particles, std::int64_t i) {
  return mean_product(particles.values().row(i), particles.values().row(i));
}

std::vector<Subject> subjects() {
  const auto position = [](const Particles<double>& particles, const auto&, std::int64_t i) {
    return square_of_position(particles, i);
  };
  const auto thermostat = [](const Particles<double>&, const auto& sampler, std::int64_t i) {
    return sampler.thermostats()[static_cast<std::size_t>(i)];
  };
  std::vector<Subject> list;
  const SgldOptions sgld{.step = {.step_size = 0.2}};
  list.push_back({"sgld", [=](const Mutant* m) { return z_of<Sgld<double>>(sgld, m, 1 / (1 - 0.1), plan, position); },
                  [](Spoiled s) { return z_of_posterior_mean<Sgld<double>>({.step = {.step_size = 0.002}}, s); }});
  // With the metric at rest v = 0, G = 1/λ = 2.
  const PsgldOptions psgld{.step = {.step_size = 0.2}, .square = {.epsilon = 0.5}};
  list.push_back({"psgld",
                  [=](const Mutant* m) { return z_of<Psgld<double>>(psgld, m, 1 / (1 - 0.1), plan, position); },
                  [](Spoiled s) {
                    return z_of_posterior_mean<Psgld<double>>(
                        {.step = {.step_size = 0.002}, .square = {.decay = 0.999999999, .epsilon = 0.5}}, s);
                  }});
  const SghmcOptions sghmc{.step = {.step_size = 0.1}, .friction = 0.2};
  list.push_back(
      {"sghmc",
       [=](const Mutant* m) { return z_of<Sghmc<double>>(sghmc, m, 1 / (1 - 0.1 / (2 * 1.8)), plan, position); },
       [](Spoiled s) {
         return z_of_posterior_mean<Sghmc<double>>({.step = {.step_size = 0.002}, .friction = 0.2}, s);
       }});
  // A thermostat absorbs wrong noise in E r²: only where its friction settles does it show.
  const SgnhtOptions sgnht{.step = {.step_size = 0.1}, .thermostat = Thermostat::particle};
  const ChainPlan wide{.curvature = 1, .chains = 16, .size = 256, .burn_in = 1000, .steps = 1000};
  const double friction = (1 - 0.0025 - std::sqrt(0.9975 * 0.9975 - 0.2)) / 0.1;
  list.push_back({"sgnht", [=](const Mutant* m) { return z_of<Sgnht<double>>(sgnht, m, friction, wide, thermostat); },
                  [](Spoiled s) { return z_of_posterior_mean<Sgnht<double>>({.step = {.step_size = 0.02}}, s); }});
  constexpr double eta = 0.001, metric = 0.25, curvature = 0.25 / (eta * metric * metric);
  const SplittingLaw splitting(curvature, metric, eta);
  const SantaOptions santa{.step = {.step_size = eta},
                           .initial_thermostat = splitting.thermostat / std::sqrt(eta),
                           .square = {.decay = 0.999999999, .epsilon = 1 / (metric * metric), .warm_up = 0}};
  static constexpr ChainPlan stiff{.curvature = curvature, .burn_in = 5000};
  list.push_back({"santa",
                  [=](const Mutant* m) {
                    return z_of<Santa<double>>(santa, m, splitting.thermostat, stiff,
                                               [](const Particles<double>&, const auto& sampler, std::int64_t i) {
                                                 double sum = 0;
                                                 for (const double alpha : sampler.state(2).row(i)) sum += alpha;
                                                 return sum / static_cast<double>(stiff.size);
                                               });
                  },
                  [=](Spoiled s) {
                    SantaOptions faster = santa;
                    faster.step.step_size = 0.01, faster.initial_thermostat = splitting.thermostat / 0.1;
                    return z_of_posterior_mean<Santa<double>>(faster, s);
                  }});
  list.push_back({"hmc", {}, [](Spoiled s) {
                    return z_of_posterior_mean<Hmc<double>>({.trajectory = {.step_size = 0.05, .warm_up = 0}}, s);
                  }});
  list.push_back({"nuts", {}, [](Spoiled s) {
                    return z_of_posterior_mean<Nuts<double>>({.trajectory = {.step_size = 0.05, .warm_up = 0}}, s);
                  }});
  return list;
}

}  // namespace

TEST_CASE("every sampler keeps its law, and every mutant breaks it", "[inference][mutant][slow]") {
  std::string table = fmt::format("{:<8}{:>10}", "sampler", "right");
  for (const Mutant& mutant : noise_mutants) table += fmt::format("{:>12}", mutant.name);
  table += fmt::format("{:>12}{:>12}\n", "prior sign", "no N/n");
  for (const Subject& subject : subjects()) {
    INFO(subject.name);
    const double right = std::max(subject.law ? subject.law(nullptr) : 0, subject.posterior_mean(Spoiled::nothing));
    CHECK(right < critical_value);
    table += fmt::format("{:<8}{:>10.1f}", subject.name, right);
    const auto record = [&](const char* name, double z) {
      INFO(name);
      CHECK(z > mutant_value);
      table += fmt::format("{:>12}", z > mutant_value ? "killed" : fmt::format("alive {:.1f}", z));
    };
    for (const Mutant& mutant : noise_mutants)
      if (subject.law)
        record(mutant.name, subject.law(&mutant));
      else
        table += fmt::format("{:>12}", "–");
    record("prior sign", subject.posterior_mean(Spoiled::prior_sign));
    record("no N/n", subject.posterior_mean(Spoiled::minibatch));
    table += '\n';
  }
  std::cout << table;
}
