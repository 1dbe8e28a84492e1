#include <stein/bench/gpu.h>
#include <stein/bench/sampler_case.h>
#include <stein/bench/update_gpu.h>
#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/policies/bandit_policy.h>

#include <fmt/ranges.h>

#include <map>
#include <memory>

namespace stein::bench {
namespace {

using inference::Device;
using policies::BanditPolicy;

/// Rows of random attributes, each a one among the columns of its own, random arms and rewards.
class RandomRows {
 public:
  RandomRows(const UpdateCase& which, bool one_hot) : which_(which), one_hot_(one_hot) {
    Draws draws({.seed = 1}, 0);
    dense_.assign(static_cast<std::size_t>(which.rows * which.inputs), 0);
    for (std::int64_t i = 0; i < which.rows; ++i) {
      for (std::int64_t a = 0; a < which.ones; ++a) {
        const std::int64_t first = a * which.inputs / which.ones, end = (a + 1) * which.inputs / which.ones;
        ones_.push_back(static_cast<std::int32_t>(first + draws.integer(static_cast<std::uint32_t>(end - first))));
        dense_[static_cast<std::size_t>(i * which.inputs + ones_.back())] = 1;
      }
      arms_.push_back(static_cast<std::int32_t>(draws.integer(static_cast<std::uint32_t>(which.arms))));
      rewards_.push_back(static_cast<float>(draws.normal()));
      numbers_.push_back(i);
    }
  }

  policies::InteractionBatch interactions() const {
    policies::InteractionBatch batch{
        .actions = arms_, .rewards = rewards_, .numbers = numbers_, .rows = which_.rows, .window = 4096};
    if (one_hot_)
      batch.active = ones_;
    else
      batch.dense = dense_;
    return batch;
  }
  std::vector<envs::Context> contexts() const {
    const auto ones = static_cast<std::size_t>(which_.ones), inputs = static_cast<std::size_t>(which_.inputs);
    std::vector<envs::Context> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(which_.rows); ++i)
      all.push_back(one_hot_ ? envs::Context{.active = std::span(ones_).subspan(i * ones, ones)}
                             : envs::Context{.dense = std::span(dense_).subspan(i * inputs, inputs)});
    return all;
  }

 private:
  UpdateCase which_;
  bool one_hot_;
  std::vector<std::int32_t> ones_, arms_;
  std::vector<float> dense_, rewards_;
  std::vector<std::int64_t> numbers_;
};

std::unique_ptr<BanditPolicy> policy_on(Device device, const std::string& name, const UpdateCase& which, bool one_hot) {
  const auto builder = policies::bandit_policies().at(name).builder();
  OptionTable table;
  builder->describe(table);
  const std::map<std::string, std::string> settings{{"particles", std::to_string(which.particles)},
                                                    {"drawn_particles", std::to_string(which.particles / 2 + 1)},
                                                    {"hidden", fmt::format("{}", fmt::join(which.hidden, ","))}};
  for (const auto& [option, value] : settings)
    if (table.contains(option)) table.set(option, value);
  return builder->make({.name = "benchmark",
                        .arms = which.arms,
                        .context_size = which.inputs,
                        .active_columns = one_hot ? which.ones : 0,
                        .reward_deviation = 1},
                       1, device);
}

/// All weights of a policy.
std::vector<float> weights_of(const BanditPolicy& policy) {
  Snapshot snapshot;
  policy.save(snapshot);
  return snapshot.part("particles").get_vector<float>("values");
}

Row row_of(const std::string& name, const Pair& seconds, const UpdateCase& which, Device device) {
  return {.name = name,
          .ours = 1e6 * seconds.ours,
          .reference = 1e6 * seconds.reference,
          .unit = "µs",
          .extra = {{"reference_is", "the same policy on all cores"},
                    {"device", inference::device_memory(device.kind).model(device.index)},
                    {"network", fmt::format("{}-{}-{}", which.inputs, fmt::join(which.hidden, "-"), which.arms)},
                    {"particles", static_cast<double>(which.particles)},
                    {"rows", static_cast<double>(which.rows)}}};
}

struct UpdateOptions {
  std::string device = "cuda", policy = "s2vgd";
  UpdateCase which{};

  template <class V>
  void describe(V& v) {
    v("device", device, "the GPU: cuda, or cuda:INDEX");
    v("policy", policy, "whose networks can be there");
    v("particles", which.particles, "networks", between(1, 1e4));
    v("rows", which.rows, "of a minibatch", between(1, 1e5));
    v("hidden", which.hidden, "widths of the hidden layers", between(1, 1e4));
  }
};

std::vector<Row> measure_update_gpu(const UpdateOptions& options) {
  return measure_updates_on(gpu_named(options.device, "update"), options.policy, options.which);
}

[[maybe_unused]] const bool registered = register_benchmark(
    "update-gpu", "one update of a bandit policy on a GPU, and its decisions, one by one and foreseen",
    measure_update_gpu, Cores::all, check_gpu);

}  // namespace

std::vector<Row> measure_updates_on(Device device, const std::string& policy, const UpdateCase& which,
                                    const PairSettings& settings) {
  check_present(device);
  std::vector<Row> rows;
  for (const bool one_hot : {true, false}) {
    const std::string name = policy + (one_hot ? "-onehot" : "-dense");
    const RandomRows data(which, one_hot);
    const policies::InteractionBatch batch = data.interactions();
    const auto ours = policy_on(device, policy, which, one_hot), reference = policy_on({}, policy, which, one_hot);
    const std::vector<float> start = weights_of(*reference);
    for (int k = 0; k < 3; ++k) ours->learn(batch), reference->learn(batch);
    check_same_move("update-gpu", name, start, weights_of(*ours), weights_of(*reference));
    rows.push_back(row_of(name, measure_pair([&] { ours->learn(batch); }, [&] { reference->learn(batch); }, settings),
                          which, device));
    const std::vector<envs::Context> contexts = data.contexts();
    const envs::Context& context = contexts.front();
    std::int64_t step = 0;
    const auto decide = [&](BanditPolicy& by) { keep(by.decide(context, step++, policies::Propensities::exact)); };
    rows.push_back(row_of("decision-" + name,
                          measure_pair([&] { decide(*ours); }, [&] { decide(*reference); }, settings), which, device));
    const auto decide_all = [&](BanditPolicy& by) {
      for (const envs::Context& one : contexts) by.foresee(one);
      for (const envs::Context& one : contexts) keep(by.decide(one, step++, policies::Propensities::exact));
    };
    const double each = 1 / static_cast<double>(contexts.size());
    Pair seconds = measure_pair([&] { decide_all(*ours); }, [&] { decide_all(*reference); }, settings);
    seconds.ours *= each, seconds.reference *= each;
    rows.push_back(row_of("decision-of-many-" + name, seconds, which, device));
  }
  return rows;
}

}  // namespace stein::bench
