// Particle policies: propensities, learning, prior functions, and the arithmetic behind them.
#include <stein/inference/samplers/svgd.h>
#include <stein/policies/distribution_policy.h>
#include <stein/policies/network_policy.h>
#include <stein/policies/particle_policy.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::policies;

namespace {

const envs::BanditSpec spec{.name = "two-arms", .arms = 2, .context_size = 3, .reward_deviation = 2};

ParticlePolicy::Options small() {
  ParticlePolicy::Options options;
  options.particles = 8;
  options.hidden = {6};
  return options;
}

DistributionPolicy::Options variational() {
  auto options =
      neural_defaults<DistributionPolicy::Options>("optimizer", inference::WeightForm::variational_matrix_gaussian);
  options.particles = 8;
  options.hidden = {6};
  return options;
}

/// A few interactions in which arm 1 pays 4·x₀ and arm 0 nothing.
struct PaidInteractions {
  std::vector<float> contexts, rewards;
  std::vector<std::int32_t> actions;
  InteractionBatch batch;

  PaidInteractions() : contexts(32 * 3), rewards(32), actions(32) {
    fill_normal(std::span<float>(contexts), {.seed = 11}, 0);
    for (int i = 0; i < 32; ++i) {
      actions[i] = i % 2;
      rewards[i] = actions[i] == 1 ? 4 * contexts[3 * i] : 0;
    }
    batch = {.dense = contexts, .active = {}, .actions = actions, .rewards = rewards, .rows = 32, .window = 32};
  }
};

/// The state of `policy`, the numbers of every particle replaced by `values`.
Snapshot with_particles(const ParticlePolicy& policy, const std::vector<float>& values) {
  Snapshot state, changed;
  policy.save(state);
  for (const auto& [name, array] : state.arrays()) {
    if (name == "particles/values")
      changed.put(name, std::span(values), array.shape);
    else
      changed.put_array(name, array);
  }
  for (const auto& [name, text] : state.texts()) changed.put_text(name, text);
  return changed;
}

/// What there is to set under a registered name.
std::vector<std::string> options_of(const std::string& name) {
  const auto builder = bandit_policies().at(name).builder();
  OptionTable table;
  builder->describe(table);
  std::vector<std::string> names;
  for (const Option& option : table.options()) names.push_back(option.name);
  return names;
}

}  // namespace

TEST_CASE("drawing one particle, an arm's probability is the share of particles that prefer it",
          "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.particles = 20;
  ParticlePolicy policy(options, spec, 5);
  const std::vector<float> context{1, -1, 0.5f};
  const Decision decision = policy.decide({.dense = context}, 0, Propensities::exact);
  double prefers_first = 0;
  for (const auto& rewards : policy.posterior_rewards({.dense = context})) prefers_first += rewards[0] > rewards[1];
  CHECK(decision.propensities[0] == prefers_first / 20);
  CHECK(decision.propensities[1] == (20 - prefers_first) / 20);
  CHECK_FALSE(decision.deterministic);
}

TEST_CASE("ties split an arm's probability", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.initial_spread = 0;  // every particle predicts zero for both arms
  ParticlePolicy policy(options, spec, 5);
  const std::vector<float> context{1, -1, 0.5f};
  CHECK(policy.decide({.dense = context}, 0, Propensities::exact).propensities[0] == Approx(0.5));
}

TEST_CASE("the mean of all particles is deterministic, and epsilon shares out the rest", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.draw.draw = Draw::mean;
  const std::vector<float> context{1, -1, 0.5f};
  const Decision mean = ParticlePolicy(options, spec, 5).decide({.dense = context}, 0, Propensities::exact);
  CHECK(mean.deterministic);
  NetworkPolicy::Options one = neural_defaults<NetworkPolicy::Options>("optimizer");
  one.hidden = {6};
  one.epsilon = 0.1;
  NetworkPolicy greedy(one, spec, 5);
  const Decision decision = greedy.decide({.dense = context}, 0, Propensities::exact);
  CHECK_FALSE(decision.deterministic);
  CHECK(std::max(decision.propensities[0], decision.propensities[1]) == Approx(0.95));
}

TEST_CASE("drawing some particles, those in a row decide together, and propensities are the share of rows",
          "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.particles = 7;
  options.draw = {.draw = Draw::some, .drawn_particles = 3};
  ParticlePolicy policy(options, spec, 5), alone(options, spec, 5);
  std::map<std::int64_t, int> chosen;
  for (std::int64_t step = 0; step < 50; ++step) {
    std::vector<float> context(3);
    fill_normal(std::span(context), {.seed = 2, .step = static_cast<std::uint64_t>(step)}, 0);
    const auto rewards = policy.posterior_rewards({.dense = context});
    double prefers_first = 0;
    for (std::size_t i = 0; i < 7; ++i) {
      double difference = 0;
      for (std::size_t j = 0; j < 3; ++j) difference += rewards[(i + j) % 7][0] - rewards[(i + j) % 7][1];
      prefers_first += difference > 0 ? 1 : 0;
    }
    const Decision decision = policy.decide({.dense = context}, step, Propensities::exact);
    CHECK(decision.propensities[0] == Approx(prefers_first / 7));
    CHECK(alone.decide({.dense = context}, step, Propensities::none).action == decision.action);
  }
  options.draw.drawn_particles = 7;
  const std::vector<float> context{1, -1, 0.5f};
  CHECK(ParticlePolicy(options, spec, 5).decide({.dense = context}, 0, Propensities::exact).deterministic);
}

TEST_CASE("arms of the same mean are drawn alike", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.draw.draw = Draw::mean;
  options.initial_spread = 0;  // every particle predicts zero for both arms
  ParticlePolicy policy(options, spec, 5);
  const std::vector<float> context{1, -1, 0.5f};
  int ones = 0;
  for (std::int64_t step = 0; step < 400; ++step) {
    const Decision decision = policy.decide({.dense = context}, step, Propensities::exact);
    CHECK_FALSE(decision.deterministic);
    CHECK(decision.propensities[0] == 0.5);
    ones += decision.action == 1 ? 1 : 0;
  }
  CHECK(std::abs(ones - 200) < 50);  // five deviations of ten
}

TEST_CASE("what is learned shows in the predicted rewards, in the unit of the rewards", "[policies][particle]") {
  const PaidInteractions data;
  const auto check_learns = [&](auto options, const auto& make) {
    OptionTable::of(options.sampler).set("step_size", "0.01");
    options.noise_precision = 20;
    const auto policy = make(options);
    for (int t = 0; t < 1500; ++t) policy->learn(data.batch);
    double square = 0, spread = 0;
    for (int i = 1; i < 32; i += 2) {
      const auto rewards = policy->posterior_rewards({.dense = std::span(data.contexts).subspan(3 * i, 3)});
      double mean = 0;
      for (const auto& row : rewards) mean += row[1] / static_cast<double>(rewards.size());
      square += std::pow(mean - data.rewards[i], 2) / 16;
      spread += std::pow(double{data.rewards[i]}, 2) / 16;
    }
    CAPTURE(square, spread);
    CHECK(square < 0.1 * spread);
  };
  for (const std::string sampler : {"optimizer", "svgd"})
    for (const double prior_function_scale : {0.0, 1.0}) {
      CAPTURE(sampler, prior_function_scale);
      ParticlePolicy::Options options = small();
      options.sampler = inference::samplers().at(sampler).defaults;
      options.prior_function_scale = prior_function_scale;
      check_learns(options, [](const auto& o) { return std::make_unique<ParticlePolicy>(o, spec, 5); });
    }
  check_learns(variational(), [](const auto& o) { return std::make_unique<DistributionPolicy>(o, spec, 5); });
  NetworkPolicy::Options one = neural_defaults<NetworkPolicy::Options>("optimizer");
  one.hidden = {6};
  check_learns(one, [](const auto& o) { return std::make_unique<NetworkPolicy>(o, spec, 5); });
}

TEST_CASE("networks drawn from a variational posterior stand still until it moves, and then are others",
          "[policies][particle]") {
  const PaidInteractions data;
  DistributionPolicy::Options options = variational();
  options.particles = 30;
  options.posterior.variational.weight_samples = 2;
  DistributionPolicy policy(options, spec, 5);
  const std::vector<float> context{1, -1, 0.5f};
  const auto first = policy.posterior_rewards({.dense = context});
  REQUIRE(first.size() == 30);
  std::set<double> different;
  for (const auto& rewards : first) different.insert(rewards[0]);
  CHECK(different.size() == 30);
  CHECK(policy.posterior_rewards({.dense = context}) == first);
  const Decision decision = policy.decide({.dense = context}, 0, Propensities::exact);
  double prefers_first = 0;
  for (const auto& rewards : first) prefers_first += rewards[0] > rewards[1];
  CHECK(decision.propensities[0] == prefers_first / 30);
  policy.learn(data.batch);
  for (const auto& rewards : policy.posterior_rewards({.dense = context})) CHECK(different.count(rewards[0]) == 0);
}

TEST_CASE("networks drawn after an update have noise of their own, however short its step was",
          "[policies][particle]") {
  const PaidInteractions data;
  for (const auto form : {inference::WeightForm::variational_matrix_gaussian, inference::WeightForm::mean_field}) {
    auto options = neural_defaults<DistributionPolicy::Options>("optimizer", form);
    options.hidden = {};
    options.particles = 400;
    options.scale_rewards = false;
    OptionTable::of(options.sampler).set("step_size", "1e-12");
    options.posterior.variational = {.initial_deviation_low = 0.5, .initial_deviation_high = 0.5};
    DistributionPolicy policy(options, spec, 5);
    const std::vector<float> context{1, -1, 0.5f};
    const auto before = policy.posterior_rewards({.dense = context});
    policy.learn(data.batch);
    const auto after = policy.posterior_rewards({.dense = context});
    // Means that stand still and independent draws of variance ¼ (‖x‖² + 1): differences have twice that.
    double square = 0;
    for (std::size_t i = 0; i < 400; ++i) square += std::pow(after[i][0] - before[i][0], 2) / 400;
    CAPTURE(static_cast<int>(form));
    CHECK(square == Approx(2 * 0.25 * (2.25 + 1)).epsilon(6 * std::sqrt(2.0 / 400)));
  }
}

TEST_CASE("networks drawn from a variational posterior have its variance", "[policies][particle]") {
  // A linear network that has seen nothing: with means of zero the output is N(0, σ²(‖x‖² + 1)), σ the starting sd.
  DistributionPolicy::Options options = variational();
  options.hidden = {};
  options.particles = 4000;
  options.initial_spread = 0;
  options.posterior.variational = {.initial_deviation_low = 0.5, .initial_deviation_high = 0.5};
  DistributionPolicy policy(options, spec, 5);
  const std::vector<float> context{1, -1, 0.5f};
  double square = 0;
  for (const auto& rewards : policy.posterior_rewards({.dense = context}))
    square += std::pow(rewards[0] / *spec.reward_deviation, 2) / 4000;
  const double variance = 0.25 * (2.25 + 1);
  CHECK(std::abs(square / variance - 1) < 6.1 * std::sqrt(2.0 / 4000));
}

TEST_CASE("a reward that is not finite stops learning and names a coordinate", "[policies][particle]") {
  PaidInteractions data;
  data.rewards[3] = std::numeric_limits<float>::infinity();
  ParticlePolicy policy(small(), spec, 5);
  CHECK_THROWS_WITH(policy.learn(data.batch), Catch::Contains("layer"));
}

TEST_CASE("a prediction that is not finite takes weights back, and in the end is named by particle and arm",
          "[policies][particle]") {
  const PaidInteractions data;
  ParticlePolicy::Options options = small();
  OptionTable::of(options.sampler).set("step_size", "1e30");
  ParticlePolicy policy(options, spec, 5), fresh(options, spec, 5);
  const std::vector<float> numbers{1, -1, 0.5f};
  const envs::Context context{.dense = numbers};
  const auto start = fresh.posterior_rewards(context);
  for (int time = 0; time < 10; ++time) {
    policy.learn(data.batch);  // weights of 1e29 and more: finite, and their products are not
    CHECK(policy.decide(context, time, Propensities::exact).action ==
          fresh.decide(context, time, Propensities::exact).action);
    CHECK((policy.posterior_rewards(context) == start));
    REQUIRE(policy.warning());
    CHECK_THAT(*policy.warning(),
               Catch::Contains("optimizer: the prediction of arm") && Catch::Contains("by particle"));
  }
  policy.learn(data.batch);
  CHECK_ERROR(policy.decide(context, 10, Propensities::exact), numeric, "the prediction of arm", "by particle",
              "after 10 rollbacks");
}

TEST_CASE("averaged weights cannot be taken back: their first prediction that is not finite is an error",
          "[policies][particle]") {
  const PaidInteractions data;
  ParticlePolicy::Options options = small();
  options.average_steps = 5;
  OptionTable::of(options.sampler).set("step_size", "1e30");
  ParticlePolicy policy(options, spec, 5);
  policy.learn(data.batch);
  const std::vector<float> numbers{1, -1, 0.5f};
  CHECK_ERROR(policy.decide({.dense = numbers}, 0, Propensities::exact), numeric, "the prediction of arm",
              "by particle");
}

TEST_CASE("with a Bernoulli likelihood the mean is that of the probabilities", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.particles = 3;
  options.hidden = {};
  options.draw.draw = Draw::mean;
  options.likelihood = inference::Likelihood::bernoulli;
  ParticlePolicy policy(options, spec, 5);
  // Six weights of zero, then both biases: logits of arm 0 are 10, −1, −1 (mean 2.7, mean probability 0.51), of arm 1
  // always 1 (probability 0.73).
  policy.restore(with_particles(policy, {0, 0, 0, 0, 0, 0, 10, 1, 0, 0, 0, 0, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0, -1, 1}));
  const std::vector<float> context{1, -1, 0.5f};
  CHECK(policy.decide({.dense = context}, 0, Propensities::exact).action == 1);
}

TEST_CASE("clicks are learned as they are, whatever their spread", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.likelihood = inference::Likelihood::bernoulli;
  envs::BanditSpec unknown = spec, known = spec;
  unknown.reward_deviation = std::nullopt, known.reward_deviation = 0.25;
  ParticlePolicy one(options, unknown, 5), other(options, known, 5);
  PaidInteractions data;
  for (float& reward : data.rewards) reward = reward > 0 ? 1 : 0;
  const std::vector<float> context{1, -1, 0.5f};
  for (ParticlePolicy* policy : {&one, &other}) {
    for (int i = 0; i < 32; ++i)
      policy->observe({.dense = context}, {.action = i % 2, .reward = data.rewards[static_cast<std::size_t>(i)]});
    for (int i = 0; i < 5; ++i) policy->learn(data.batch);
  }
  CHECK(one.posterior_rewards({.dense = context}) == other.posterior_rewards({.dense = context}));
}

TEST_CASE("the unit of rewards is part of what is saved", "[policies][particle]") {
  envs::BanditSpec unknown = spec;
  unknown.reward_deviation = std::nullopt;
  ParticlePolicy first(small(), unknown, 5), second(small(), unknown, 5);
  const std::vector<float> context{1, -1, 0.5f};
  for (const double reward : {3.0, 9.0, -4.0}) first.observe({.dense = context}, {.action = 1, .reward = reward});
  Snapshot saved;
  first.save(saved);
  second.restore(saved);
  CHECK(second.posterior_rewards({.dense = context}) == first.posterior_rewards({.dense = context}));
  const PaidInteractions data;
  first.learn(data.batch), second.learn(data.batch);
  CHECK(second.posterior_rewards({.dense = context}) == first.posterior_rewards({.dense = context}));
}

TEST_CASE("every head learns what its own prior function leaves of its rewards", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.particles = 2;
  options.hidden = {};
  options.scale_rewards = false;
  options.network = RewardNetwork::heads;
  options.prior_function_scale = 3;
  options.noise_precision = 100;
  options.posterior.prior.weight_precision = 0.01;
  ParticlePolicy policy(options, spec, 5);
  // Arm 1 pays 2 and arm 0 nothing wherever one looks: a line learns it exactly, with the prior function on top.
  PaidInteractions data;
  for (std::size_t i = 0; i < 32; ++i) data.rewards[i] = data.actions[i] == 1 ? 2 : 0;
  for (int i = 0; i < 20'000; ++i) policy.learn(data.batch);
  const std::vector<float> context{1, -1, 0.5f};
  for (const auto& rewards : policy.posterior_rewards({.dense = context})) {
    CHECK(rewards[0] == Approx(0).margin(0.1));
    CHECK(rewards[1] == Approx(2).margin(0.1));
  }
}

TEST_CASE("a Bernoulli likelihood is refused where rewards are not in [0, 1]", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.likelihood = inference::Likelihood::bernoulli;
  envs::BanditSpec paying = spec;
  paying.reward_low = -5;
  paying.reward_high = 5;
  CHECK_ERROR(ParticlePolicy(options, paying, 5), usage, "'likelihood'", "two-arms average from -5 to 5");
  const PaidInteractions data;
  ParticlePolicy policy(options, spec, 5);
  CHECK_ERROR(policy.learn(data.batch), usage, "Bernoulli", "targets in [0, 1]");
  options.prior_function_scale = 1;
  CHECK_ERROR(ParticlePolicy(options, spec, 5), usage, "'prior_function_scale'");
}

TEST_CASE("an option out of its range is refused where the policy is made", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.particles = 0;
  CHECK_ERROR(ParticlePolicy(options, spec, 5), usage, "'particles'");
}

TEST_CASE("every name has the options that mean something under it, and no others", "[policies][particle]") {
  const auto has = [](const std::string& name, const std::string& option) {
    const std::vector<std::string> names = options_of(name);
    return std::ranges::find(names, option) != names.end();
  };
  for (const std::string name : {"svgd", "s2vgd", "vmg", "ensemble", "epsilon-greedy"}) {
    CAPTURE(name);
    const bool repels = name == "svgd" || name == "s2vgd", single = name == "epsilon-greedy", draws = name == "vmg";
    for (const char* option : {"kernel", "bandwidth_rule", "median_over", "bandwidth"})
      CHECK(has(name, option) == repels);
    for (const char* option : {"reflectors", "scales", "reflector_precision", "scale_deviation"})
      CHECK(has(name, option) == (name == "s2vgd"));
    for (const char* option : {"particles", "draw"}) CHECK(has(name, option) == !single);
    for (const char* option : {"weight_samples", "initial_deviation_low"}) CHECK(has(name, option) == draws);
    CHECK(has(name, "prior_function_scale") == (!single && !draws));
    CHECK(has(name, "learn_weight_precision") == !draws);
    CHECK(has(name, "epsilon") == single);
    for (const char* option : {"repulsion", "parameterization", "sampler"}) CHECK_FALSE(has(name, option));
    for (const char* option : {"hidden", "step_size", "noise_precision", "weight_precision", "arithmetic"})
      CHECK(has(name, option));
  }
  const auto builder = bandit_policies().at("svgd").builder();
  OptionTable table;
  builder->describe(table);
  CHECK_ERROR(table.set("kernal", "rbf"), usage, "unknown option 'kernal'", "Did you mean 'kernel'");
  CHECK_ERROR(table.set("reflectors", "4"), usage, "unknown option 'reflectors'");
}

TEST_CASE("the collapse meter starts at one, whatever the widths, and is near zero where all particles agree",
          "[policies][particle]") {
  for (const bool per_layer : {false, true}) {
    ParticlePolicy::Options options = small();
    options.posterior.prior = {
        .weight_precision = 4, .learn_weight_precision = per_layer, .precision_per_layer = per_layer};
    ParticlePolicy policy(options, spec, 5);
    const auto meters = [&] {
      std::map<std::string, double> found;
      for (const auto& [name, value] : policy.diagnostics()) found[name] = value;
      return found;
    };
    CHECK(meters().at("collapse") == 1);
    const double to_prior = meters().at("variance_to_prior");
    // Weights start from N(0, 1/3) and N(0, 1/6), 18 and 12 of them; their prior is N(0, 1/4).
    CHECK(to_prior == Approx((18.0 / 3 + 12.0 / 6) / 30 * 4 * 7 / 8).epsilon(0.3));

    Snapshot state;
    policy.save(state);
    std::vector<float> values = state.get_vector<float>("particles/values");
    const std::size_t size = values.size() / 8;
    if (per_layer)  // log λ of the first layer: 8 in place of 4
      for (std::size_t i = 0; i < 8; ++i) values[i * size + size - 2] = std::log(8.0f);
    policy.restore(with_particles(policy, values));
    CHECK(meters().at("collapse") == 1);
    if (per_layer)
      CHECK(meters().at("variance_to_prior") == Approx(to_prior / 4 / ((18.0 / 8 + 12.0 / 4) / 30)).epsilon(1e-6));
    for (std::size_t i = 0; i < 8; ++i) std::copy_n(values.begin(), size, values.begin() + static_cast<long>(i * size));
    policy.restore(with_particles(policy, values));
    CHECK(meters().at("collapse") == 0);
  }
  ParticlePolicy::Options alike = small();
  alike.initial_spread = 0;
  for (const auto& [name, value] : ParticlePolicy(alike, spec, 5).diagnostics()) CHECK(name != "collapse");
}

TEST_CASE("the preset `paper` says what it is of, and leaves a policy what its name says", "[policies][particle]") {
  std::map<std::string, std::string> sources;
  for (const auto& [name, entry] : bandit_policies().entries()) {
    CAPTURE(name);
    const auto builder = entry.builder();
    OptionTable table = OptionTable::of(*builder);
    const bool anchored = table.contains("anchors");
    const std::string anchors = anchored ? table.get("anchors") : "";
    for (const Preset& preset : std::vector<Preset>(table.presets())) {
      if (preset.name != "paper") continue;
      sources[name] = preset.description;
      for (const auto& [option, value] : preset.settings) table.set(option, value);
    }
    const bool in_the_paper = name == "svgd" || name == "s2vgd";
    if (anchored) CHECK(table.get("anchors") == (in_the_paper ? "false" : anchors));
    CHECK(builder->make(spec, 5) != nullptr);
  }
  std::vector<std::string> names;
  for (const auto& [name, source] : sources) {
    CAPTURE(name, source);
    names.push_back(name);
    const bool in_the_paper = name == "epsilon-greedy" || name == "svgd" || name == "s2vgd" || name == "vmg";
    CHECK(source.starts_with("Zhang et al. 2018, §3: ") == in_the_paper);
    CHECK((source.find("do not have this policy") != std::string::npos) != in_the_paper);
  }
  // Those with anchors perturb rewards by a noise that is given, so none of the others can sample it.
  CHECK(names == std::vector<std::string>{"bootstrap", "ensemble", "epsilon-greedy", "psgld", "s2vgd", "sghmc", "sgld",
                                          "svgd", "vmg"});
}
