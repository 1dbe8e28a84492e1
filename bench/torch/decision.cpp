// One decision of Stein Thompson sampling (all particles predict all arms, an arm and its propensities come out)
// against LibTorch's forward pass, batched over particles.
#include <stein/bench/allocation_count.h>
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/core/error.h>
#include <stein/policies/particle_policy.h>
#include <stein/torch/tensor_view.h>

#include <ATen/Functions.h>
#include <algorithm>
#include <array>
#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;
using TwoPropensities = std::array<double, 2>;

/// The forward pass in tensor operations; an arm is a particle's largest output.
class ReferenceDecision {
 public:
  explicit ReferenceDecision(const NetworkPosteriorOptions& options, std::uint64_t seed) {
    const std::unique_ptr<Posterior<float>> posterior = make_network_posterior(options, mushroom_network());
    const Particles<float> particles = posterior->initial_particles(particle_count, seed, 1);
    const Layout& layout = posterior->weight_layout();
    AlignedBuffer<float> weights(static_cast<std::size_t>(particle_count * layout.size()));
    const MatrixView<float> rows{weights.data(), particle_count, layout.size()};
    posterior->effective_weights(particles.coordinates(), {}, rows);
    for (const LayoutEntry& entry : layout.entries()) parameters_.push_back(entry_view(rows, entry).contiguous());
  }

  /// Of a context with ones at `active`.
  TwoPropensities decide(const at::Tensor& active) {
    const at::Tensor chosen = parameters_[0].index_select(1, active).sum(1, true);
    return finish(chosen.add_(parameters_[1]));
  }
  /// Of a dense context [1, 1, D].
  TwoPropensities decide_dense(const at::Tensor& context) {
    return finish(at::baddbmm(parameters_[1], context.expand({particle_count, 1, -1}), parameters_[0]));
  }
  const at::Tensor& outputs() const { return outputs_; }

 private:
  TwoPropensities finish(at::Tensor hidden) {
    hidden.relu_();
    hidden = at::baddbmm(parameters_[3], hidden, parameters_[2]).relu_();
    outputs_ = at::baddbmm(parameters_[5], hidden, parameters_[4]);
    const at::Tensor best = outputs_.argmax(2);
    TwoPropensities share{};
    for (std::int64_t i = 0; i < particle_count; ++i) share[best.data_ptr<std::int64_t>()[i]] += 1.0 / particle_count;
    return share;
  }

  std::vector<at::Tensor> parameters_;
  at::Tensor outputs_;
};

/// Throws Error(numeric) unless both give the same outputs and propensities.
void check_same(policies::ParticlePolicy& policy, const envs::Context& context, const ReferenceDecision& reference,
                const TwoPropensities& share) {
  const std::vector<std::vector<double>> rewards = policy.posterior_rewards(context);
  const policies::Decision decision = policy.decide(context, 0, policies::Propensities::exact);
  double error = 0;
  for (std::int64_t i = 0; i < particle_count; ++i)
    for (std::int64_t a = 0; a < 2; ++a)
      error = std::max(error, std::abs(rewards[i][a] - reference.outputs()[i][0][a].item<float>()));
  for (std::size_t a = 0; a < 2; ++a) error = std::max(error, std::abs(decision.propensities[a] - share[a]));
  if (!(error < 1e-5)) fail(ErrorKind::numeric, "benchmark decision: ours and the reference differ by {:.2g}", error);
}

Row measure_case(const MushroomCase& which) {
  const c10::InferenceMode inference_mode;
  policies::ParticlePolicy::Options options;
  options.posterior = posterior_options(which.structured);
  options.posterior.chooses_scale = true;  // as every policy's
  const envs::BanditSpec spec{.name = "benchmark",
                              .arms = 2,
                              .context_size = mushroom_network().inputs,
                              .active_columns = which.one_hot ? mushroom_attributes : 0};
  policies::ParticlePolicy policy(options, spec, 1);
  ReferenceDecision reference(options.posterior, 1);

  const Minibatch data(which.one_hot);
  const Inputs<float> inputs = data.batch().inputs;
  envs::Context context{};
  at::Tensor input;
  if (which.one_hot) {
    context.active = inputs.ones.row(0);
    input = tensor_view(inputs.ones.block(0, 1)).to(at::kLong).flatten();
  } else {
    context.dense = inputs.dense.row(0);
    input = tensor_view(inputs.dense.block(0, 1)).unsqueeze(0).clone();
  }
  TwoPropensities share{};
  const auto decide_reference = [&] {
    share = which.one_hot ? reference.decide(input) : reference.decide_dense(input);
  };
  decide_reference();
  check_same(policy, context, reference, share);

  std::int64_t step = 0;
  const auto decide = [&] { keep(policy.decide(context, ++step, policies::Propensities::exact)); };
  const TensorPair pair = measure_tensor_pair(decide, decide_reference);
  Row row = tensor_row(which.name, pair, "LibTorch forward, batched over particles");
  if (const auto count = allocations_in(decide)) row.extra.emplace_back("allocations", static_cast<double>(*count));
  return row;
}

std::vector<Row> measure_decision(const NoOptions&) {
  std::vector<Row> rows;
  for (const MushroomCase& which : mushroom_cases()) rows.push_back(measure_case(which));
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("decision", Measure::of(measure_decision));

}  // namespace
}  // namespace stein::bench
