// What the outputs of a policy network say about actions: a distribution, its draws and its gradients.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <memory>
#include <span>

namespace stein::policies {

/// A family of distributions over actions whose parameters are the outputs [n, K] of a network, a row an observation,
/// and perhaps some constants that all rows share.
class ActionDistribution {
 public:
  virtual ~ActionDistribution() = default;

  virtual std::int64_t outputs() const = 0;    ///< K
  virtual std::int64_t constants() const = 0;  ///< numbers that no observation moves
  virtual std::int64_t actions() const = 0;    ///< A: numbers of an action; a choice is one, its number

  /// Parameters of the distributions of n rows.
  struct Parameters {
    inference::MatrixView<const float> outputs;
    std::span<const float> constants{};
  };

  /// Draws an action for every row.
  /// @param row, first  of the sheet of random numbers `noise`; row i uses the indices from (first + i)·A on
  /// @param actions     [n, A]
  virtual void draw(const Parameters& parameters, const NoiseKey& noise, std::uint32_t row, std::int64_t first,
                    inference::MatrixView<float> actions) const = 0;
  /// The most likely action of every row.
  virtual void mode(const Parameters& parameters, inference::MatrixView<float> actions) const = 0;
  /// log π(a | o), in nats, of every row.
  virtual void log_density(const Parameters& parameters, inference::MatrixView<const float> actions,
                           std::span<float> values) const = 0;
  /// Writes the gradient of Σ_i [w_i log π(a_i | o_i) + β_i H(π(· | o_i))] by the outputs, and adds that by the
  /// constants.
  /// @param weights  [n] w
  /// @param entropy  [n] β
  virtual void gradient(const Parameters& parameters, inference::MatrixView<const float> actions,
                        std::span<const float> weights, std::span<const float> entropy,
                        inference::MatrixView<float> gradient, std::span<float> constant_gradient) const = 0;
  /// H(π(· | o)) in nats, the mean over the rows.
  virtual double mean_entropy(const Parameters& parameters) const = 0;
  /// The sd of an action's numbers, the mean over them and the rows; 0 for choices, which have none.
  virtual double mean_deviation(const Parameters& parameters) const {
    static_cast<void>(parameters);
    return 0;
  }
};

/// One of `choices` ≥ 2 by softmax of the outputs. Throws Error(usage) for fewer.
std::unique_ptr<ActionDistribution> make_categorical(std::int64_t choices);

/// What the sd of a Gaussian action depends on.
enum class Deviation {
  constant,  ///< one log sd an action, the same for every observation
  state,     ///< one output of the network an action besides its mean
};

/// Independent Gaussians, one an action: means are the first A outputs. Logarithms of the sd are the constants or the
/// other outputs, plus log `initial_deviation`, and limited to [−5, 2] so that densities stay finite.
/// Throws Error(usage) unless actions ≥ 1 and the deviation is positive.
std::unique_ptr<ActionDistribution> make_gaussian(std::int64_t actions, Deviation deviation, double initial_deviation);

}  // namespace stein::policies
