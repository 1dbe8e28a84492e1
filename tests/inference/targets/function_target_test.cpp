// A user's own log density: sampled as it should be, and refused in a sentence where it is no number.
#include <stein/core/parallel.h>
#include <stein/inference/samplers/hmc.h>
#include <stein/inference/samplers/nuts.h>
#include <stein/inference/samplers/psgld.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/targets/function_target.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "core/error_matcher.h"
#include "inference/chain_statistics.h"
#include "inference/ensemble_of.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// x ~ N(0, 4), y ~ N(x², 1).
double banana(std::span<const double> at, std::span<double> gradient) {
  const double bend = at[1] - at[0] * at[0];
  gradient[0] = 2 * bend * at[0] - at[0] / 4;
  gradient[1] = -bend;
  return -bend * bend / 2 - at[0] * at[0] / 8;
}

/// log x, which is no number where x < 0; its gradient is one.
double logarithm(std::span<const double> at, std::span<double> gradient) {
  gradient[0] = 1 / at[0];
  return std::log(at[0]);
}

}  // namespace

TEST_CASE("NUTS has the moments of a user's banana", "[inference][function]") {
  constexpr std::int64_t chains = 64;
  FunctionTarget<double> target({{"x"}, {"y"}}, banana);
  Particles<double> particles = target.initial_particles(chains, 1);
  Nuts<double> sampler({.trajectory = {.step_size = 0.1, .warm_up = 500, .target_acceptance = 0.95}},
                       ensemble_of(chains, 2, 1));
  std::vector<ChainAverages> found(4, ChainAverages(chains));
  for (int t = 0; t < 1500; ++t) {
    if (sampler.step(particles, target, {}).exploring) continue;
    for (std::int64_t i = 0; i < chains; ++i) {
      const double x = particles.values()(i, 0), y = particles.values()(i, 1);
      found[0].add(i, x), found[1].add(i, x * x), found[2].add(i, y), found[3].add(i, (y - x * x) * (y - x * x));
    }
    for (ChainAverages& average : found) average.count();
  }
  const double law[] = {0, 4, 4, 1};
  for (std::size_t k = 0; k < 4; ++k) {
    CAPTURE(k, found[k].mean(), found[k].standard_error());
    CHECK(std::abs(found[k].z(law[k])) < critical_value);
    CHECK(found[k].standard_error() < 0.2);
  }
}

TEST_CASE("variables lie one after the other under their names, and start near zero, each row elsewhere",
          "[inference][function]") {
  const FunctionTarget<float> target({{"mean"}, {"effect", 3}},
                                     [](std::span<const float>, std::span<float>) { return 0.0F; });
  CHECK(target.layout().description() == "mean [1]\neffect [3]\n");
  CHECK(target.layout().describe_position(2) == "effect[1]");
  const Particles<float> particles = target.initial_particles(2, 1, 0.5), more = target.initial_particles(3, 1, 0.5);
  for (std::int64_t q = 0; q < 4; ++q) {
    CHECK(std::abs(particles.values()(0, q)) < 0.5F);
    CHECK(particles.values()(0, q) != particles.values()(1, q));
    CHECK(particles.values()(1, q) == more.values()(1, q));
  }
}

TEST_CASE("a function that cannot be a target is refused", "[inference][function]") {
  CHECK_ERROR(FunctionTarget<double>({{"x"}}, nullptr), usage, "expected a function");
  CHECK_ERROR(FunctionTarget<double>({}, banana), usage, "at least one variable");
  CHECK_ERROR(FunctionTarget<double>({{"x"}, {"x"}}, banana), usage, "'x' is taken");
  CHECK_ERROR(FunctionTarget<double>({{"x", 0}}, banana), usage, "x");
  FunctionTarget<double> target({{"x"}, {"y"}}, banana);
  std::vector<double> row(3);
  CHECK_ERROR(target.evaluate({{row.data(), 1, 3}}, {}, {}, {.gradient = {row.data(), 1, 3}}), usage,
              "rows of 2 coordinates", "got [1, 3]");
}

TEMPLATE_TEST_CASE("a density that is no number where a chain starts is refused", "[inference][function]", Hmc<double>,
                   Nuts<double>) {
  FunctionTarget<double> target({{"x"}}, logarithm);
  Particles<double> particles(target.layout(), 2);
  particles.values()(0, 0) = 1, particles.values()(1, 0) = -1;
  TestType sampler({}, ensemble_of(2, 1, 0));
  CHECK_ERROR(sampler.step(particles, target, {}), numeric, std::string(sampler.name()),
              "the log density where chain 1 stands is no finite number at step 0");
  CHECK(particles.values()(0, 0) == 1);
}

TEMPLATE_TEST_CASE("a density that is no number is refused by samplers that only look at gradients too",
                   "[inference][function]", Sghmc<double>, Psgld<double>, Svgd<double>) {
  FunctionTarget<double> target({{"x"}}, logarithm);
  Particles<double> particles(target.layout(), 2);
  particles.values()(0, 0) = 1, particles.values()(1, 0) = -1;
  TestType sampler({}, ensemble_of(2, 1, 0));
  CHECK_ERROR(sampler.step(particles, target, {.data_size = 1}), numeric, "the log density of particle 1 is", "nan",
              "expected a finite number");
  CHECK(particles.values()(0, 0) == 1);
}

TEST_CASE("arguments of other shapes are refused with what was expected", "[inference][target]") {
  FunctionTarget<double> target({{"x", 3}}, [](std::span<const double>, std::span<double>) { return 0.0; });
  Particles<double> two(target.layout(), 2), three(target.layout(), 3);
  std::vector<double> values(2), few(1);
  const auto evaluate = [&](MatrixView<double> gradient, std::span<double> value) {
    target.evaluate(two.coordinates(), {}, {}, {.gradient = gradient, .value = value});
  };
  CHECK_NOTHROW(evaluate(two.gradients(), values));
  CHECK_NOTHROW(evaluate(two.gradients(), {}));
  CHECK_ERROR(evaluate(three.gradients(), {}), usage, "gradients [2, 3], got [3, 3]");
  CHECK_ERROR(evaluate({two.gradients().data, 2, 2, 3}, {}), usage, "gradients [2, 3], got [2, 2]");
  CHECK_ERROR(evaluate(two.gradients(), few), usage, "2 values or none, got 1");
}

TEST_CASE("chains of a function that may be called from several threads have the same bits at any thread count",
          "[inference][function]") {
  const std::string name = GENERATE("hmc", "nuts");
  const auto walk = [&](Calls calls, int threads) {
    const int before = thread_count();
    set_thread_count(threads);
    FunctionTarget<double> target({{"x"}, {"y"}}, banana, calls);
    Particles<double> particles = target.initial_particles(5, 1);
    std::unique_ptr<HamiltonianSampler<double>> sampler;
    if (name == "hmc")
      sampler = std::make_unique<Hmc<double>>(HmcOptions{.trajectory = {.step_size = 0.1, .warm_up = 100}},
                                              ensemble_of(5, 2, 1));
    else
      sampler = std::make_unique<Nuts<double>>(NutsOptions{.trajectory = {.step_size = 0.1, .warm_up = 100}},
                                               ensemble_of(5, 2, 1));
    for (int t = 0; t < 150; ++t) sampler->step(particles, target, {});
    set_thread_count(before);
    std::vector<double> all;
    for (std::int64_t i = 0; i < 5; ++i)
      all.insert(all.end(), particles.values().row(i).begin(), particles.values().row(i).end());
    all.push_back(sampler->acceptance());
    all.push_back(static_cast<double>(sampler->gradients()));
    return all;
  };
  const std::vector<double> in_order = walk(Calls::one_by_one, 4);
  for (const int threads : {1, 2, 4}) CHECK(walk(Calls::concurrent, threads) == in_order);
}

TEST_CASE("a function is called from several threads only if it says so", "[inference][function]") {
  const Calls calls = GENERATE(Calls::one_by_one, Calls::concurrent);
  const int before = thread_count();
  set_thread_count(4);
  std::mutex mutex;
  std::set<std::thread::id> callers;
  FunctionTarget<double> target(
      {{"x"}, {"y"}},
      [&](std::span<const double> at, std::span<double> gradient) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const std::lock_guard guard(mutex);
        callers.insert(std::this_thread::get_id());
        return banana(at, gradient);
      },
      calls);
  Particles<double> particles = target.initial_particles(16, 1);
  Hmc<double> sampler({.trajectory = {.step_size = 0.1, .warm_up = 0}}, ensemble_of(16, 2, 1));
  sampler.step(particles, target, {});
  set_thread_count(before);
  CHECK((callers.size() > 1) == (calls == Calls::concurrent));
}
