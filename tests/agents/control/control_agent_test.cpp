// Control agents: the posterior is a switch, its limits are what they must be, and a run goes on as if it had never
// stopped.
#include <stein/agents/control/control_agent.h>
#include <stein/agents/control/task_presets.h>
#include <stein/core/parallel.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/targets/function_target.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "agents/toy_control.h"
#include "core/error_matcher.h"
#include "inference/ensemble_of.h"

using namespace stein;
using namespace stein::agents;

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<envs::ControlEntry::Builder> environment_of(const std::string& name) {
  return envs::controls().at(name).builder();
}

/// A small agent of a registered environment; `more` settings come last.
ControlAgentOptions small(Learner learner, PolicyPosterior posterior, bool discrete, const Settings& more = {}) {
  ControlAgentOptions options = earlier_options(learner, posterior, discrete);
  // What the defaults of the posteriors differ in is the same for all.
  test::set(options, {{"hidden", "8"},
                      {"slots", "3"},
                      {"steps_per_slot", "20"},
                      {"step_size", "0.01"},
                      {"initial_correlation", "0"},
                      {"normalize_advantages", "true"}});
  if (posterior != PolicyPosterior::none) test::set(options, {{"particles", "3"}});
  if (learner != Learner::reinforce) test::set(options, {{"value_hidden", "8"}});
  if (learner == Learner::ppo) test::set(options, {{"epochs", "2"}, {"minibatches", "3"}});
  test::set(options, more);
  return options;
}

void iterate(ControlAgent& agent, int times) {
  for (int k = 0; k < times; ++k) agent.iterate();
}

std::vector<float> particle(const ControlAgent& agent, std::int64_t i) {
  const auto row = agent.policy().particles().values().row(i);
  return {row.begin(), row.end()};
}

constexpr Learner learners[] = {Learner::reinforce, Learner::a2c, Learner::ppo};

}  // namespace

TEST_CASE("a Stein update of one particle without a prior is the plain agent, bit for bit", "[agents][control]") {
  for (const char* environment : {"CartPole-v1", "cartpole"})
    for (const Learner learner : learners)
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const bool discrete = environment_of(environment)->spec().discrete();
        const ControlAgentOptions plain = small(learner, PolicyPosterior::none, discrete, {{"clip_norm", "0.5"}});
        ControlAgentOptions stein =
            small(learner, PolicyPosterior::svgd, discrete, {{"particles", "1"}, {"alpha", "1"}, {"clip_norm", "0.5"}});
        stein.policy.posterior.flat_prior = true;
        ControlAgent first(plain, *environment_of(environment), seed),
            second(stein, *environment_of(environment), seed);
        const std::vector<float> start = particle(first, 0);
        iterate(first, 8), iterate(second, 8);
        CAPTURE(environment, static_cast<int>(learner), seed);
        CHECK(particle(first, 0) == particle(second, 0));
        CHECK(particle(first, 0) != start);
        CHECK(first.total_steps() == second.total_steps());
      }
}

TEST_CASE("alpha divides the gradient, also where the prior is flat", "[agents][control]") {
  // Plain ascent, so that half a gradient is half a step: to the last bit, as 2 is a power of 2.
  const auto moved = [](Learner learner, PolicyPosterior posterior, const Settings& more) {
    Settings settings{{"optimizer", "sgd"}, {"momentum", "0"}, {"step_size", "1"}};
    if (learner == Learner::ppo) settings.insert(settings.end(), {{"epochs", "1"}, {"minibatches", "1"}});
    settings.insert(settings.end(), more.begin(), more.end());
    ControlAgentOptions options = small(learner, posterior, true, settings);
    options.policy.posterior.flat_prior = true;
    ControlAgent agent(options, *environment_of("CartPole-v1"), 3);
    std::vector<float> start = particle(agent, 0);
    agent.iterate();
    std::vector<float> difference = particle(agent, 0);
    for (std::size_t q = 0; q < start.size(); ++q) difference[q] -= start[q];
    return difference;
  };
  for (const Learner learner : learners) {
    CAPTURE(static_cast<int>(learner));
    const auto plain = moved(learner, PolicyPosterior::none, {{"clip_norm", "0"}}),
               one = moved(learner, PolicyPosterior::svgd, {{"particles", "1"}, {"alpha", "1"}}),
               two = moved(learner, PolicyPosterior::svgd, {{"particles", "1"}, {"alpha", "2"}}),
               short_of_it = moved(learner, PolicyPosterior::svgd, {{"particles", "1"}, {"alpha", "0.001"}});
    CHECK(one == plain);
    CHECK(two != plain);
    for (std::size_t q = 0; q < plain.size(); ++q) {
      CHECK(two[q] == Approx(plain[q] / 2).epsilon(1e-3).margin(1e-6));
      // Nothing of what an agent does by default holds a gradient back that α makes long.
      CHECK(short_of_it[q] == Approx(plain[q] * 1000).epsilon(1e-2).margin(1e-3));
    }
  }
}

TEST_CASE("a mean over paths is one over steps times the length of episodes", "[agents][control]") {
  // The horizon of 7 ends every episode of CartPole, so that the length is 7 whether any has ended or not.
  const auto environment = environment_of("CartPole-v1");
  test::set(*environment, {{"horizon", "7"}});
  const auto moved = [&](Learner learner, const std::string& scale, const std::string& step, int iterations) {
    ControlAgent agent(small(learner, PolicyPosterior::svgd, true,
                             {{"particles", "1"},
                              {"alpha", "1"},
                              {"weight_precision", "1e-12"},
                              {"optimizer", "sgd"},
                              {"momentum", "0"},
                              {"gradient_scale", scale},
                              {"step_size", step},
                              {"steps_per_slot", "5"}}),
                       *environment, 3);
    iterate(agent, iterations);
    return particle(agent, 0);
  };
  for (const Learner learner : {Learner::reinforce, Learner::a2c}) {
    const std::vector<float> episodes = moved(learner, "per_episode", "0.01", 4),
                             steps = moved(learner, "per_step", "0.07", 4);
    CAPTURE(static_cast<int>(learner));
    for (std::size_t q = 0; q < steps.size(); ++q) CHECK(episodes[q] == Approx(steps[q]).epsilon(1e-3).margin(1e-4));
    CHECK(moved(learner, "per_step", "0.01", 4) != episodes);
  }
}

TEST_CASE("a mean over paths is that over each particle's own paths", "[agents][control]") {
  // A kernel so narrow that no particle feels another: each goes along its own gradient.
  const auto moved = [](const std::string& scale) {
    ControlAgentOptions options = small(Learner::reinforce, PolicyPosterior::svgd, true,
                                        {{"kernel", "rbf"},
                                         {"bandwidth_rule", "fixed"},
                                         {"bandwidth", "0.01"},
                                         {"alpha", "1"},
                                         {"optimizer", "sgd"},
                                         {"momentum", "0"},
                                         {"clip_norm", "0"},
                                         {"step_size", "0.01"},
                                         {"gradient_scale", scale}});
    options.policy.posterior.flat_prior = true;
    ControlAgent agent(options, *environment_of("CartPole-v1"), 5);
    const std::vector<float> before[2]{particle(agent, 0), particle(agent, 1)};
    agent.iterate();
    std::vector<double> lengths;  // of the way that each of two particles went
    for (std::int64_t i = 0; i < 2; ++i) {
      const std::vector<float> after = particle(agent, i);
      double square = 0;
      for (std::size_t q = 0; q < after.size(); ++q) square += std::pow(double{after[q]} - before[i][q], 2);
      lengths.push_back(std::sqrt(square));
    }
    return lengths;
  };
  const std::vector<double> steps = moved("per_step"), episodes = moved("per_episode");
  const double first = episodes[0] / steps[0], second = episodes[1] / steps[1];  // steps a path
  CHECK(first > 8);
  CHECK(second > 8);
  CHECK(std::abs(first - second) > 0.1 * first);
}

TEST_CASE("the statistics of the observations are those of the rows that count", "[agents][control]") {
  // Whole paths of unequal lengths: a slot that has played its last one goes on and does not count.
  ControlAgent agent(small(Learner::reinforce, PolicyPosterior::none, true, {{"normalize_observations", "true"}}),
                     *environment_of("CartPole-v1"), 5);
  agent.iterate();
  const Snapshot state = test::snapshot_of(agent);
  CHECK(state.get_scalar<double>("policy/observations/count") == static_cast<double>(agent.total_steps()));
}

TEST_CASE("independent particles learn as they would alone", "[agents][control]") {
  for (const Learner learner : learners) {
    ControlAgent alone(small(learner, PolicyPosterior::none, true), *environment_of("CartPole-v1"), 5),
        together(small(learner, PolicyPosterior::independent, true), *environment_of("CartPole-v1"), 5);
    iterate(alone, 8), iterate(together, 8);
    CAPTURE(static_cast<int>(learner));
    CHECK(particle(alone, 0) == particle(together, 0));
    CHECK(particle(together, 0) != particle(together, 1));
  }
}

TEST_CASE("structure without reflectors and scales is plain SVGD, bit for bit", "[agents][control]") {
  for (const Learner learner : learners) {
    ControlAgent plain(small(learner, PolicyPosterior::svgd, true, {{"alpha", "0.01"}}), *environment_of("CartPole-v1"),
                       2),
        structured(small(learner, PolicyPosterior::s2vgd, true,
                         {{"alpha", "0.01"}, {"reflectors", "0"}, {"scales", "identity"}}),
                   *environment_of("CartPole-v1"), 2);
    iterate(plain, 5), iterate(structured, 5);
    for (std::int64_t i = 0; i < 3; ++i) CHECK(particle(plain, i) == particle(structured, i));
  }
}

TEST_CASE("with an endless alpha the particles find SVGD's fixed point of the prior", "[agents][control]") {
  // CartPole-v1 with a linear policy has ten coordinates, where SVGD with 20 particles, the RBF kernel and the median
  // over the full matrix settles at a variance of 0.263 (tests/inference/samplers/svgd_test.cpp).
  ControlAgentOptions options = earlier_options(Learner::a2c, PolicyPosterior::svgd, true);
  test::set(options, {{"particles", "20"},
                      {"alpha", "1e30"},
                      {"kernel", "rbf"},
                      {"initial_correlation", "0"},
                      {"hidden", "none"},
                      {"value_hidden", "none"},
                      {"slots", "1"},
                      {"steps_per_slot", "1"},
                      {"optimizer", "sgd"},
                      {"momentum", "0.9"},
                      {"step_size", "0.1"}});
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    ControlAgent agent(options, *environment_of("CartPole-v1"), seed);
    REQUIRE(agent.policy().particles().size() == 10);

    // The same particles under the prior alone.
    inference::FunctionTarget<float> prior({{"x", 10}}, [](std::span<const float> x, std::span<float> gradient) {
      for (std::size_t q = 0; q < x.size(); ++q) gradient[q] = -x[q];
      return 0.0F;
    });
    inference::Particles<float> particles(prior.layout(), 20);
    for (std::int64_t i = 0; i < 20; ++i) {
      // Biases that are all 0 would stay so: nothing pushes them apart.
      const auto row = agent.policy().particles().values().row(i);
      fill_normal(row, {.seed = seed}, static_cast<std::uint32_t>(i));
      std::ranges::copy(row, particles.values().row(i).begin());
    }
    agent.policy().refresh();
    inference::Svgd<float> sampler(
        {.optimizer = {.method = inference::OptimizerMethod::sgd, .step = {.step_size = 0.1}, .momentum = 0.9}},
        inference::ensemble_of(20, 10, 0));
    for (int t = 0; t < 4000; ++t) {
      agent.iterate();
      sampler.step(particles, prior, {});
    }
    double variance = 0;
    for (std::int64_t q = 0; q < 10; ++q) {
      double sum = 0, square = 0;
      for (std::int64_t i = 0; i < 20; ++i) {
        const double x = agent.policy().particles().values()(i, q);
        sum += x / 20, square += x * x / 20;
      }
      variance += (square - sum * sum) / 10;
    }
    CHECK(variance == Approx(0.263).margin(0.002));
    for (std::int64_t i = 0; i < 20; ++i)
      for (std::int64_t q = 0; q < 10; ++q)
        REQUIRE(agent.policy().particles().values()(i, q) == Approx(particles.values()(i, q)).margin(1e-4));
  }
}

TEST_CASE("alpha is halved every so many iterations", "[agents][control]") {
  // With a flat posterior for all but the return, one step of plain ascent is J's gradient over α: after as many
  // iterations as the half life it is twice as long.
  const auto moved = [](const Settings& more, int before) {
    ControlAgentOptions options = small(Learner::a2c, PolicyPosterior::svgd, true,
                                        {{"particles", "1"},
                                         {"weight_precision", "1e-12"},
                                         {"optimizer", "sgd"},
                                         {"momentum", "0"},
                                         {"step_size", "1"},
                                         {"value_step_size", "1e-12"}});
    test::set(options, more);
    ControlAgent agent(options, *environment_of("CartPole-v1"), 3);
    std::vector<float> start = particle(agent, 0);
    for (int k = 0; k < before; ++k) {
      agent.iterate();
      std::ranges::copy(start, agent.policy().particles().values().row(0).begin());
      agent.policy().refresh();
    }
    agent.iterate();
    std::vector<float> difference = particle(agent, 0);
    for (std::size_t q = 0; q < start.size(); ++q) difference[q] -= start[q];
    return difference;
  };
  const auto constant = moved({{"alpha", "2"}}, 4), annealed = moved({{"alpha", "2"}, {"alpha_half_life", "4"}}, 4),
             smaller = moved({{"alpha", "1"}}, 4);
  for (std::size_t q = 0; q < constant.size(); ++q) {
    CHECK(annealed[q] == Approx(2 * constant[q]).epsilon(1e-3).margin(1e-6));
    CHECK(annealed[q] == smaller[q]);
  }
}

TEST_CASE("an alpha that has been halved too often is an error that says so", "[agents][control]") {
  ControlAgent agent(small(Learner::a2c, PolicyPosterior::svgd, true, {{"alpha_half_life", "0.02"}}),
                     *environment_of("CartPole-v1"), 3);
  agent.iterate();
  CHECK_ERROR(agent.iterate(), numeric, "seed 3, iteration 1", "alpha has been halved from 0.0001",
              "a longer alpha_half_life than 0.02 iterations");
}

namespace {

/// An agent after six iterations on one thread, and one that went on from a snapshot of the first three on two threads.
struct Continued {
  ControlAgent whole, resumed;

  /// @param measured  the iterations after the snapshot: to measure changes nothing
  Continued(const ControlAgentOptions& options, const char* environment, Measured measured = Measured::no)
      : whole(options, *environment_of(environment), 11), resumed(options, *environment_of(environment), 11) {
    ControlAgent first(options, *environment_of(environment), 11);
    set_thread_count(1);
    iterate(whole, 6), iterate(first, 3);
    iterate(resumed, 1);  // a restored agent forgets what it did before
    resumed.restore(test::snapshot_of(first));
    set_thread_count(2);
    for (int k = 0; k < 3; ++k) resumed.iterate(measured);
  }
};

}  // namespace

TEST_CASE("an agent goes on from a snapshot with the same bits, at any number of threads",
          "[agents][control][resume]") {
  const int threads = thread_count();
  for (const Learner learner : learners)
    for (const PolicyPosterior posterior : {PolicyPosterior::none, PolicyPosterior::svgd, PolicyPosterior::s2vgd})
      for (const char* environment : {"CartPole-v1", "cartpole"}) {
        ControlAgentOptions options =
            small(learner, posterior, environment_of(environment)->spec().discrete(),
                  {{"normalize_observations", "true"}, {"normalize_rewards", "true"}, {"decay_steps", "2000"}});
        if (learner != Learner::reinforce) test::set(options, {{"normalize_values", "true"}});
        if (learner == Learner::ppo) test::set(options, {{"target_kl", "0.001"}});
        CAPTURE(environment, static_cast<int>(learner), static_cast<int>(posterior));
        const Continued run(options, environment);
        CHECK(test::same_bytes(test::snapshot_of(run.resumed), test::snapshot_of(run.whole)));
        CHECK(run.resumed.total_steps() == run.whole.total_steps());
        CHECK(run.resumed.iterations() == 6);
      }
  set_thread_count(threads);
}

TEST_CASE("agents with the defaults of today go on from a snapshot with the same bits, at any number of threads",
          "[agents][control][resume]") {
  const int threads = thread_count();
  for (const Learner learner : learners)
    for (const PolicyPosterior posterior :
         {PolicyPosterior::none, PolicyPosterior::independent, PolicyPosterior::svgd, PolicyPosterior::s2vgd})
      for (const char* environment : {"CartPole-v1", "cartpole"}) {
        ControlAgentOptions options =
            default_options(learner, posterior, environment_of(environment)->spec().discrete());
        test::set(options, {{"hidden", "8"}, {"slots", "2"}, {"steps_per_slot", "20"}, {"decay_steps", "500"}});
        if (posterior != PolicyPosterior::none) test::set(options, {{"particles", "3"}});
        if (learner == Learner::ppo) test::set(options, {{"epochs", "2"}, {"minibatches", "3"}});
        CAPTURE(environment, static_cast<int>(learner), static_cast<int>(posterior));
        const Continued run(options, environment);
        CHECK(test::same_bytes(test::snapshot_of(run.resumed), test::snapshot_of(run.whole)));
        CHECK(particle(run.resumed, 0) == particle(run.whole, 0));
      }
  set_thread_count(threads);
}

TEST_CASE("agents whose kernel sees behaviour go on from a snapshot with the same bits, at any number of threads",
          "[agents][control][resume]") {
  const int threads = thread_count();
  for (const Learner learner : learners)
    for (const PolicyPosterior posterior : {PolicyPosterior::svgd, PolicyPosterior::s2vgd})
      for (const char* environment : {"CartPole-v1", "cartpole"}) {
        const ControlAgentOptions options =
            small(learner, posterior, environment_of(environment)->spec().discrete(),
                  {{"kernel_sees", "behaviour"}, {"share_rollouts", "true"}, {"normalize_observations", "true"}});
        CAPTURE(environment, static_cast<int>(learner), static_cast<int>(posterior));
        const Continued run(options, environment, Measured::yes);
        CHECK(test::same_bytes(test::snapshot_of(run.resumed), test::snapshot_of(run.whole)));
      }
  set_thread_count(threads);
}

TEST_CASE("policies that share a layer keep it in common, move it, and go on from a snapshot with the same bits",
          "[agents][control][resume]") {
  const int threads = thread_count();
  for (const Learner learner : learners)
    for (const PolicyPosterior posterior : {PolicyPosterior::svgd, PolicyPosterior::s2vgd})
      for (const char* sees : {"weights", "behaviour"}) {
        const ControlAgentOptions options =
            small(learner, posterior, true,
                  {{"kernel_sees", sees}, {"share_rollouts", "true"}, {"hidden", "6,5"}, {"shared_layers", "1"}});
        CAPTURE(static_cast<int>(learner), static_cast<int>(posterior), sees);
        const Continued run(options, "CartPole-v1", Measured::yes);
        CHECK(test::same_bytes(test::snapshot_of(run.resumed), test::snapshot_of(run.whole)));
        const std::vector<float> start = particle(ControlAgent(options, *environment_of("CartPole-v1"), 11), 0),
                                 now = particle(run.whole, 0), other = particle(run.whole, 1);
        for (const inference::LayoutEntry& entry : run.whole.policy().particles().layout().entries()) {
          CAPTURE(entry.name);
          const auto from = static_cast<std::size_t>(entry.offset),
                     to = from + static_cast<std::size_t>(entry.extent());
          const bool in_common = std::equal(now.begin() + entry.offset, now.begin() + entry.offset + entry.extent(),
                                            other.begin() + entry.offset);
          bool moved = false;
          for (std::size_t q = from; q < to; ++q) moved = moved || now[q] != start[q];
          CHECK(in_common == (entry.layer == 0));
          CHECK(moved);
        }
      }
  set_thread_count(threads);
}

TEST_CASE("a layer that one particle shares with itself changes nothing, bit for bit", "[agents][control]") {
  const auto after = [&](const char* layers) {
    ControlAgent agent(
        small(Learner::a2c, PolicyPosterior::s2vgd, true, {{"particles", "1"}, {"shared_layers", layers}}),
        *environment_of("CartPole-v1"), 3);
    iterate(agent, 4);
    return particle(agent, 0);
  };
  CHECK(after("1") == after("0"));
}

TEST_CASE("one particle has no kernel, whatever it would see, bit for bit", "[agents][control]") {
  for (const Learner learner : learners) {
    const auto after = [&](const char* sees) {
      ControlAgent agent(small(learner, PolicyPosterior::svgd, true,
                               {{"particles", "1"}, {"share_rollouts", "true"}, {"kernel_sees", sees}}),
                         *environment_of("CartPole-v1"), 3);
      iterate(agent, 4);
      return particle(agent, 0);
    };
    CAPTURE(static_cast<int>(learner));
    CHECK(after("behaviour") == after("weights"));
  }
}

TEST_CASE("particles in one place stay there under a kernel of behaviour, and others are repelled",
          "[agents][control]") {
  // Of equal particles the bandwidth is 0: all climb by the mean of their drives, which is that of one.
  const auto distance_after = [](const char* correlation) {
    ControlAgent agent(small(Learner::a2c, PolicyPosterior::svgd, true,
                             {{"share_rollouts", "true"},
                              {"shared_critic", "true"},
                              {"kernel_sees", "behaviour"},
                              {"initial_correlation", correlation}}),
                       *environment_of("CartPole-v1"), 3);
    const LearningMeasures measures = *agent.iterate(Measured::yes).measures;
    CHECK(measures.effective_share.value() <= 1 + 1e-6);
    return std::pair(agent.policy().particle_distance(), measures.parts->repulsion);
  };
  const auto [equal, no_repulsion] = distance_after("1");
  CHECK(equal == 0);
  CHECK(no_repulsion == 0);
  const auto [apart, repulsion] = distance_after("0");
  CHECK(apart > 0);
  CHECK(repulsion > 0);
}

TEST_CASE("presets give the settings that earlier versions had as defaults, and leave others alone",
          "[agents][control]") {
  for (const Learner learner : learners)
    for (const PolicyPosterior posterior :
         {PolicyPosterior::none, PolicyPosterior::independent, PolicyPosterior::svgd, PolicyPosterior::s2vgd})
      for (const bool discrete : {true, false}) {
        ControlAgentOptions earlier = earlier_options(learner, posterior, discrete),
                            options = default_options(learner, posterior, discrete);
        const char* name = is_stein(posterior) ? "shared-start" : "paper";
        OptionTable table = OptionTable::of(options);
        CHECK(std::ranges::count(table.presets(), std::string(name), &Preset::name) == 1);
        for (const Preset& preset : table.presets())
          if (preset.name == name)
            for (const auto& [key, value] : preset.settings) table.set(key, value);
        CAPTURE(static_cast<int>(learner), static_cast<int>(posterior), discrete);
        CHECK(to_toml(table) == to_toml(OptionTable::of(earlier)));
      }
}

TEST_CASE("the settings of Zhang et al. 2018 are those published and earlier ones, whatever the defaults are",
          "[agents][control]") {
  for (const Learner learner : learners)
    for (const PolicyPosterior posterior : {PolicyPosterior::svgd, PolicyPosterior::s2vgd})
      for (const bool discrete : {true, false}) {
        CAPTURE(static_cast<int>(learner), static_cast<int>(posterior), discrete);
        ControlAgentOptions expected = earlier_options(learner, posterior, discrete),
                            options = default_options(learner, posterior, discrete);
        test::set(expected, {{"particles", "16"},
                             {"alpha", "10"},
                             {"gradient_scale", "per_step"},
                             {"normalize_advantages", "true"},
                             {"slots", "20"},
                             {"steps_per_slot", "500"},
                             {"initial_correlation", "0"},
                             {"kernel", "rbf"},
                             {"step_size", "0.005"},
                             {"weight_precision", "1e-9"}});
        if (posterior == PolicyPosterior::s2vgd) test::set(expected, {{"reflectors", "4"}});
        OptionTable table = OptionTable::of(options);
        for (const Preset& preset : table.presets())
          if (preset.name == "paper")
            for (const auto& [key, value] : preset.settings) table.set(key, value);
        CHECK(to_toml(table) == to_toml(OptionTable::of(expected)));
        CHECK(table.get("anchors") == "false");
        if (learner == Learner::ppo) CHECK(table.get("minibatches") == "4");
      }
}

TEST_CASE("every preset of a task names options that its agent has, with values that they take", "[agents][control]") {
  int found = 0;
  for (const auto& [task, entry] : envs::controls().entries())
    for (const auto& [agent, of_agent] : control_agents().entries())
      for (const Preset& preset : task_presets(task, agent)) {
        CAPTURE(task, agent, preset.name);
        ControlAgentOptions options =
            default_options(of_agent.learner, PolicyPosterior::none, environment_of(task)->spec().discrete());
        OptionTable table = OptionTable::of(options);
        for (const auto& [key, value] : preset.settings) CHECK_NOTHROW(table.set(key, value));
        CHECK(options.minibatches <= options.slots * options.steps);
        ++found;
      }
  CHECK(found == 8);
}

TEST_CASE("a seed repeats itself, another differs", "[agents][control]") {
  const ControlAgentOptions options = small(Learner::a2c, PolicyPosterior::s2vgd, true);
  const auto after = [&](std::uint64_t seed) {
    ControlAgent agent(options, *environment_of("CartPole-v1"), seed);
    iterate(agent, 4);
    return test::snapshot_of(agent);
  };
  CHECK(test::same_bytes(after(1), after(1)));
  CHECK_FALSE(test::same_bytes(after(1), after(2)));
}

TEST_CASE("an iteration reports its steps, its episodes and the entropy of the policies", "[agents][control]") {
  // Whole paths of the countdown: every slot begins one with each of its first steps that follow an end. An sd of 1
  // for every action has an entropy of ½ log 2πe, whatever rows fill up for particles with fewer steps.
  ControlAgentOptions options = small(Learner::reinforce, PolicyPosterior::independent, false,
                                      {{"deviation", "state"}, {"output_spread", "0"}, {"normalize_rewards", "true"}});
  ControlAgent agent(options, *test::countdown(), 3);
  const IterationReport report = agent.iterate(Measured::yes);
  std::int64_t steps = 0;
  for (const FinishedEpisode& episode : report.episodes) steps += episode.length;
  CHECK(report.steps == steps);
  CHECK(agent.total_steps() == steps);
  CHECK(report.measures->entropy == Approx(0.5 * std::log(2 * M_PI * M_E)));
  // Discounted returns are looked at where steps count, and begin anew with every path.
  const Snapshot rewards = test::snapshot_of(agent).part("rewards");
  CHECK(rewards.get_scalar<double>("count") == static_cast<double>(steps));
  CHECK(rewards.get_vector<float>("returns0") == std::vector<float>(3));
}

TEST_CASE("an observation that is not a number stops the agent, naming environment and slot", "[agents][control]") {
  for (const Learner learner : learners) {
    const auto environment = test::countdown();
    test::set(*environment, {{"breaks", "true"}});
    ControlAgent agent(small(learner, PolicyPosterior::independent, false), *environment, 1);
    CHECK_ERROR(iterate(agent, 3), numeric, "countdown", "the observation 'count' of slot", "is nan after step");
  }
}

TEST_CASE("policies that leave the finite numbers go back to the last kept ones, with a warning", "[agents][control]") {
  ControlAgent agent(small(Learner::a2c, PolicyPosterior::none, true), *environment_of("CartPole-v1"), 8);
  iterate(agent, 2);
  agent.policy().particles().values()(0, 0) = NAN;
  agent.policy().refresh();
  CHECK(!agent.warning());
  agent.iterate();
  REQUIRE(agent.warning());
  CHECK_THAT(*agent.warning(), Catch::Contains("layer0.weight"));
  for (const float weight : particle(agent, 0)) CHECK(std::isfinite(weight));
}

TEST_CASE("a snapshot of another agent is not taken up", "[agents][control]") {
  const ControlAgent saved(small(Learner::a2c, PolicyPosterior::svgd, true), *environment_of("CartPole-v1"), 1);
  const auto restore = [&](const ControlAgentOptions& options, const std::string& environment) {
    ControlAgent(options, *environment_of(environment), 1).restore(test::snapshot_of(saved));
  };
  CHECK_ERROR(restore(small(Learner::a2c, PolicyPosterior::svgd, true, {{"hidden", "9"}}), "CartPole-v1"), data,
              "layer0.weight");
  CHECK_ERROR(restore(small(Learner::a2c, PolicyPosterior::svgd, true, {{"slots", "4"}}), "CartPole-v1"), data,
              "3 slots", "expected", "4 slots");
  CHECK_ERROR(restore(small(Learner::a2c, PolicyPosterior::svgd, false), "cartpole"), data, "layer");
}

TEST_CASE("options that make no sense are refused by name", "[agents][control]") {
  const auto with = [](const Settings& settings) { small(Learner::a2c, PolicyPosterior::svgd, true, settings); };
  CHECK_ERROR(with({{"steps_per_slot", "0"}}), usage, "'steps_per_slot'", "0");
  CHECK_ERROR(with({{"particles", "0"}}), usage, "'particles'");
  CHECK_ERROR(with({{"alpha", "0"}}), usage, "'alpha'");
  CHECK_ERROR(with({{"discount", "1.5"}}), usage, "'discount'", "1.5");
  CHECK_ERROR(with({{"baseline", "linear"}}), usage, "baseline");  // an option of reinforce alone
  CHECK_ERROR(with({{"clip_ratio", "0.2"}}), usage, "clip_ratio");
  const auto environment = environment_of("CartPole-v1");
  CHECK_ERROR(test::set(*environment, {{"horizon", "-1"}}), usage, "'horizon'", "-1");
  test::set(*environment, {{"horizon", "7"}});
  CHECK(ControlAgent(small(Learner::reinforce, PolicyPosterior::none, true), *environment, 0)
            .iterate()
            .episodes.at(0)
            .length <= 7);

  // Set past the table they are found where the agent is made.
  ControlAgentOptions options = default_options(Learner::a2c, PolicyPosterior::none, true);
  options.baseline = BaselineKind::linear;
  CHECK_ERROR(ControlAgent(options, *environment, 0), usage, "'baseline'", "only reinforce");
  CHECK_ERROR(ControlAgent({}, *environment, 0), usage, "flat_prior", "default_options");
  options = default_options(Learner::a2c, PolicyPosterior::svgd, true);
  options.posterior = PolicyPosterior::s2vgd;
  CHECK_ERROR(ControlAgent(options, *environment, 0), usage, "s2vgd", "default_options");
  options = default_options(Learner::a2c, PolicyPosterior::independent, true);
  options.sampler = inference::samplers().at("svgd").defaults;
  CHECK_ERROR(ControlAgent(options, *environment, 0), usage, "'svgd'", "on their own");
  options = small(Learner::a2c, PolicyPosterior::svgd, true, {{"kernel_sees", "behaviour"}});
  CHECK_ERROR(ControlAgent(options, *environment, 0), usage, "'kernel_sees'", "share_rollouts=true", "got false");
  options.share_rollouts = true;
  options.svgd.kernel.kernel = inference::SvgdKernel::linear;
  CHECK_ERROR(ControlAgent(options, *environment, 0), usage, "'kernel'", "linear");
  options = small(Learner::ppo, PolicyPosterior::none, true, {{"minibatches", "61"}});
  CHECK_ERROR(ControlAgent(options, *environment, 0), usage, "'minibatches'", "3 x 20", "61");
  options = default_options(Learner::ppo, PolicyPosterior::none, true);
  options.slots = 0;
  CHECK_ERROR(ControlAgent(options, *environment, 0), usage, "'slots'");
  CHECK_ERROR(control_agents().at("a3c"), usage, "unknown agent 'a3c'", "a2c");
}

TEST_CASE("after a rollback the rollouts of the lost policy move nothing more", "[agents][control][rollback]") {
  ControlAgent agent(small(Learner::ppo, PolicyPosterior::none, true), *environment_of("CartPole-v1"), 1);
  const std::vector<float> start = particle(agent, 0);
  const auto updates = [&] {
    Snapshot snapshot;
    agent.save(snapshot);
    return snapshot.part("sampler").part("rollback").get_scalar<std::int64_t>("steps");
  };
  agent.iterate();
  CHECK(updates() == 6);
  CHECK(particle(agent, 0) != start);
  // The first of the next six has no gradient: back to where the run began. The other five were to be made for
  // rollouts of the policy that is lost.
  agent.policy().particles().values()(0, 0) = NAN;
  agent.policy().refresh();
  Snapshot before, after;
  agent.save(before);
  agent.iterate();
  agent.save(after);
  CHECK(updates() == 6);
  CHECK(particle(agent, 0) == start);
  // Nor do they teach the baseline.
  const Snapshot taught = before.part("baseline"), then = after.part("baseline");
  REQUIRE_FALSE(taught.arrays().empty());
  for (const auto& [name, array] : taught.arrays()) {
    CAPTURE(name);
    CHECK(array.bytes == then.arrays().at(name).bytes);
  }
  agent.iterate();
  CHECK(updates() == 12);
}

namespace {

/// Shows which of eight steps of an episode it is, one-hot; whatever is done pays the square of the step.
class Steps {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr int state_size = 1, observation_size = 8, action_size = 1, horizon = 8;

  explicit Steps(const Options&) {}
  envs::ControlSpec spec() const {
    return {.name = "steps",
            .source = "this test",
            .state = {{.name = "step", .low = 0, .high = horizon}},
            .observation = std::vector<envs::Quantity>(horizon, {.name = "is here", .low = 0, .high = 1}),
            .choices = 2,
            .action = {{.name = "choice", .low = 0, .high = 1}},
            .horizon = horizon,
            .step_seconds = 1,
            .reward_low = 0,
            .reward_high = 64};
  }
  void reset(Draws&, double (&state)[state_size]) const { state[0] = 0; }
  template <class Real>
  envs::Outcome<Real> step(Real (&state)[state_size], const Real (&)[action_size]) const {
    const Real now = state[0];
    state[0] += 1;
    return {.reward = now * now + 1, .terminated = state[0] > Real(horizon - 0.5) ? Real(1) : Real(0)};
  }
  template <class Real>
  void observe(const Real (&state)[state_size], Real (&observation)[observation_size]) const {
    for (int k = 0; k < horizon; ++k) observation[k] = state[0] == static_cast<Real>(k) ? Real(1) : Real(0);
  }
};

/// A linear policy that learns these steps once, in so many minibatches.
ControlAgentOptions linear_in_steps(const char* minibatches, const Settings& more = {}) {
  ControlAgentOptions options = small(Learner::ppo, PolicyPosterior::none, true,
                                      {{"hidden", "none"},
                                       {"value_hidden", "none"},
                                       {"slots", "1"},
                                       {"steps_per_slot", "8"},
                                       {"epochs", "1"},
                                       {"minibatches", minibatches},
                                       {"optimizer", "sgd"},
                                       {"momentum", "0"}});
  test::set(options, more);
  return options;
}

/// The steps whose weights another iteration moves.
std::set<std::int64_t> moved_steps(ControlAgent& agent) {
  const std::vector<float> before = particle(agent, 0);
  agent.iterate();
  const std::vector<float> now = particle(agent, 0);
  const auto* entry = agent.policy().particles().layout().find("layer0.weight");
  std::set<std::int64_t> moved;
  for (std::int64_t row = 0; row < 8; ++row)
    if (const auto at = static_cast<std::size_t>(entry->offset + row * entry->row_stride); now[at] != before[at])
      moved.insert(row);
  return moved;
}

}  // namespace

TEST_CASE("minibatches have another order in every iteration", "[agents][control]") {
  // Minibatches of one row, and a target that ends the updates after the second: of a linear policy only the weights of
  // the two steps that were picked move.
  ControlAgent agent(linear_in_steps("8", {{"target_kl", "1e-12"}}), *test::builder_of<Steps>("steps"), 3);
  std::set<std::set<std::int64_t>> pairs;
  std::set<std::int64_t> steps;
  for (int iteration = 0; iteration < 20; ++iteration) {
    const std::set<std::int64_t> moved = moved_steps(agent);
    REQUIRE(moved.size() == 2);
    pairs.insert(moved);
    steps.insert(moved.begin(), moved.end());
  }
  // Of 28 pairs, in 20 iterations: five or fewer have a probability of C(28, 5) (5/28)²⁰ ≈ 1e-10.
  CHECK(pairs.size() > 5);
  CHECK(steps.size() > 5);
}

TEST_CASE("a value network that normalises its targets counts those of an iteration once", "[agents][control]") {
  ControlAgent agent(small(Learner::ppo, PolicyPosterior::none, true, {{"normalize_values", "true"}}),
                     *environment_of("CartPole-v1"), 3);
  for (const double iterations : {1, 2}) {  // of two epochs with three minibatches each
    agent.iterate();
    CHECK(test::snapshot_of(agent).get_scalar<double>("baseline/targets0/count") == 60 * iterations);
  }
}

TEST_CASE("minibatches of an epoch have every row once", "[agents][control]") {
  // Three minibatches of eight rows: of a linear policy the weights of each step that was seen move.
  ControlAgent agent(linear_in_steps("3"), *test::builder_of<Steps>("steps"), 3);
  CHECK(moved_steps(agent) == std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("critics of their own learn from their particle's rollouts alone, also where policies share all",
          "[agents][control]") {
  const auto taught = [](const char* share) {
    ControlAgent agent(
        small(Learner::a2c, PolicyPosterior::svgd, true, {{"share_rollouts", share}, {"shared_critic", "false"}}),
        *environment_of("CartPole-v1"), 3);
    agent.iterate();  // the first rollouts are the same
    return test::snapshot_of(agent).part("baseline");
  };
  CHECK(test::same_bytes(taught("true"), taught("false")));
}

TEST_CASE("presets of the zoo have its numbers", "[agents][control]") {
  // RL Baselines3 Zoo, hyperparams/ppo.yml and a2c.yml; 16 x 256 rows in batches of 64, and 8 x 32 in one of 256.
  using Expected = std::map<std::string, std::string>;
  const auto check = [](const char* task, const char* agent, const Expected& expected) {
    for (const Preset& preset : task_presets(task, agent)) {
      if (preset.name != "zoo") continue;
      for (const auto& [option, value] : expected) {
        CAPTURE(task, agent, option);
        CHECK(preset.settings.at(option) == value);
      }
    }
  };
  check("Acrobot-v1", "ppo",
        {{"slots", "16"},
         {"steps_per_slot", "256"},
         {"minibatches", "64"},
         {"epochs", "4"},
         {"gae_lambda", "0.94"},
         {"discount", "0.99"},
         {"entropy_weight", "0"},
         {"normalize_observations", "true"},
         {"clip_norm", "0.5"}});
  check("CartPole-v1", "ppo",
        {{"slots", "8"},
         {"steps_per_slot", "32"},
         {"minibatches", "1"},
         {"epochs", "20"},
         {"gae_lambda", "0.8"},
         {"discount", "0.98"},
         {"entropy_weight", "0"},
         {"step_size", "1e-3"},
         {"clip_ratio", "0.2"}});
  check("CartPole-v1", "a2c", {{"slots", "8"}, {"steps_per_slot", "5"}, {"step_size", "7e-4"}, {"gae_lambda", "1"}});
}
