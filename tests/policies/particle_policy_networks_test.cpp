// Particle policies under each of their names, with an output an arm and with joint networks.
#include <stein/core/rng.h>
#include <stein/policies/particle_policy.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>

using namespace stein;
using namespace stein::policies;

namespace {

constexpr const char* names[] = {"svgd", "s2vgd", "vmg", "ensemble", "epsilon-greedy"};
/// Those, and names under which fewer settings mean something.
constexpr const char* all_names[] = {"svgd",      "s2vgd",         "vmg",   "ensemble", "epsilon-greedy",
                                     "bootstrap", "function-svgd", "psgld", "bbb",      "dropout"};
constexpr std::int64_t arms = 12, shared_size = 3, feature_count = 2;

envs::BanditSpec bandit(std::int64_t arm_features = feature_count) {
  return {.name = "random",
          .arms = arms,
          .context_size = shared_size,
          .arm_features = arm_features,
          .reward_low = 0,
          .reward_high = 1};
}

std::unique_ptr<BanditPolicy> make_policy(const std::string& name, const envs::BanditSpec& spec,
                                          const std::map<std::string, std::string>& settings) {
  const auto builder = bandit_policies().at(name).builder();
  OptionTable table;
  builder->describe(table);
  for (const auto& [key, value] : settings)
    if (table.contains(key)) table.set(key, value);
  return builder->make(spec, 3);
}

/// Random contexts of some of the arms, keyed by their number; arms keep their features.
class Contexts {
 public:
  explicit Contexts(std::int64_t width) : width_(width), own_(static_cast<std::size_t>(arms * width)) {
    fill_normal(std::span(own_), {.seed = 7}, 0);
  }
  /// With between 3 and all of the arms, in any order. Valid until the next call.
  envs::Context at(std::int64_t number) {
    Draws draws({.seed = 8, .step = static_cast<std::uint64_t>(number)}, 0);
    dense_.clear(), present_.clear(), features_.clear();
    for (std::int64_t j = 0; j < shared_size; ++j) dense_.push_back(static_cast<float>(draws.normal()));
    const auto count = 3 + draws.integer(arms - 2), first = draws.integer(arms);
    for (std::uint32_t k = 0; k < count; ++k) {
      present_.push_back(static_cast<std::int32_t>((first + 5 * k) % arms));
      const auto own = features_of(present_.back());
      features_.insert(features_.end(), own.begin(), own.end());
    }
    return {.dense = dense_, .present = present_, .arm_features = features_};
  }
  std::span<const float> features_of(std::int64_t arm) const {
    return std::span(own_).subspan(static_cast<std::size_t>(arm * width_), static_cast<std::size_t>(width_));
  }

 private:
  std::int64_t width_;
  std::vector<float> own_, dense_, features_;
  std::vector<std::int32_t> present_;
};

/// Interactions with drawn arms, whose rewards are `reward(context, arm, its features, uniform number)`.
struct DrawnInteractions {
  std::vector<float> dense, features, rewards;
  std::vector<std::int32_t> actions;
  std::vector<std::int64_t> numbers;

  template <class Reward>
  DrawnInteractions(std::int64_t rows, Contexts& contexts, std::int64_t drawn_arms, const Reward& reward) {
    for (std::int64_t i = 0; i < rows; ++i) {
      Draws draws({.seed = 9, .step = static_cast<std::uint64_t>(i)}, 0);
      const envs::Context context = contexts.at(i);
      const auto arm = static_cast<std::int32_t>(draws.integer(static_cast<std::uint32_t>(drawn_arms)));
      const auto own = contexts.features_of(arm);
      dense.insert(dense.end(), context.dense.begin(), context.dense.end());
      features.insert(features.end(), own.begin(), own.end());
      actions.push_back(arm);
      numbers.push_back(i);
      rewards.push_back(static_cast<float>(reward(context.dense, arm, own, draws.uniform())));
    }
  }
  InteractionBatch all() const {
    const auto rows = std::ssize(actions);
    return {.dense = dense,
            .arm_features = features,
            .actions = actions,
            .rewards = rewards,
            .numbers = numbers,
            .rows = rows,
            .window = rows};
  }
};

double probability_of(std::span<const float> shared, std::int64_t arm) {
  const double tilt = arm % 2 == 0 ? 1.5 : -1.5, level = arm % 3 == 0 ? -1 : .5;
  return 1 / (1 + std::exp(-(tilt * double{shared[0]} + level)));
}

double click(std::span<const float> shared, std::int64_t arm, std::span<const float>, double uniform) {
  return uniform < probability_of(shared, arm) ? 1 : 0;
}

std::vector<double> mean_rewards(BanditPolicy& policy, const envs::Context& context) {
  const auto samples = policy.posterior_rewards(context);
  std::vector<double> mean(samples.front().size());
  for (const auto& sample : samples)
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += sample[k] / static_cast<double>(samples.size());
  return mean;
}

}  // namespace

TEST_CASE("a decision is the same whether its propensities are asked for or not", "[policies][particle]") {
  for (const std::string name : all_names)
    for (const std::string network : {"heads", "joint"})
      for (const std::int64_t width : {feature_count, std::int64_t{0}}) {
        CAPTURE(name, network, width);
        Contexts contexts(width);
        const DrawnInteractions data(32, contexts, arms, click);
        for (const std::string likelihood : {"gaussian", "bernoulli"}) {
          const std::map<std::string, std::string> settings{
              {"network", network},
              {"hidden", "17"},
              {"particles", "6"},
              {"reflectors", "2"},
              {"weight_samples", "2"},
              {"likelihood", likelihood},
              {"prior_function_scale", likelihood == "gaussian" ? "1" : "0"}};
          const auto fast = make_policy(name, bandit(width), settings),
                     full = make_policy(name, bandit(width), settings);
          for (std::int64_t step = 0; step < 1000; ++step) {
            const envs::Context context = contexts.at(step);
            // Once in a while all networks are wanted where some are there already, and some where all are.
            const auto wanted = step % 7 == 3 ? Propensities::exact : Propensities::none;
            const Decision decision = fast->decide(context, step, wanted);
            const Decision other = full->decide(context, step, Propensities::exact);
            REQUIRE(decision.action == other.action);
            REQUIRE(decision.deterministic == other.deterministic);
            REQUIRE(std::ssize(other.propensities) == context.choices(bandit(width)));
            if (wanted == Propensities::none) REQUIRE(decision.propensities.empty());
            if (step % 10 == 9) fast->learn(data.all()), full->learn(data.all());
          }
        }
      }
}

TEST_CASE("one particle's predictions are bit by bit those of all particles' evaluation", "[policies][particle]") {
  // Every particle prefers an arm by the least of differences: with 3,000 arms of nearly the same features, a single
  // other bit would show.
  const envs::BanditSpec many{.name = "many", .arms = 3000, .context_size = 3, .arm_features = 2};
  std::vector<float> features(6000), shared{.3F, -1, .7F};
  fill_normal(std::span(features), {.seed = 1}, 0);
  for (float& value : features) value = 1 + 1e-6F * value;
  for (const std::string name : names) {
    CAPTURE(name);
    const auto fast = make_policy(name, many, {}), full = make_policy(name, many, {});
    for (const std::size_t count : {2, 4, 5, 20, 129, 300, 3000}) {
      std::vector<std::int32_t> present(count);
      for (std::size_t k = 0; k < count; ++k) present[k] = static_cast<std::int32_t>(k);
      const envs::Context context{
          .dense = shared, .present = present, .arm_features = std::span(features).first(2 * count)};
      for (std::int64_t step = 0; step < 20; ++step)
        REQUIRE(fast->decide(context, step, Propensities::none).action ==
                full->decide(context, step, Propensities::exact).action);
    }
  }
}

TEST_CASE("by default networks are joint where arms have features, and have heads elsewhere", "[policies][particle]") {
  for (const std::int64_t width : {feature_count, std::int64_t{0}}) {
    Contexts contexts(width);
    const auto given = make_policy("svgd", bandit(width), {});
    const auto named = make_policy("svgd", bandit(width), {{"network", width > 0 ? "joint" : "heads"}});
    const auto other = make_policy("svgd", bandit(width), {{"network", width > 0 ? "heads" : "joint"}});
    const envs::Context context = contexts.at(0);
    CHECK(given->posterior_rewards(context) == named->posterior_rewards(context));
    CHECK(given->posterior_rewards(context) != other->posterior_rewards(context));
  }
  const auto builder = bandit_policies().at("vmg").builder();
  OptionTable table;
  builder->describe(table);
  CHECK(table.get("network") == "auto");
  CHECK(table.at("network").older_value == "heads");
}

TEST_CASE("what a joint network predicts of an arm depends on that arm alone", "[policies][particle]") {
  for (const std::int64_t width : {feature_count, std::int64_t{0}}) {
    Contexts contexts(width);
    const auto policy = make_policy("s2vgd", bandit(width), {{"network", "joint"}, {"prior_function_scale", "1"}});
    const envs::Context context = contexts.at(4);
    const auto together = policy->posterior_rewards(context);
    const auto choices = static_cast<std::size_t>(context.choices(bandit(width)));
    for (std::size_t k = 0; k < choices; ++k) {
      const auto own = contexts.features_of(context.present[k]);
      const auto alone = policy->posterior_rewards(
          {.dense = context.dense, .present = context.present.subspan(k, 1), .arm_features = own});
      for (std::size_t i = 0; i < alone.size(); ++i) CHECK(alone[i][0] == Approx(together[i][k]).margin(1e-6));
    }
  }
}

TEST_CASE("a joint network knows from its features what an arm pays that was never chosen", "[policies][particle]") {
  Contexts contexts(feature_count);
  const auto reward = [](std::span<const float> shared, std::int64_t, std::span<const float> own, double) {
    return double{shared[0]} + 2 * double{own[0]} - double{own[1]};
  };
  const DrawnInteractions data(256, contexts, arms - 2, reward);
  for (const std::string name : names)
    for (const std::string scale : {"0", "1"}) {
      CAPTURE(name, scale);
      const auto policy = make_policy(name, bandit(),
                                      {{"hidden", "16"},
                                       {"particles", "5"},
                                       {"step_size", "0.01"},
                                       {"noise_precision", "20"},
                                       {"prior_function_scale", scale}});
      for (int update = 0; update < 1500; ++update) policy->learn(data.all());
      double square = 0, spread = 0;
      for (std::int64_t number = 1000; number < 1100; ++number)
        for (const std::int32_t arm : {std::int32_t{arms - 2}, std::int32_t{arms - 1}}) {
          const envs::Context context = contexts.at(number);
          const auto own = contexts.features_of(arm);
          const double truth = reward(context.dense, arm, own, 0);
          const double found =
              mean_rewards(*policy, {.dense = context.dense, .present = {&arm, 1}, .arm_features = own})[0];
          square += std::pow(found - truth, 2), spread += truth * truth;
        }
      CAPTURE(square, spread);
      CHECK(square < 0.1 * spread);
    }
}

TEST_CASE(
    "with a Bernoulli likelihood fitted probabilities come near the true ones, for particles, a distribution and one "
    "network",
    "[policies][particle][slow]") {
  // 12 arms, about 1,000 clicks or none of each: a logistic regression of p numbers an arm would know a probability
  // within √(p · ¼ / 1000), .03 to .05 for 4 to 10 of them. The constant ½ misses by .28.
  for (const std::string network : {"heads", "joint"}) {
    Contexts contexts(network == "heads" ? feature_count : 0);
    const envs::BanditSpec spec = bandit(network == "heads" ? feature_count : 0);
    const DrawnInteractions data(12'000, contexts, arms, click);
    for (const std::string name : names) {
      const auto policy = make_policy(name, spec,
                                      {{"network", network},
                                       {"hidden", "8"},
                                       {"particles", "3"},
                                       {"likelihood", "bernoulli"},
                                       {"step_size", "0.01"}});
      for (int update = 0; update < 400; ++update) policy->learn(data.all());
      double square = 0, around_mean = 0, rows = 0;
      for (std::int64_t number = 10'000; number < 10'200; ++number) {
        const envs::Context context = contexts.at(number);
        const auto found = mean_rewards(*policy, context);
        for (std::size_t k = 0; k < found.size(); ++k) {
          const double truth = probability_of(context.dense, context.present[k]);
          REQUIRE(found[k] > 0);
          REQUIRE(found[k] < 1);
          square += std::pow(found[k] - truth, 2), around_mean += std::pow(truth - .5, 2), ++rows;
        }
      }
      CAPTURE(name, network, std::sqrt(around_mean / rows));
      CHECK(std::sqrt(square / rows) < 0.06);
    }
  }
}
