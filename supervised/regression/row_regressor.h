// What draws of a network's weights predict for rows of a table.
#pragma once

#include <stein/inference/model.h>
#include <stein/supervised/regression/sampled_numbers.h>
#include <stein/training/weight_draws.h>

#include <cstdint>
#include <vector>

namespace stein::supervised {

/// Rows as a network reads them, with their targets.
struct RegressionRows {
  inference::Matrix<float> inputs;  ///< [n, D]
  std::vector<double> targets{};    ///< [n] in their own units; empty where they are not known
  std::vector<double> places{};     ///< [n] where they lie on the one column of numbers that is read; empty of others

  std::int64_t count() const { return inputs.rows(); }
};

/// Predicts some rows with any weights.
class RowRegressor {
 public:
  /// @param rows   outlive it
  /// @param scale  what a network's output 0 and 1 stand for
  /// @param noise_precision  γ on the network's scale, of a network that does not learn it
  RowRegressor(const RegressionRows& rows, const Scale& scale, double noise_precision)
      : rows_(rows), scale_(scale), noise_precision_(noise_precision) {}

  std::int64_t count() const { return rows_.count(); }
  /// Of these rows, with no sample yet.
  SampledNumbers no_samples() const { return {count(), rows_.targets, scale_}; }
  /// Adds what one draw says. @param to  of these rows
  void add_sample(inference::Model<float>& model, const training::WeightDraws::Draw& draw, SampledNumbers& to);
  /// What all draws say.
  SampledNumbers predict(inference::Model<float>& model, training::WeightDraws& draws);

 private:
  const RegressionRows& rows_;
  Scale scale_;
  double noise_precision_;
  std::vector<float> outputs_;
};

}  // namespace stein::supervised
