#include <stein/agents/bandits/showdown_preset.h>
#include <stein/policies/bandit_policy.h>

#include <map>

namespace stein::agents {
namespace {

using Settings = std::map<std::string, std::string>;

Preset preset_of(Settings settings,
                 std::string description =
                     "the Deep Bayesian Bandits Showdown (Riquelme, Tucker & Snoek 2018) and its published code") {
  return {.name = "showdown", .description = std::move(description), .settings = std::move(settings)};
}

Settings operator+(Settings settings, const Settings& more) {
  for (const auto& [option, value] : more) settings[option] = value;
  return settings;
}

/// Networks without uncertainty: RMSprop on the squared error, averaged over a minibatch.
///
/// With N = 1 and γ = 2 the gradient of the log joint is that of −Σ(r − f)²/n, which is what clip_norm is of there; λ
/// is there because a prior has to be. Steps are 0.1/(1 + t/2). They are meant to begin anew whenever the network
/// learns, but the optimizer of the published code keeps those it was made with. Its ε = 1e-10 is under the root, here
/// 1e-5 behind it. First weights are uniform in ±0.3: the spread gives those behind the 50 units the same sd, 0.3/√3.
Settings least_squares() {
  return {{"hidden", "50"},
          {"scale_rewards", "false"},
          {"noise_precision", "2"},
          {"noise_per_arm", "false"},
          {"largest_data_size", "1"},
          {"prior_scale", "weights"},
          {"weight_precision", "1e-12"},
          {"initial_spread", "1.2247"},
          {"optimizer", "rmsprop"},
          {"square_decay", "0.9"},
          {"optimizer_epsilon", "1e-5"},
          {"step_size", "0.1"},
          {"step_decay_steps", "2"},
          {"step_decay_exponent", "1"},
          {"clip_norm", "5"}};
}

/// The prior of the regressions of LinFullPost and NeuralLinear.
Settings regression() {
  return {{"prior_precision", "0.25"}, {"prior_shape", "6"}, {"prior_rate", "6"}};
}

/// Several networks of which one decides. BootRMS has 3, and each of them sees 95 % of the interactions: between
/// `bootstrap`, which resamples them, and `ensemble`, which has all of them, and nearer to this.
Settings several_networks() {
  return least_squares() + Settings{{"particles", "3"}, {"draw", "one"}, {"anchors", "false"}};
}

/// Bayes by Backprop: σ = 0.1 of rewards, weights that start at N(0, 0.05²) with an sd of exp(−5), λ of the layer
/// behind the 50 units (there 2/inputs is the prior variance of every layer), Adam with a constant step. Networks are
/// drawn for every decision there: as many as there are between two times of learning are drawn here.
Settings bayes_by_backprop() {
  return {{"hidden", "50"},
          {"scale_rewards", "false"},
          {"noise_precision", "100"},
          {"likelihood_power", "1"},
          {"noise_per_arm", "false"},
          {"prior", "gaussian"},
          {"prior_scale", "weights"},
          {"weight_precision", "25"},
          {"initial_spread", "0.35355"},
          {"initial_deviation_low", "0.0067379"},
          {"initial_deviation_high", "0.0067379"},
          {"particles", "50"},
          {"draw", "one"},
          {"optimizer", "adam"},
          {"step_size", "0.1"},
          {"step_decay_steps", "0"}};
}

const std::map<std::string, Settings>& policies_of_the_showdown() {
  static const std::map<std::string, Settings> all{
      {"lints", regression() + Settings{{"intercept", "true"}, {"scale_rewards", "false"}, {"regression", "disjoint"}}},
      {"epsilon-greedy", least_squares() + Settings{{"epsilon", "0"}}},
      {"neural-linear", least_squares() + regression() + Settings{{"refresh_every", "50"}}},
      {"dropout", least_squares() + Settings{{"dropout_rate", "0.2"}, {"particles", "50"}, {"draw", "one"}}},
      {"parameter-noise", least_squares() + Settings{{"particles", "50"}}},
      {"bootstrap", several_networks()},
      {"ensemble", several_networks()},
      {"bbb", bayes_by_backprop()}};
  return all;
}

const std::map<std::string, Settings>& bandits_of_the_showdown() {
  static const std::map<std::string, Settings> all{{"mushroom", {{"reward", "showdown"}, {"steps", "50000"}}},
                                                   {"mushroom-synthetic", {{"reward", "showdown"}, {"steps", "50000"}}},
                                                   {"shuttle", {{"steps", "43500"}}},
                                                   {"covertype", {{"steps", "150000"}}},
                                                   {"financial", {{"steps", "3713"}}},
                                                   {"jester", {{"steps", "19181"}}},
                                                   {"adult", {{"steps", "45222"}}},
                                                   {"census", {{"steps", "150000"}}},
                                                   {"wheel", {{"steps", "80000"}}}};
  return all;
}

Settings found(const std::map<std::string, Settings>& all, const std::string& name) {
  const auto entry = all.find(name);
  return entry == all.end() ? Settings{} : entry->second;
}

}  // namespace

Preset showdown_learning(bool learns) {
  Settings settings{
      {"buffer", "0"}, {"batch", "512"}, {"updates", "100"}, {"learn_every", "50"}, {"rows_per_update", "0"}};
  if (learns) settings["forced_pulls"] = "2";
  return preset_of(settings);
}

Preset showdown_bandit(const std::string& environment) {
  return preset_of(found(bandits_of_the_showdown(), environment));
}

Preset showdown_policy(const std::string& policy) {
  const auto options = policies::bandit_policies().at(policy).builder();
  if (policies_of_the_showdown().contains(policy) || !OptionTable::of(*options).contains("hidden"))
    return preset_of(found(policies_of_the_showdown(), policy));
  return preset_of({{"hidden", "50"}},
                   "networks as wide as those of the Deep Bayesian Bandits Showdown (Riquelme, Tucker & Snoek 2018)");
}

}  // namespace stein::agents
