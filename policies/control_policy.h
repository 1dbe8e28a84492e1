// A control policy with particles for its weights: observations in, actions out.
#pragma once

#include <stein/core/options.h>
#include <stein/core/snapshot.h>
#include <stein/envs/control_spec.h>
#include <stein/inference/targets/host_networks.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/inference/targets/shared_coordinates.h>
#include <stein/policies/action_distribution.h>
#include <stein/policies/running_moments.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stein::policies {

/// What a network's weights start from.
enum class WeightStart {
  normal,      ///< N(0, spread²/inputs of the layer)
  orthogonal,  ///< spread times a random orthogonal matrix of the layer's shape
};

/// M perceptrons of one shape, each a policy of its own: categorical where actions are choices, Gaussian where they are
/// numbers (Zhang et al. 2018, §5.4: tanh, 25-10). What moves their weights is a posterior like any other, so the
/// particles may be of weights or of the factors of matrix-Gaussian weights.
class ControlPolicy {
 public:
  /// The network, the form of its weights and their prior.
  struct Options {
    std::int64_t particles = 1;      ///< M; no option itself: who learns decides
    std::int64_t shared_layers = 0;  ///< the first hidden ones, that all particles have in common; the same
    std::vector<std::int64_t> hidden{25, 10};
    inference::Activation activation = inference::Activation::tanh;
    bool discrete = false;  ///< decides which other options there are; no option itself
    Deviation deviation = Deviation::constant;
    double initial_deviation = 1;
    WeightStart initial_weights = WeightStart::normal;
    double initial_spread = 1;
    double output_spread = 0.1;
    double initial_correlation = 0;
    bool normalize_observations = false;
    bool anchors = false;
    inference::NetworkPosteriorOptions posterior{};

    template <class V>
    void describe(V& v) {
      v("hidden", hidden, "widths of the hidden layers of the policy", between(1, 1e5));
      v("activation", activation, "of the hidden layers",
        {{"relu", inference::Activation::relu}, {"tanh", inference::Activation::tanh}});
      if (!discrete) {
        v("deviation", deviation, "the sd of an action is one number, or an output of the network",
          {{"constant", Deviation::constant}, {"state", Deviation::state}});
        v("initial_deviation", initial_deviation, "sd of an action at the start", positive, "action");
      }
      v("initial_weights", initial_weights,
        "weights start from N(0, spread²/inputs of the layer), or from spread times a random orthogonal matrix",
        {{"normal", WeightStart::normal}, {"orthogonal", WeightStart::orthogonal}})
          .in_older_runs("normal");
      v("initial_spread", initial_spread, "of initial_weights", non_negative);
      v("output_spread", output_spread, "the start of the last layer is multiplied by it", non_negative);
      v("initial_correlation", initial_correlation,
        "of a weight in two particles at the start: 0 draws each on its own, 1 makes them equal", probability);
      v("normalize_observations", normalize_observations,
        "observations are shifted and divided by their running mean and sd, and limited to ±10");
      if (!posterior.flat_prior)
        v("anchors", anchors, "the prior of each particle is centred where it starts, not at 0").in_older_runs("false");
      posterior.describe(v);
    }
  };

  /// @param device  where the particles are, and what moves them finds its gradients; what they do and say is asked of
  ///                their networks on the host
  /// @throws Error(usage) naming the option that is out of range or does not fit the environment or the device
  ControlPolicy(const Options& options, const envs::ControlSpec& spec, std::uint64_t seed,
                inference::Device device = {});

  /// Whether the particles of a policy with these options can be on a device: networks that share no layers, of this
  /// library's own arithmetic.
  static bool on_devices(const Options& options) {
    return options.shared_layers == 0 && options.posterior.arithmetic == inference::Arithmetic::fused;
  }

  std::int64_t particle_count() const { return particles_.rows(); }
  std::int64_t observation_size() const { return observation_size_; }
  const ActionDistribution& distribution() const { return *distribution_; }
  inference::Particles<float>& particles() { return particles_; }
  const inference::Particles<float>& particles() const { return particles_; }
  inference::Device device() const { return particles_.device(); }
  inference::Posterior<float>& posterior() { return *posterior_; }
  /// What a sampler of the particles climbs: the posterior, in which layers may be shared.
  inference::Target<float>& target();

  /// Makes the weights of the networks from the particles, shared layers from their mean; to be called after the
  /// particles have moved. On a device it waits for them.
  void refresh();

  /// Observations as the networks see them. @param rows, to  [n, O]
  void present(inference::MatrixView<const float> rows, inference::MatrixView<float> to) const;
  /// What `present` does to each number of an observation, [O]; empty where it leaves them as they are.
  std::vector<ColumnUnit> observation_units() const;
  /// Lets the running mean and sd of the observations see some more of them, if they are normalised.
  void observe(inference::MatrixView<const float> rows);

  /// The parameters of particle i's distributions over actions. @param presented  [n, O]; outputs [n, K] are written
  ActionDistribution::Parameters parameters(std::int64_t i, inference::MatrixView<const float> presented,
                                            inference::MatrixView<float> outputs) const;
  /// Weights of the networks as the particles make them, [M, P], in the order of `weight_layout()`.
  inference::MatrixView<const float> weights() const { return networks_.weights(); }
  const inference::Layout& weight_layout() const { return networks_.layout(); }
  inference::Activation activation() const { return activation_; }
  /// Mean squared distance between the weights of two particles, over all pairs, a weight; 0 for one particle.
  double particle_distance() const;
  /// The largest absolute value among the weights of all particles.
  double largest_weight() const;
  /// What there is to say of more than one particle, recorded over time: {"particle_distance", that}, and {"collapse",
  /// the variance of the weights over particles (of C, where they are P Λ₁ C Λ₂ Qᵀ) ÷ that of particles which start
  /// independently}: 1 − initial_correlation at the start; shared layers left out. Without the latter where the start
  /// has no spread at all.
  std::vector<std::pair<std::string, double>> diagnostics() const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) saying what differs.
  void restore(const Snapshot& snapshot);

 private:
  std::int64_t observation_size_;
  inference::Activation activation_;
  std::unique_ptr<ActionDistribution> distribution_;
  std::unique_ptr<inference::Posterior<float>> posterior_;
  std::optional<inference::SharedCoordinates<float>> shared_;  ///< where there are shared layers
  inference::Particles<float> particles_;
  inference::HostNetworks networks_;
  std::int64_t constants_ = -1;  ///< where they begin in a row of weights
  double start_variance_ = 0;    ///< of the weights over particles that start independently
  std::optional<RunningMoments> moments_;
};

}  // namespace stein::policies
