// The exact laws refuse samplers that are slightly wrong: every mutant of every sampler must exceed a |z| of 10 in a
// statistic that the right sampler keeps below 6.1. The table that it prints is in docs/inference.md.
#include <stein/inference/samplers/dropout_sghmc.h>
#include <stein/inference/samplers/hmc.h>
#include <stein/inference/samplers/nuts.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/psgld.h>
#include <stein/inference/samplers/santa.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/inference/samplers/sgnht.h>
#include <stein/inference/samplers/svgd.h>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <functional>
#include <iostream>
#include <string>

#include "inference/conjugate_case.h"
#include "inference/discretised_law.h"
#include "inference/ensemble_of.h"
#include "inference/proof_record.h"
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

/// The law of one sampler, and how it is refused.
struct Subject {
  std::string name;
  std::function<double(const Mutant*)> law;       ///< |z| of what noise decides; empty where a sampler injects none, or
                                                  ///< a Metropolis test decides
  std::function<double(Spoiled)> posterior_mean;  ///< |z| of the mean of a conjugate posterior
};

template <class S, class See>
double z_of(const typename S::Options& options, const Mutant* mutant, double law, const ChainPlan& chosen,
            const See& see) {
  Opened<S> sampler(options, ensemble_of(chosen.chains, chosen.size, 3));
  sampler.metric_at_rest = true;
  if (mutant != nullptr) sampler.spoil = mutant->spoil;
  ChainAverages average(chosen.chains);
  run_chains<double>(chosen, sampler, [&](const Particles<double>& particles, const Opened<S>& moved) {
    for (std::int64_t i = 0; i < chosen.chains; ++i) average.add(i, see(particles, moved, i));
    average.count();
  });
  return std::abs(average.z(law));
}

/// A statistic of chain i.
const auto square_of_position = [](const Particles<double>& particles, const auto&, std::int64_t i) {
  return mean_product(particles.values().row(i), particles.values().row(i));
};
const auto shared_thermostat = [](const Particles<double>&, const auto& sampler, std::int64_t i) {
  return sampler.thermostats()[static_cast<std::size_t>(i)];
};
const auto santa_thermostat = [](const Particles<double>&, const auto& sampler, std::int64_t i) {
  double sum = 0;
  for (const double alpha : sampler.state(2).row(i)) sum += alpha;
  return sum / static_cast<double>(sampler.state(2).columns);
};

constexpr ChainPlan plan{.curvature = 1, .gradient_noise = 0, .burn_in = 500, .steps = 2500};

std::vector<Subject> langevin_subjects() {
  const SgldOptions sgld{.step = {.step_size = 0.2}};
  // With the metric at rest v = 0, G = 1/λ = 2.
  const PsgldOptions psgld{.step = {.step_size = 0.2}, .square = {.epsilon = 0.5}};
  const double law = sgld_variance({1, 0.2, 1, 0});
  return {{"sgld", [=](const Mutant* m) { return z_of<Sgld<double>>(sgld, m, law, plan, square_of_position); },
           [](Spoiled s) { return z_of_posterior_mean<Sgld<double>>({.step = {.step_size = 0.002}}, s); }},
          {"psgld, metric at rest",
           [=](const Mutant* m) { return z_of<Psgld<double>>(psgld, m, law, plan, square_of_position); },
           [](Spoiled s) {
             return z_of_posterior_mean<Psgld<double>>(
                 {.step = {.step_size = 0.002}, .square = {.decay = 0.999999999, .epsilon = 0.5}}, s);
           }}};
}

std::vector<Subject> sghmc_subjects() {
  const SghmcOptions sghmc{.step = {.step_size = 0.1}, .friction = 0.2},
      slower{.step = {.step_size = 0.002}, .friction = 0.2};
  const DropoutSghmcOptions all_inputs{.sghmc = sghmc, .keep = 1};
  const double law = SghmcLaw({1, 0.1, 1, 0}, 0.2).position;
  return {{"sghmc", [=](const Mutant* m) { return z_of<Sghmc<double>>(sghmc, m, law, plan, square_of_position); },
           [=](Spoiled s) { return z_of_posterior_mean<Sghmc<double>>(slower, s); }},
          {"dropout-sghmc",
           [=](const Mutant* m) { return z_of<DropoutSghmc<double>>(all_inputs, m, law, plan, square_of_position); },
           [=](Spoiled s) { return z_of_posterior_mean<DropoutSghmc<double>>({.sghmc = slower, .keep = 1}, s); }}};
}

/// A thermostat absorbs wrong noise in E r²: it shows in where friction settles, and in what noise adds to r² in a
/// step.
std::vector<Subject> sgnht_subjects() {
  const SgnhtOptions shared{.step = {.step_size = 0.1}, .thermostat = Thermostat::particle},
      own{.step = {.step_size = 0.1}, .thermostat = Thermostat::coordinate};
  const ChainPlan wide{.curvature = 1, .size = 256, .burn_in = 500, .steps = 500};
  const auto added = [](const Particles<double>& particles, const auto& sampler, std::int64_t i) {
    constexpr double h = 0.1;
    double sum = 0;
    for (std::int64_t q = 0; q < plan.size; ++q) {
      const double r = sampler.state(0)(i, q), kept = (1 - h * sampler.state(1)(i, q)) * r;
      sum += r * r - std::pow(kept - h * particles.values()(i, q), 2);
    }
    return sum / static_cast<double>(plan.size);
  };
  const auto mean = [](Thermostat thermostat) {
    return [=](Spoiled s) {
      return z_of_posterior_mean<Sgnht<double>>({.step = {.step_size = 0.02}, .thermostat = thermostat}, s);
    };
  };
  const double friction = sgnht_friction({1, 0.1, 1, 0}, 1);
  return {
      {"sgnht, one a particle",
       [=](const Mutant* m) { return z_of<Sgnht<double>>(shared, m, friction, wide, shared_thermostat); },
       mean(Thermostat::particle)},
      {"sgnht, one a coordinate", [=](const Mutant* m) { return z_of<Sgnht<double>>(own, m, 2 * 0.1, plan, added); },
       mean(Thermostat::coordinate)}};
}

std::vector<Subject> santa_subjects() {
  constexpr double eta = 0.001, metric = 0.25, curvature = 0.25 / (eta * metric * metric);
  const ChainPlan stiff{.curvature = curvature, .burn_in = 2000, .steps = 2500};
  std::vector<Subject> list;
  for (const auto& [name, scheme, thermostat] :
       {std::tuple{"santa, splitting", SantaScheme::splitting, SplittingLaw(curvature, metric, eta).thermostat},
        {"santa, Euler", SantaScheme::euler, santa_euler_thermostat(curvature, metric, eta)}}) {
    const auto options = [=, scheme = scheme, thermostat = thermostat](double step_size) {
      return SantaOptions{.step = {.step_size = step_size},
                          .scheme = scheme,
                          .initial_thermostat = thermostat / std::sqrt(step_size),
                          .square = {.decay = 0.999999999, .epsilon = 1 / (metric * metric), .warm_up = 0}};
    };
    list.push_back({name,
                    [=, thermostat = thermostat](const Mutant* m) {
                      return z_of<Santa<double>>(options(eta), m, thermostat, stiff, santa_thermostat);
                    },
                    [=](Spoiled s) { return z_of_posterior_mean<Santa<double>>(options(0.01), s); }});
  }
  return list;
}

/// Samplers in whose law no injected noise stands.
std::vector<Subject> noiseless_subjects() {
  std::vector<Subject> list;
  list.push_back({"hmc", {}, [](Spoiled s) {
                    return z_of_posterior_mean<Hmc<double>>({.trajectory = {.step_size = 0.05, .warm_up = 0}}, s);
                  }});
  list.push_back({"nuts", {}, [](Spoiled s) {
                    return z_of_posterior_mean<Nuts<double>>({.trajectory = {.step_size = 0.05, .warm_up = 0}}, s);
                  }});
  const OptimizerOptions descent{.method = OptimizerMethod::sgd, .step = {.step_size = 0.002}, .momentum = 0.5};
  list.push_back({"svgd, RBF kernel", {}, [=](Spoiled s) {
                    return z_of_posterior_mean<Svgd<double>>({.optimizer = descent}, s,
                                                             {.gradient_deviation = 10, .together = 5});
                  }});
  for (const auto& [name, method] : {std::pair{"sgd-momentum", OptimizerMethod::sgd},
                                     {"rmsprop", OptimizerMethod::rmsprop},
                                     {"adam", OptimizerMethod::adam}})
    list.push_back({name, {}, [=, method = method](Spoiled s) {
                      OptimizerOptions options = descent;
                      options.method = method, options.square_decay = 0.99;
                      return z_of_posterior_mean<Optimizer<double>>(options, s, {.gradient_deviation = 10});
                    }});
  for (const auto& [name, weights] :
       {std::pair{"mean-field Gaussian", ConjugateCase::Weights::mean_field},
        {"variational matrix Gaussian", ConjugateCase::Weights::variational_matrix_gaussian}})
    list.push_back({name, {}, [=, weights = weights](Spoiled s) {
                      return z_of_posterior_mean<Optimizer<double>>(descent, s, {.weights = weights});
                    }});
  return list;
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const auto& part :
       {langevin_subjects(), sghmc_subjects(), sgnht_subjects(), santa_subjects(), noiseless_subjects()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEST_CASE("every sampler keeps its law, and every mutant breaks it", "[inference][mutant][proof][slow]") {
  std::string table = fmt::format("{:<24}{:>10}", "sampler", "right");
  for (const Mutant& mutant : noise_mutants) table += fmt::format("{:>12}", mutant.name);
  table += fmt::format("{:>12}{:>12}\n", "prior sign", "no N/n");
  for (const Subject& subject : subjects()) {
    INFO(subject.name);
    const double right = std::max(subject.law ? subject.law(nullptr) : 0, subject.posterior_mean(Spoiled::nothing));
    CHECK(right < critical_value);
    record_proof(subject.name, "mutants", "right", right);
    table += fmt::format("{:<24}{:>10.1f}", subject.name, right);
    const auto record = [&](const char* name, double z) {
      INFO(name);
      CHECK(z > mutant_value);
      record_proof(subject.name, "mutants", name, z);
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
