// What a policy gradient climbs, as a score of the outputs of a policy network.
#pragma once

#include <stein/agents/control/surrogate.h>
#include <stein/inference/models/device_score.h>
#include <stein/policies/action_distribution.h>

#include <cstdint>
#include <memory>
#include <span>

namespace stein::agents {

/// Σ_i c_i [A_i log π(a_i | o_i) + β H(π(· | o_i))] over the rows of each particle's own rollouts. Its gradient is the
/// score-function estimate of ∇J/α where c_i holds 1/α and what J averages over (Williams 1992; Zhang et al. 2018, §6;
/// Liu et al. 2017, eq. 8). With a clip ratio the surrogate of Schulman et al. 2017, eq. 7, takes the place of
/// A log π: min(r A, clip(r, 1 − ε, 1 + ε) A) with r = π/π_old.
///
/// It has a gradient and no value: `score` returns 0. A Posterior adds the gradient of the log prior, so any sampler
/// that moves a posterior moves policies as well. Spans belong to the caller and may change between steps.
///
/// Where the policies are on a device it is made there, of rows that are copied when they are set.
class PolicyObjective final : public inference::DeviceScore {
 public:
  /// One entry a row, of all particles one after the other: [M·n], actions [M·n, A].
  struct Rows {
    std::int64_t rows = 0;  ///< n, of one particle
    inference::MatrixView<const float> actions{};
    std::span<const float> advantages{};
    std::span<const float> scale{};        ///< c; 0 for a row that only fills up
    std::span<const float> log_density{};  ///< log π_old(a | o); read with a clip ratio only
    std::span<float> log_ratio{};          ///< log π/π_old is written here with a clip ratio, unless it is empty
  };

  /// @param clip_ratio  ε of the clipped surrogate; 0: the plain policy gradient
  /// @param device      of the policies
  PolicyObjective(const policies::ActionDistribution& distribution, double entropy_weight, double clip_ratio,
                  inference::Device device = {});
  PolicyObjective(PolicyObjective&&) noexcept;
  ~PolicyObjective() override;

  void set_rows(const Rows& rows);
  /// Waits for what a device has made of the rows: their `log_ratio` is there then.
  void wait() const;

  bool has_value() const override { return false; }
  bool made_on(inference::Device device) const override;
  void score_on(inference::Device device, const inference::DeviceOutputs& outputs) const override;
  double score(std::int64_t particle, std::int64_t first, inference::MatrixView<const float> outputs,
               std::span<const float> constants, inference::MatrixView<float> gradient,
               std::span<float> constant_gradient) const override;

 private:
  struct OnDevice;

  const policies::ActionDistribution& distribution_;
  float entropy_weight_;
  Surrogate surrogate_;
  Rows rows_;
  std::unique_ptr<OnDevice> on_device_;  ///< none on the host
};

/// −½ Σ_i c_i (y_i − f(o_i))²: what a value network climbs. On a device as PolicyObjective.
class ValueObjective final : public inference::DeviceScore {
 public:
  /// Targets of all particles, one after the other.
  struct Rows {
    std::int64_t rows = 0;             ///< n, of one particle
    std::span<const float> targets{};  ///< [M·n]
    std::span<const float> scale{};    ///< [M·n] c
  };

  /// @param device  of the value networks
  explicit ValueObjective(inference::Device device = {});
  ~ValueObjective() override;

  void set_rows(const Rows& rows);

  bool made_on(inference::Device device) const override;
  void score_on(inference::Device device, const inference::DeviceOutputs& outputs) const override;
  double score(std::int64_t particle, std::int64_t first, inference::MatrixView<const float> outputs,
               std::span<const float> constants, inference::MatrixView<float> gradient,
               std::span<float> constant_gradient) const override;

 private:
  struct OnDevice;

  Rows rows_;
  std::unique_ptr<OnDevice> on_device_;  ///< none on the host
};

}  // namespace stein::agents
