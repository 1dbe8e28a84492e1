// Events of a news log through neural policies: what replay costs, against LibTorch's forward pass of the same
// networks.
#include <stein/bench/allocation_count.h>
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/core/error.h>
#include <stein/policies/particle_policy.h>
#include <stein/replay/policy_replay.h>
#include <stein/replay/synthetic_news.h>
#include <stein/torch/tensor_view.h>

#include <ATen/Functions.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

namespace stein::bench {
namespace {

using namespace stein::inference;
using policies::Propensities;
using policies::RewardNetwork;

constexpr std::int64_t event_count = 18'000, places = replay::SyntheticNews::places,
                       features = replay::SyntheticNews::features;

struct ReplayBenchmarkOptions {
  std::int64_t learn_every = 16;

  template <class V>
  void describe(V& v) {
    v("learn_every", learn_every, "accepted events from one update to the next, where the policy learns",
      between(1, 1e6), "events");
  }
};

/// What is timed: how s2vgd predicts, and for how many arms there is room.
struct NetworkCase {
  std::string name;
  RewardNetwork network;
  std::int64_t arms, lifetime;  ///< events of an article, so that the log has nearly as many as there is room for
};

envs::BanditSpec news(std::int64_t arms) {
  return {.name = "news",
          .arms = arms,
          .context_size = features,
          .arm_features = features,
          .reward_low = 0,
          .reward_high = 1};
}

/// 20 particles of one layer of 50 units, over features of readers and articles or with a head an article.
policies::ParticlePolicy::Options network_options(RewardNetwork network) {
  policies::ParticlePolicy::Options options;
  options.posterior = posterior_options(true);
  options.hidden = {50};
  options.network = network;
  options.likelihood = Likelihood::bernoulli;
  return options;
}

/// Made beforehand: what reading or drawing them costs is not measured.
std::vector<replay::LoggedEvent> events_of(const NetworkCase& which) {
  replay::SyntheticNews log({.lifetime = which.lifetime});
  std::vector<replay::LoggedEvent> events;
  for (std::int64_t i = 0; i < event_count; ++i) events.push_back(log.event(i));
  return events;
}

/// The same networks in tensor operations; the highest output of the present articles is taken.
class ReferenceNetworks {
 public:
  ReferenceNetworks(const NetworkCase& which, std::uint64_t seed) : joint_(which.network == RewardNetwork::joint) {
    const MlpSpec network{
        .inputs = joint_ ? 2 * features : features, .hidden = {50}, .outputs = joint_ ? 1 : which.arms};
    const auto posterior = make_network_posterior(posterior_options(true), network);
    const Particles<float> particles = posterior->initial_particles(particle_count, seed, 1);
    const Layout& layout = posterior->weight_layout();
    AlignedBuffer<float> weights(static_cast<std::size_t>(particle_count * layout.size()));
    const MatrixView<float> rows{weights.data(), particle_count, layout.size()};
    posterior->effective_weights(particles.coordinates(), {}, rows);
    for (const LayoutEntry& entry : layout.entries()) parameters_.push_back(entry_view(rows, entry).contiguous());
  }

  /// Outputs [count, 20] of particles from `first` on for the articles of `event`.
  at::Tensor outputs(const replay::LoggedEvent& event, std::int64_t first, std::int64_t count) const {
    const auto number = [](const auto& values) {
      return at::from_blob(const_cast<float*>(values.data()), {std::ssize(values)});
    };
    at::Tensor input = number(event.dense).unsqueeze(0);
    if (joint_) input = at::cat({input.expand({places, -1}), number(event.arm_features).view({places, features})}, 1);
    const auto of = [&](std::size_t k) { return parameters_[k].narrow(0, first, count); };
    const at::Tensor hidden = at::baddbmm(of(1), input.expand({count, -1, -1}), of(0)).relu_();
    const at::Tensor all = at::baddbmm(of(3), hidden, of(2));
    if (joint_) return all.squeeze(2);
    const at::Tensor present =
        at::from_blob(const_cast<std::int32_t*>(event.present.data()), {places}, at::TensorOptions().dtype(at::kInt));
    return all.squeeze(1).index_select(1, present);
  }

 private:
  bool joint_;
  std::vector<at::Tensor> parameters_;
};

void check_same(const NetworkCase& which, const replay::LoggedEvent& event, const ReferenceNetworks& reference) {
  policies::ParticlePolicy policy(network_options(which.network), news(which.arms), 1);
  const std::vector<std::vector<double>> rewards = policy.posterior_rewards(event.context());
  const at::Tensor outputs = reference.outputs(event, 0, particle_count).sigmoid();
  double error = 0;
  for (std::int64_t i = 0; i < particle_count; ++i)
    for (std::int64_t k = 0; k < places; ++k)
      error = std::max(error, std::abs(rewards[i][k] - outputs[i][k].item<float>()));
  if (!(error < 1e-5))
    fail(ErrorKind::numeric, "benchmark replay-networks: ours and the reference differ by {:.2g}", error);
}

/// A policy on the log. @param learn_every  accepted events from one update, of a minibatch of 64, to the next
replay::PolicyReplay make_replay(const NetworkCase& which, std::int64_t learn_every) {
  const envs::BanditSpec spec = news(which.arms);
  const policies::BanditLearner::Options learning{.updates = 1, .learn_every = learn_every, .forced_pulls = 0};
  return {std::make_unique<policies::BanditLearner>(
              learning, spec, 1, std::make_unique<policies::ParticlePolicy>(network_options(which.network), spec, 1)),
          {},
          replay::ConfidenceSequence(0, 1)};
}

/// Adds to the row what learning costs; the events a second are the median of five times through the log.
void add_learning(const NetworkCase& which, const std::vector<replay::LoggedEvent>& events, std::int64_t learn_every,
                  Row& row) {
  replay::PolicyReplay replay = make_replay(which, learn_every);
  std::vector<double> rates;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (const replay::LoggedEvent& event : events) keep(replay.take(event).accepted);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    rates.push_back(static_cast<double>(events.size()) / seconds.count());
  }
  std::ranges::nth_element(rates, rates.begin() + 2);
  const policies::BanditLearner::Timing& timing = replay.learner().timing();
  const auto updates = static_cast<double>(timing.updates);
  row.extra.emplace_back("learning_events_per_second", rates[2]);
  row.extra.emplace_back("learning_events_an_update", static_cast<double>(replay.events()) / updates);
  row.extra.emplace_back("learning_µs_an_update", 1e6 * timing.learning_seconds / updates);
}

/// Adds how often 1,000 calls ask for memory, those included that accept an event.
void add_allocations(const std::function<void()>& call, Row& row) {
  const auto thousand = [&] {
    for (int i = 0; i < 1000; ++i) call();
  };
  if (const auto count = allocations_in(thousand))
    row.extra.emplace_back("allocations_in_1000", static_cast<double>(*count));
}

/// Replay without learning and with it, and decisions with exact propensities.
std::vector<Row> measure_case(const NetworkCase& which, std::int64_t learn_every) {
  const c10::InferenceMode inference_mode;
  const std::vector<replay::LoggedEvent> events = events_of(which);
  const ReferenceNetworks reference(which, 1);
  check_same(which, events.front(), reference);

  replay::PolicyReplay replay = make_replay(which, 1'000'000'000);
  std::int64_t next = 0, step = 0;
  const auto event = [&]() -> const replay::LoggedEvent& {
    return events[static_cast<std::size_t>(next++ % event_count)];
  };
  const auto replay_one = [&] { keep(replay.take(event()).accepted); };
  const auto drawn = [&] { keep(reference.outputs(event(), next % particle_count, 1).argmax(1)); };
  Row row = tensor_row(which.name, measure_tensor_pair(replay_one, drawn), "LibTorch forward of the drawn particle");
  row.extra.emplace_back("events_per_second", 1e6 / row.ours);
  add_allocations(replay_one, row);
  add_learning(which, events, learn_every, row);

  policies::ParticlePolicy policy(network_options(which.network), news(which.arms), 1);
  const auto decide = [&] { keep(policy.decide(event().context(), ++step, Propensities::exact)); };
  const auto all = [&] { keep(reference.outputs(event(), 0, particle_count).argmax(1).bincount({}, places)); };
  Row exact = tensor_row(which.name + "-exact", measure_tensor_pair(decide, all),
                         "LibTorch forward, batched over particles and arms");
  exact.extra.emplace_back("decisions_per_second", 1e6 / exact.ours);
  add_allocations(decide, exact);
  return {row, exact};
}

std::vector<Row> measure_replay_networks(const ReplayBenchmarkOptions& options) {
  std::vector<Row> rows;
  for (const NetworkCase& which : {NetworkCase{"s2vgd-joint", RewardNetwork::joint, 200, 2000},
                                   NetworkCase{"s2vgd-heads", RewardNetwork::heads, 200, 2000},
                                   NetworkCase{"s2vgd-heads-1000", RewardNetwork::heads, 1000, 400}})
    std::ranges::copy(measure_case(which, options.learn_every), std::back_inserter(rows));
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("replay-networks", Measure::of(measure_replay_networks));

}  // namespace
}  // namespace stein::bench
