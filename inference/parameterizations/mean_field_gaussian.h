// Bayes by Backprop: every weight has a Gaussian of its own.
#pragma once

#include <stein/inference/parameterizations/variational_family.h>

#include <memory>

namespace stein::inference {

/// θ = μ + softplus(ρ) ∘ ε with ε ~ N(0, I) (Blundell et al. 2015, §3.2; Fortunato et al. 2017, §2). Coordinates are
/// the means, under the names of the weights, and for every weight, bias and gain `NAME.log_deviation`, ρ. A
/// minibatch sees `weight_samples` draws, each kept for all of a truncated sequence.
template <class Scalar>
class MeanFieldGaussian final : public VariationalFamily<Scalar> {
 public:
  /// @param device  where coordinates and weights lie
  /// @throws the errors of VariationalFamily
  MeanFieldGaussian(Layout weights, const VariationalOptions& options, Device device = {});
};

/// The mean-field Gaussian of the parameter `weight`, whose means and ρ are `mean` and `log_deviation` among the
/// coordinates.
template <class Scalar>
std::unique_ptr<VariationalPart<Scalar>> mean_field_part(const LayoutEntry& weight, const LayoutEntry& mean,
                                                         const LayoutEntry& log_deviation,
                                                         const VariationalOptions& options, Device device = {});

}  // namespace stein::inference
