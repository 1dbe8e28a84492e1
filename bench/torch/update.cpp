// One update of SVGD, of S2VGD and of function-space SVGD on the network of the mushroom bandit against the same update
// on LibTorch autograd, batched over particles.
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/function_update.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/bench/torch/particle_update.h>
#include <stein/policies/function_svgd_policy.h>

namespace stein::bench {
namespace {

using namespace stein::inference;

constexpr PairSettings update_settings{.round_seconds = 0.1, .warm_up_seconds = 0.2};

Row measure_case(const MushroomCase& which, double peak) {
  const NetworkPosteriorOptions options = posterior_options(which.structured);
  FusedParticleUpdate update(options, mushroom_network(), particle_count);
  const Particles<float> start = update.particles();
  TensorParticleUpdate reference(options, mushroom_network(), start);
  const Minibatch data(which.one_hot);
  const Batch<float> batch = data.batch();
  for (int i = 0; i < 3; ++i) {
    update.step(batch);
    reference.step(batch);
  }
  check_same_way("update", start, update.particles(), reference.particles());

  const TensorPair pair =
      measure_tensor_pair([&] { update.step(batch); }, [&] { reference.step(batch); }, update_settings);
  const double of_a_gradient =
      gradient_operations(mushroom_network(), minibatch_rows, which.one_hot ? mushroom_attributes : 0);
  const double rate =
      update_operations(options, mushroom_network(), particle_count, start.size(), of_a_gradient) / pair.seconds.ours;
  Row row = tensor_row(which.name, pair, "LibTorch autograd, batched over particles");
  row.extra.emplace_back("gflops", rate / 1e9);
  row.extra.emplace_back("share_of_matrix_product_rate", rate / peak);
  if (which.structured) {
    FusedParticleUpdate direct(posterior_options(false), mushroom_network(), particle_count);
    const Pair both = measure_pair([&] { update.step(batch); }, [&] { direct.step(batch); }, update_settings);
    row.extra.emplace_back("times_svgd", both.ours / both.reference);
  }
  return row;
}

/// A policy of particles with plain weights, rewards as they come and the prior N(0, I) of the weights.
template <class Policy>
Policy make_policy(std::string_view sampler, bool one_hot) {
  typename Policy::Options options;
  options.sampler = samplers().at(sampler).defaults;
  options.scale_rewards = false;
  return Policy(options,
                {.name = "benchmark",
                 .arms = 2,
                 .context_size = mushroom_network().inputs,
                 .active_columns = one_hot ? mushroom_attributes : 0},
                1);
}

Particles<float> particles_of(const policies::ParticlePolicy& policy) {
  Snapshot snapshot;
  policy.save(snapshot);
  Particles<float> particles(mlp_layout(mushroom_network()), particle_count);
  particles.restore(snapshot.part("particles"));
  return particles;
}

/// As the policy learns: its predictions of the minibatch are made for the kernel, and again for the gradient.
Row measure_functions(bool one_hot) {
  auto policy = make_policy<policies::FunctionSvgdPolicy>("optimizer", one_hot);
  auto svgd = make_policy<policies::ParticlePolicy>("svgd", one_hot);
  const Particles<float> start = particles_of(policy);
  TensorFunctionUpdate reference(start);
  const Minibatch data(one_hot);
  const Batch<float> batch = data.batch();
  const policies::InteractionBatch interactions = data.interactions();
  for (int i = 0; i < 3; ++i) {
    policy.learn(interactions);
    svgd.learn(interactions);
    reference.step(batch);
  }
  check_same_way("update", start, particles_of(policy), reference.particles());

  const auto learn = [&] { policy.learn(interactions); };
  const TensorPair pair = measure_tensor_pair(
      learn, [&] { reference.step(batch); }, update_settings);
  Row row = tensor_row(one_hot ? "function-svgd-onehot" : "function-svgd-dense", pair,
                       "LibTorch autograd, batched over particles");
  const Pair both = measure_pair(
      learn, [&] { svgd.learn(interactions); }, update_settings);
  row.extra.emplace_back("times_svgd", both.ours / both.reference);
  return row;
}

std::vector<Row> measure_update(const NoOptions&) {
  const double peak = matrix_product_rate();
  std::vector<Row> rows;
  for (const MushroomCase& which : mushroom_cases()) rows.push_back(measure_case(which, peak));
  for (const bool one_hot : {true, false}) rows.push_back(measure_functions(one_hot));
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("update", Measure::of(measure_update));

}  // namespace
}  // namespace stein::bench
