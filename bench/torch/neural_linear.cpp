// Neural-linear on the mushroom bandit: a decision, all that it learns from an interaction, and its regressions made
// anew, against the same in LibTorch (the network) and Eigen (the regressions).
#include <stein/bench/allocation_count.h>
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/bench/torch/tensor_neural_linear.h>
#include <stein/core/error.h>
#include <stein/policies/interaction_window.h>
#include <stein/policies/neural_linear.h>
#include <stein/torch/tensor_view.h>

#include <ATen/Functions.h>
#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;

constexpr PairSettings neural_linear_settings{.round_seconds = 0.1, .warm_up_seconds = 0.2};
constexpr const char* reference_is = "LibTorch for the network, Eigen for the regressions";

/// Interactions in the window; the rest are the defaults of BanditLearner.
struct Options {
  std::int64_t window = 5000;
  std::int64_t updates = 4;

  template <class V>
  void describe(V& v) {
    v("window", window, "interactions that the regressions are made anew from", between(64, 1e6), "interactions");
    v("updates", updates, "minibatch updates for every interaction", between(1, 1e6));
  }
};

policies::NeuralLinear::Options policy_options() {
  auto options = policies::neural_defaults<policies::NeuralLinear::Options>("optimizer");
  options.scale_rewards = false;
  return options;
}

/// Both sides after the same interactions, with the same weights and regressions.
class NeuralLinearCase {
 public:
  explicit NeuralLinearCase(const Options& options)
      : options_(options),
        data_(true, options.window),
        window_(spec(), options.window, minibatch_rows),
        policy_(policy_options(), spec(), 1),
        reference_(mushroom_network(), particles(),
                   {.precision = policy_options().prior_precision,
                    .shape = policy_options().prior_shape,
                    .rate = policy_options().prior_rate}) {
    const Batch<float> batch = data_.batch();
    active_ = tensor_view(batch.inputs.ones).to(at::kLong);
    contexts_ = at::zeros({options.window, mushroom_network().inputs}).scatter_(1, active_, 1);
    for (std::int64_t i = 0; i < options.window; ++i) {
      window_.append(context(i), outcome(i));
      actives_.push_back(active_[i].contiguous());
    }
    actions_ = at::from_blob(const_cast<std::int32_t*>(batch.outputs.data()), {options.window}, at::kInt);
    arms_ = actions_.to(at::kLong);
    targets_ = tensor_view(batch.targets);
    rewards_ = targets_.flatten().to(at::kDouble);
    revisit();
    revisit_reference();
    check_regressions();
    check_updates();
  }

  void decide() { keep(policy_.decide(context(0), ++step_, policies::Propensities::none)); }
  void decide_with_propensities() { keep(policy_.decide(context(0), ++step_, policies::Propensities::exact)); }
  void decide_reference() { keep(reference_.decide(actives_[0])); }

  void revisit() { policy_.revisit(window_.all()); }
  void revisit_reference() { reference_.revisit(contexts_, arms_, rewards_); }

  /// As many interactions as there are from one time that the regressions are made anew to the next.
  void learn() {
    for (std::int64_t i = 0; i < interactions(); ++i) {
      policy_.observe(context(i), outcome(i));
      window_.append(context(i), outcome(i));
      for (std::int64_t k = 0; k < options_.updates; ++k)
        policy_.learn(window_.draw(1, static_cast<std::uint64_t>(++updates_)));
    }
    revisit();
  }
  void learn_reference() {
    for (std::int64_t i = 0; i < interactions(); ++i) {
      reference_.observe(actives_[static_cast<std::size_t>(i)], outcome(i).action, outcome(i).reward);
      for (std::int64_t k = 0; k < options_.updates; ++k) learn_rows(at::randint(options_.window, {minibatch_rows}));
    }
    revisit_reference();
  }
  std::int64_t interactions() const { return policy_.revisits_every(); }

 private:
  static envs::BanditSpec spec() {
    return {.name = "benchmark",
            .arms = 2,
            .context_size = mushroom_network().inputs,
            .active_columns = mushroom_attributes,
            .reward_deviation = 1};
  }

  envs::Context context(std::int64_t i) const { return {.active = data_.batch().inputs.ones.row(i)}; }
  policies::Outcome outcome(std::int64_t i) const {
    const Batch<float> batch = data_.batch();
    return {.action = batch.outputs[static_cast<std::size_t>(i)], .reward = double{batch.targets(i, 0)}};
  }

  /// The weights of the policy's network.
  Particles<float> particles() const {
    Snapshot snapshot;
    policy_.save(snapshot);
    Particles<float> particles(mlp_layout(mushroom_network()), 1);
    particles.restore(snapshot.part("particles"));
    return particles;
  }

  void learn_rows(const at::Tensor& rows) {
    const at::Tensor contexts = contexts_.index_select(0, rows), targets = targets_.index_select(0, rows),
                     actions = actions_.index_select(0, rows);
    Batch<float> batch;
    batch.inputs.dense = {contexts.data_ptr<float>(), minibatch_rows, contexts_.size(1)};
    batch.targets = {targets.data_ptr<float>(), minibatch_rows, 1};
    batch.outputs = {actions.data_ptr<std::int32_t>(), static_cast<std::size_t>(minibatch_rows)};
    batch.rows = minibatch_rows;
    batch.data_size = static_cast<double>(options_.window);
    reference_.learn(batch);
  }

  /// Throws Error(numeric) unless both regressions say the same of the first contexts.
  void check_regressions() {
    const policies::NeuralLinear::Options options = policy_options();
    Snapshot snapshot;
    policy_.save(snapshot);
    envs::BanditSpec features{
        .name = "features", .arms = 2, .context_size = options.hidden.back(), .reward_deviation = 1};
    policies::LinTs linear({.prior_precision = options.prior_precision,
                            .prior_shape = options.prior_shape,
                            .prior_rate = options.prior_rate,
                            .scale_rewards = options.scale_rewards},
                           features, 1);
    linear.restore(snapshot.part("regressions"));
    double error = 0;
    for (std::size_t i = 0; i < 20; ++i) {
      const std::vector<float> seen = reference_.features(actives_[i]);
      const auto ours = linear.posterior({.dense = seen});
      for (std::size_t arm = 0; arm < 2; ++arm) {
        const auto theirs = reference_.posterior(actives_[i], static_cast<std::int64_t>(arm));
        error = std::max({error, std::abs(ours[arm].location - theirs.location) / theirs.scale,
                          std::abs(ours[arm].scale / theirs.scale - 1), std::abs(ours[arm].degrees - theirs.degrees)});
      }
    }
    if (!(error < 1e-3))
      fail(ErrorKind::numeric, "benchmark neural-linear: the posteriors of ours and of the reference differ by {:.2g}",
           error);
  }

  /// Three updates from the same rows, for both.
  void check_updates() {
    const Particles<float> start = particles();
    policies::InteractionBatch rows = data_.interactions();
    rows.active = rows.active.first(static_cast<std::size_t>(minibatch_rows * mushroom_attributes));
    rows.actions = rows.actions.first(static_cast<std::size_t>(minibatch_rows));
    rows.rewards = rows.rewards.first(static_cast<std::size_t>(minibatch_rows));
    rows.rows = minibatch_rows, rows.window = options_.window;
    for (int i = 0; i < 3; ++i) {
      policy_.learn(rows);
      learn_rows(at::arange(minibatch_rows));
    }
    check_same_way("neural-linear", start, particles(), reference_.particles());
  }

  Options options_;
  Minibatch data_;
  policies::InteractionWindow window_;
  policies::NeuralLinear policy_;
  TensorNeuralLinear reference_;
  at::Tensor active_, contexts_, actions_, arms_, targets_, rewards_;
  std::vector<at::Tensor> actives_;
  std::int64_t step_ = 0, updates_ = 0;
};

Row measure_row(std::string name, const std::function<void()>& ours, const std::function<void()>& reference) {
  Row row = tensor_row(std::move(name), measure_tensor_pair(ours, reference, neural_linear_settings), reference_is);
  if (const auto count = allocations_in(ours)) row.extra.emplace_back("allocations", static_cast<double>(*count));
  return row;
}

std::vector<Row> measure_neural_linear(const Options& options) {
  NeuralLinearCase both(options);
  std::vector<Row> rows;
  rows.push_back(measure_row(
      "neural-linear-decision", [&] { both.decide(); }, [&] { both.decide_reference(); }));
  const Pair exact = measure_pair([&] { both.decide_with_propensities(); }, [&] { both.decide(); });
  rows.back().extra.emplace_back("with_propensities_µs", exact.ours * 1e6);
  rows.push_back(measure_row(
      "neural-linear-anew", [&] { both.revisit(); }, [&] { both.revisit_reference(); }));
  rows.push_back(measure_row(
      "neural-linear-learn", [&] { both.learn(); }, [&] { both.learn_reference(); }));
  // Of one interaction.
  rows.back().ours /= static_cast<double>(both.interactions());
  rows.back().reference /= static_cast<double>(both.interactions());
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("neural-linear", Measure::of(measure_neural_linear));

}  // namespace
}  // namespace stein::bench
