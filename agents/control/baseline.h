// What a return is compared with: nothing, a linear function of features, or a value network; one a particle, outside
// the kernel that moves the policies.
#pragma once

#include <stein/agents/control/policy_objective.h>
#include <stein/agents/control/valued_by.h>
#include <stein/core/options.h>
#include <stein/core/snapshot.h>
#include <stein/inference/models/part_exchange.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/policies/control_policy.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace stein::agents {

enum class BaselineKind {
  none,     ///< 0
  linear,   ///< ridge regression on powers of time and observation (Duan et al. 2016)
  network,  ///< a perceptron, trained beside the policy
};

/// Options of the value network.
struct ValueNetworkOptions {
  std::vector<std::int64_t> hidden{64, 64};
  double step_size = 1e-3;
  std::int64_t updates = 1;
  double largest_gradient = 0.5;
  double epsilon = 1e-8;
  bool normalize = false;
  policies::WeightStart initial_weights = policies::WeightStart::normal;  ///< that of the policy; no option itself
  double initial_spread = 1;                                              ///< the same
  inference::Arithmetic arithmetic = inference::Arithmetic::fused;        ///< that of the policy; no option itself

  template <class V>
  void describe(V& v) {
    v("value_hidden", hidden, "widths of the hidden layers of the value network (tanh)", between(1, 1e5));
    v("value_step_size", step_size, "of Adam on half the mean squared error", positive);
    v("value_updates", updates, "updates of the value network for one of the policy", between(1, 1e4));
    v("value_largest_gradient", largest_gradient, "longer gradients of it are shortened to this; 0: never",
      non_negative);
    v("value_epsilon", epsilon, "added by Adam to the root of the averaged square", positive).in_older_runs("1e-08");
    v("normalize_values", normalize,
      "the value network learns returns shifted and divided by their running mean and sd; its predictions stay where "
      "these move (Pop-Art)")
        .in_older_runs("false");
  }
};

/// Rows of all particles, [M·n], one particle after the other.
struct ValueRows {
  std::int64_t particles = 1;
  std::int64_t rows = 0;                              ///< n
  inference::MatrixView<const float> observations{};  ///< [M·n, O] as the networks see them
  std::span<const float> times{};                     ///< steps of the episode before this one
  std::span<const float> targets{};                   ///< returns
  std::span<const float> scale{};                     ///< 1/(rows that count); 0 for a row that does not
};

/// V(o) for every particle.
class Baseline {
 public:
  virtual ~Baseline() = default;

  /// Values of some observations [k, O] for particle i.
  virtual void predict(std::int64_t particle, inference::MatrixView<const float> observations,
                       std::span<const float> times, std::span<float> values) = 0;
  /// The networks that `predict` asks, on the host, for whoever asks them elsewhere; valid until they learn or move.
  /// Nothing where there are none.
  virtual std::optional<ValuedBy> networks() const { return {}; }
  /// Called once with everything that was collected, before the first `learn` of an iteration.
  virtual void observe(const ValueRows& rows) { static_cast<void>(rows); }
  /// Called with every batch that the policies are moved by.
  virtual void learn(const ValueRows& rows) { static_cast<void>(rows); }
  /// Called once with everything that was collected, after the policies have moved.
  virtual void refit(const ValueRows& rows) { static_cast<void>(rows); }

  /// From here on `learn` and `refit` are collective calls of the ranks of `exchange`, which has to outlive this
  /// object, and be given the same: each does what it can for some of the particles.
  /// @param exchange  of the device where value networks learn
  virtual void share_with(inference::PartExchange& exchange) { static_cast<void>(exchange); }

  /// Multiplies the step size from now on.
  virtual void scale_step_size(double factor) { static_cast<void>(factor); }

  virtual void save(Snapshot& snapshot) const { static_cast<void>(snapshot); }
  virtual void restore(const Snapshot& snapshot) { static_cast<void>(snapshot); }
};

/// What particles share where `shared`: one baseline that learns from the rows of all.
/// @param observation_size  O
/// @param device  where value networks learn; what they say is asked of them on the host
/// @throws Error(usage) naming the option that is out of range or does not fit the device
std::unique_ptr<Baseline> make_baseline(BaselineKind kind, const ValueNetworkOptions& options, std::int64_t particles,
                                        std::int64_t observation_size, std::uint64_t seed, bool shared = false,
                                        inference::Device device = {});

}  // namespace stein::agents
