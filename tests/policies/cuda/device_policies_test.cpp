// Bandit policies whose networks lie on a device, against the same ones on the host. On the fenced device a step that
// reaches around its functions ends with a signal.
#include <stein/policies/bandit_learner.h>
#include <stein/policies/particle_policy.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "core/error_matcher.h"
#include "inference/cuda/networks_on_host.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::policies;
using inference::Device;

namespace {

using Settings = std::map<std::string, std::string>;

const envs::BanditSpec dense{.name = "three arms", .arms = 3, .context_size = 5, .reward_deviation = 2};
const envs::BanditSpec one_hot{
    .name = "one-hot", .arms = 2, .context_size = 9, .active_columns = 3, .reward_deviation = 2};
const envs::BanditSpec clicks{
    .name = "clicks", .arms = 3, .context_size = 2, .arm_features = 2, .reward_high = 1, .bounded = true};

std::unique_ptr<BanditPolicy> policy_of(const std::string& name, const envs::BanditSpec& spec, const Settings& settings,
                                        Device device) {
  const auto builder = bandit_policies().at(name).builder();
  OptionTable table;
  builder->describe(table);
  Settings all{{"hidden", "7,5"}, {"particles", "4"}, {"drawn_particles", "2"}};
  for (const auto& [option, value] : settings) all[option] = value;
  for (const auto& [option, value] : all)
    if (table.contains(option)) table.set(option, value);
  return builder->make(spec, 6, device);
}

/// A policy that learns one interaction after the other.
class Learning {
 public:
  Learning(const std::string& name, const envs::BanditSpec& spec, const Settings& settings, Device device)
      : spec_(spec),
        learner_({.batch = 70, .updates = 2, .forced_pulls = 2}, spec, 6, policy_of(name, spec, settings, device)) {}

  /// @returns the arm that was chosen
  std::int64_t interact(std::int64_t number) {
    const envs::Context context = seen(number);
    const std::int64_t arm = learner_.decide(context, Propensities::exact).action;
    Draws draws({.seed = 9, .step = static_cast<std::uint64_t>(number), .stream = Stream::test}, 1);
    const double clicked = draws.uniform() < 0.2 + 0.3 * static_cast<double>(arm) ? 1 : 0;
    const double paid = 2 * draws.normal() + static_cast<double>(arm) * numbers_.front();
    learner_.pulled(arm);
    learner_.learn(context, {.action = arm, .reward = spec_.bounded ? clicked : paid});
    return arm;
  }
  /// Posterior expected rewards in a context, sample after sample.
  std::vector<double> rewards(std::int64_t number) {
    std::vector<double> all;
    for (const auto& sample : learner_.policy().posterior_rewards(seen(number)))
      all.insert(all.end(), sample.begin(), sample.end());
    return all;
  }
  /// Looks at the contexts first … first + count − 1 together.
  void foresee(std::int64_t first, std::int64_t count) {
    for (std::int64_t number = first; number < first + count; ++number) learner_.policy().foresee(seen(number));
  }
  /// The decision of a context, without an outcome: the arm and the propensities.
  std::vector<double> decision(std::int64_t number, Propensities wanted) {
    const Decision decision = learner_.choose(seen(number), wanted);
    std::vector<double> all{static_cast<double>(decision.action)};
    all.insert(all.end(), decision.propensities.begin(), decision.propensities.end());
    return all;
  }
  BanditLearner& learner() { return learner_; }

 private:
  envs::Context seen(std::int64_t number) {
    Draws draws({.seed = 9, .step = static_cast<std::uint64_t>(number), .stream = Stream::test}, 0);
    numbers_.resize(static_cast<std::size_t>(spec_.context_size));
    for (float& x : numbers_) x = static_cast<float>(draws.normal());
    features_.resize(static_cast<std::size_t>(spec_.arms * spec_.arm_features));
    for (float& x : features_) x = static_cast<float>(draws.normal());
    active_.clear();
    for (std::int64_t a = 0; a < spec_.active_columns; ++a)
      active_.push_back(static_cast<std::int32_t>(3 * a + draws.integer(3)));
    if (spec_.active_columns > 0) return {.active = active_};
    return {.dense = numbers_, .arm_features = features_};
  }

  envs::BanditSpec spec_;
  BanditLearner learner_;
  std::vector<float> numbers_, features_;
  std::vector<std::int32_t> active_;
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// The two choose the same arms, and what they learn is the same but for rounding: a hundredth of what it moved.
void check_learning(const std::string& name, const envs::BanditSpec& spec, const Settings& settings, Device device) {
  CAPTURE(name, spec.name);
  Learning host(name, spec, settings, {}), there(name, spec, settings, device);
  const std::vector<double> start = host.rewards(100);
  CHECK(distance(start, there.rewards(100)) < 1e-4);
  for (std::int64_t number = 0; number < 20; ++number) CHECK(there.interact(number) == host.interact(number));
  const std::vector<double> expected = host.rewards(100);
  CHECK(distance(expected, there.rewards(100)) < 0.01 * distance(expected, start));
  const auto measured = host.learner().policy().diagnostics(), found = there.learner().policy().diagnostics();
  REQUIRE(found.size() == measured.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].second == Approx(measured[i].second).epsilon(1e-3));
}

void check_policies(Device device) {
  for (const auto& [name, entry] : bandit_policies().entries()) {
    if (!entry.on_devices) continue;
    for (const envs::BanditSpec& spec : {dense, one_hot}) check_learning(name, spec, {}, device);
    const bool regresses = name.starts_with("neural-");
    check_learning(name, clicks, {{"likelihood", regresses ? "gaussian" : "bernoulli"}}, device);
  }
  for (const char* name : {"neural-linear", "neural-ucb", "dropout", "parameter-noise"})
    check_learning(name, dense, {{"network", "joint"}, {"activation", "tanh"}}, device);
  check_learning("dropout", one_hot, {{"weight_samples", "3"}}, device);
  check_learning("svgd", dense, {{"prior_function_scale", "0.5"}, {"network", "joint"}, {"activation", "tanh"}},
                 device);
  check_learning("s2vgd", one_hot, {{"reflectors", "8"}, {"scales", "free"}}, device);
  check_learning("ensemble", dense, {{"prior_scale", "weights"}, {"draw", "mean"}}, device);
  for (const char* name : {"svgd", "s2vgd", "psgld"}) check_learning(name, one_hot, {{"average_steps", "6"}}, device);
  check_learning("ensemble", dense, {{"learn_noise_precision", "true"}, {"noise_per_arm", "false"}}, device);
  const Settings learned{{"learn_weight_precision", "true"}, {"prior_scale", "weights"}, {"anchors", "false"}};
  for (const char* name : {"svgd", "s2vgd"}) check_learning(name, one_hot, learned, device);
}

/// Two policies on a device, one of which looks ahead, decide the same; so do they once both have learned, since when
/// nothing counts that was seen before.
/// @returns how often the host waited for the device to decide ten contexts, with and without having looked at them
std::pair<std::int64_t, std::int64_t> check_foreseen(const std::string& name, const envs::BanditSpec& spec,
                                                     const Settings& settings, Device device) {
  CAPTURE(name, spec.name);
  Learning foreseeing(name, spec, settings, device), asking(name, spec, settings, device);
  for (std::int64_t number = 0; number < 8; ++number) foreseeing.interact(number), asking.interact(number);
  foreseeing.foresee(20, 10);
  std::int64_t waits[2] = {};
  for (std::int64_t number = 20; number < 30; ++number) {
    const Propensities wanted = number % 3 == 0 ? Propensities::none : Propensities::exact;
    const std::int64_t before = test::fenced_waits();
    const std::vector<double> found = foreseeing.decision(number, wanted);
    const std::int64_t between = test::fenced_waits();
    CHECK(found == asking.decision(number, wanted));
    waits[0] += between - before, waits[1] += test::fenced_waits() - between;
  }
  CHECK(foreseeing.rewards(25) == asking.rewards(25));  // passed already
  CHECK(foreseeing.rewards(40) == asking.rewards(40));  // not seen before
  foreseeing.foresee(50, 6);
  const std::vector<double> seen = foreseeing.rewards(52);
  foreseeing.interact(60), asking.interact(60);
  CHECK(foreseeing.rewards(52) == asking.rewards(52));
  CHECK(foreseeing.rewards(52) != seen);
  return {waits[0], waits[1]};
}

void check_foreseen_contexts(Device device) {
  check_foreseen("svgd", dense, {}, device);
  check_foreseen("s2vgd", one_hot, {{"average_steps", "6"}}, device);
  check_foreseen("ensemble", dense, {{"prior_function_scale", "0.5"}, {"network", "joint"}, {"draw", "one"}}, device);
  check_foreseen("bootstrap", clicks, {{"likelihood", "bernoulli"}}, device);
  check_foreseen("epsilon-greedy", one_hot, {{"network", "joint"}}, device);
  for (const char* name : {"bbb", "vmg", "dropout", "neural-ucb", "neural-ts"})
    check_foreseen(name, one_hot, {}, device);
}

}  // namespace

TEST_CASE("contexts that a policy on a device sees ahead are decided as one by one, without waiting for it",
          "[policies][cuda]") {
  const Device device = test::fenced_networks();
  check_foreseen_contexts(device);
  const auto [foreseen, asked] = check_foreseen("svgd", one_hot, {}, device);
  CHECK(asked >= 10);
  CHECK(foreseen == asked / 10);  // for all what it asks for one
}

TEST_CASE("contexts that a policy on a GPU sees ahead are decided as one by one", "[policies][cuda][gpu]") {
  check_foreseen_contexts(test::gpu());
}

TEST_CASE("policies on a device learn and choose what they do on the host", "[policies][cuda]") {
  check_policies(test::fenced_networks());
}

TEST_CASE("policies on a GPU learn and choose what they do on the host", "[policies][cuda][gpu]") {
  check_policies(test::gpu());
}

TEST_CASE("what a policy learned on a device goes on there and on the host", "[policies][cuda]") {
  const Device device = test::fenced_networks();
  for (const auto& [name, settings] : std::vector<std::pair<std::string, Settings>>{
           {"svgd", {}},
           {"sghmc", {}},
           {"epsilon-greedy", {}},
           {"bbb", {}},
           {"vmg", {}},
           {"dropout", {}},
           {"parameter-noise", {}},
           {"neural-linear", {}},
           {"neural-ucb", {{"hidden", "9,17"}}},  // rows have padding on the host
           {"neural-ts", {}},
           {"s2vgd", {{"average_steps", "6"}, {"hidden", "9,17"}}}}) {
    Learning there(name, one_hot, settings, device);
    for (std::int64_t number = 0; number < 8; ++number) there.interact(number);
    Snapshot saved;
    there.learner().save(saved);
    Learning same(name, one_hot, settings, device), host(name, one_hot, settings, {});
    same.learner().restore(saved), host.learner().restore(saved);
    const std::vector<double> start = there.rewards(100);
    for (std::int64_t number = 8; number < 16; ++number)
      there.interact(number), same.interact(number), host.interact(number);
    CAPTURE(name);
    const std::vector<double> expected = there.rewards(100);
    CHECK(distance(expected, start) > 0);
    CHECK(distance(same.rewards(100), expected) == 0);
    CHECK(distance(host.rewards(100), expected) < 0.01 * distance(expected, start));
  }
}

TEST_CASE("policies whose networks cannot be on a device are refused there by name", "[policies][cuda]") {
  const Device device = test::fenced_networks();
  std::set<std::string> there;
  for (const auto& [name, entry] : bandit_policies().entries()) {
    if (entry.on_devices) {
      there.insert(name);
      continue;
    }
    CHECK_ERROR(bandit_policies().at(name).builder()->make(clicks, 6, device), usage,
                "policy '" + name + "' is on the processor only", "one of anchored, bbb, bootstrap, dropout, ");
  }
  CHECK(there == std::set<std::string>{"anchored", "bbb", "bootstrap", "dropout", "ensemble", "epsilon-greedy",
                                       "function-svgd", "neural-linear", "neural-ts", "neural-ucb", "parameter-noise",
                                       "psgld", "s2vgd", "sghmc", "sgld", "svgd", "vmg"});
}

TEST_CASE("policies whose networks change with every outcome, or give features, do not look ahead",
          "[policies][cuda]") {
  const Device device = test::fenced_networks();
  for (const char* name : {"parameter-noise", "neural-linear"})
    CHECK_FALSE(policy_of(name, dense, {}, device)->foresees());
  CHECK(policy_of("neural-ucb", dense, {}, device)->foresees());
}

TEST_CASE("options that a policy has on the host only are refused on a device", "[policies][cuda]") {
  const Device device = test::fenced_networks();
  const auto made = [&](const Settings& settings) { return policy_of("ensemble", dense, settings, device); };
  CHECK_ERROR(made({{"arithmetic", "reference"}}), usage, "option 'arithmetic'", "on the processor only");
  CHECK_ERROR(made({{"hidden", "9,9,9,9,9,9,9,9"}}), usage, "at most 8 layers, got 9");
}
