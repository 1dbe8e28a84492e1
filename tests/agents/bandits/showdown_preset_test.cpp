// The preset `showdown`: what it sets is what the published code says, and networks move as they do there.
#include <stein/agents/bandits/bandit_experiment.h>
#include <stein/agents/bandits/showdown_preset.h>
#include <stein/envs/bandit_environment.h>
#include <stein/runs/run_kind.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "core/error_matcher.h"

using namespace stein;
using agents::BanditExperiment;

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

BanditExperiment experiment(const std::string& environment, const std::string& policy, const Settings& more = {}) {
  Settings settings{{"env", environment}, {"policy", policy}};
  settings.insert(settings.end(), more.begin(), more.end());
  return {runs::run_kinds().at("bandit"), {.preset = "showdown", .settings = settings}};
}

void check_options(const BanditExperiment& experiment, const std::map<std::string, std::string>& expected) {
  for (const auto& [option, value] : expected) {
    CAPTURE(experiment.name(), option);
    CHECK(experiment.options().get(option) == value);
  }
}

/// RMSprop on one number, the prediction w + b of the context 1: both weights have the gradient 2 (reward − prediction)
/// of −(reward − prediction)², which is cut where the two are longer than 5.
struct Descent {
  double largest = 5;       ///< norm of the gradient
  double halved_after = 2;  ///< updates after which the step is half of the first
  double factor = 2;        ///< of the gradient
  double decay = 0.9;       ///< of the averaged square

  std::vector<double> from(double prediction, double reward, int updates) const {
    std::vector<double> path;
    double square = 0;
    for (int t = 0; t < updates; ++t) {
      double gradient = factor * (reward - prediction);
      gradient *= std::min(1.0, largest / (std::sqrt(2) * std::abs(gradient)));
      square = decay * square + (1 - decay) * gradient * gradient;
      prediction += 2 * 0.1 / (1 + t / halved_after) * gradient / (std::sqrt(square) + 1e-5);
      path.push_back(prediction);
    }
    return path;
  }
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST_CASE("the Showdown's protocol: 100 minibatches of 512 every 50 interactions, two pulls of every arm, 50 units",
          "[agents][showdown]") {
  for (const char* policy : {"epsilon-greedy", "neural-linear", "dropout", "bbb", "bootstrap", "svgd", "lints"})
    check_options(experiment("mushroom", policy), {{"batch", "512"},
                                                   {"updates", "100"},
                                                   {"learn_every", "50"},
                                                   {"buffer", "0"},
                                                   {"forced_pulls", "2"},
                                                   {"reward", "showdown"},
                                                   {"steps", "50000"}});
  for (const char* policy : {"epsilon-greedy", "neural-linear", "parameter-noise", "svgd", "neural-ts"})
    check_options(experiment("wheel", policy), {{"hidden", "50"}, {"steps", "80000"}});
  check_options(experiment("jester", "lints"), {{"prior_precision", "0.25"},
                                                {"prior_shape", "6"},
                                                {"prior_rate", "6"},
                                                {"intercept", "true"},
                                                {"scale_rewards", "false"},
                                                {"steps", "19181"}});
  check_options(experiment("shuttle", "neural-linear"), {{"refresh_every", "50"}, {"prior_precision", "0.25"}});
  check_options(experiment("adult", "epsilon-greedy"), {{"epsilon", "0"}, {"steps", "45222"}});
  check_options(experiment("adult", "dropout"), {{"dropout_rate", "0.2"}, {"draw", "one"}});
  check_options(experiment("wheel", "bootstrap"), {{"particles", "3"}, {"draw", "one"}});
  // σ = 0.1 of rewards, and λ of the layer behind the 50 units, whose prior variance is 2/50.
  check_options(experiment("wheel", "bbb"),
                {{"noise_precision", "100"}, {"weight_precision", "25"}, {"scale_rewards", "false"}});
}

TEST_CASE("uniform play under the Showdown's protocol has no forced pulls, and settings rank above the protocol",
          "[agents][showdown]") {
  check_options(experiment("wheel", "uniform"), {{"forced_pulls", "0"}, {"steps", "80000"}});
  check_options(experiment("mushroom", "svgd", {{"steps", "70"}, {"reward", "paper"}, {"batch", "8"}}),
                {{"steps", "70"}, {"reward", "paper"}, {"batch", "8"}, {"updates", "100"}});
}

TEST_CASE("the Showdown's protocol is there for every bandit and every policy", "[agents][showdown]") {
  for (const auto& [policy, entry] : policies::bandit_policies().entries())
    for (const auto& [environment, of_environment] : envs::bandits().entries()) {
      CAPTURE(environment, policy);
      CHECK(experiment(environment, policy).preset() == "showdown");
    }
  CHECK_ERROR(agents::showdown_policy("svgdd"), usage, "svgdd", "svgd");
}

TEST_CASE("a network learns by the steps of the published code: RMSprop on squared errors, cut at 5, 0.1 / (1 + t/2)",
          "[agents][showdown]") {
  const envs::BanditSpec spec{.name = "one number", .arms = 2, .context_size = 1, .reward_high = 3};
  const std::vector<float> one{1};
  const envs::Context context{.dense = one};
  const auto learner =
      experiment("wheel", "epsilon-greedy", {{"hidden", "none"}, {"updates", "1"}}).make_learner(spec, 3);
  const auto prediction = [&] { return learner->policy().posterior_rewards(context)[0][1]; };
  const double start = prediction(), reward = static_cast<float>(start + 2.5);
  constexpr int updates = 40;
  std::vector<double> path;
  for (int i = 1; i <= 50 * updates; ++i) {
    learner->learn(context, {.action = 1, .reward = reward});
    if (i % 50 == 0) path.push_back(prediction());
  }
  const std::vector<double> expected = Descent().from(start, reward, updates);
  const double distance = largest_difference(path, expected);
  CHECK(distance < 1e-4);
  for (const Descent& mutant : {Descent{.largest = 1e9}, Descent{.halved_after = 1}, Descent{.halved_after = 1e9},
                                Descent{.factor = 1}, Descent{.factor = 100}, Descent{.decay = 0.99}}) {
    CAPTURE(mutant.largest, mutant.halved_after, mutant.factor, mutant.decay);
    CHECK(largest_difference(path, mutant.from(start, reward, updates)) > 1e-2);
  }
}

TEST_CASE("under the Showdown's protocol what no reward was seen of stays where it started", "[agents][showdown]") {
  const envs::BanditSpec spec{.name = "one number", .arms = 2, .context_size = 1, .reward_high = 3};
  const std::vector<float> one{1};
  const envs::Context context{.dense = one};
  const auto learner = experiment("wheel", "epsilon-greedy", {{"hidden", "none"}}).make_learner(spec, 3);
  const double start = learner->policy().posterior_rewards(context)[0][0];
  for (int i = 0; i < 200; ++i) learner->learn(context, {.action = 1, .reward = 3});
  CHECK(std::abs(learner->policy().posterior_rewards(context)[0][0] - start) < 1e-5);
}
