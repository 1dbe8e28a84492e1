#include <stein/inference/model.h>
#include <stein/inference/models/masked_batch.h>
#include <stein/inference/priors/residuals.h>

#include <vector>

namespace stein::inference {

template <class Scalar>
Residuals residuals_of(Model<Scalar>& model, const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch) {
  const std::int64_t samples = weights.values.rows, outputs = model.output_count(), n = batch.rows;
  const bool chosen = !batch.outputs.empty();
  STEIN_CHECK(
      n >= 1 && batch.data_size > 0 && batch.targets.rows == n && batch.targets.columns == (chosen ? 1 : outputs),
      "residuals: expected targets [{}, {}] and N > 0, got [{}, {}] and {}", n, chosen ? 1 : outputs,
      batch.targets.rows, batch.targets.columns, batch.data_size);
  std::vector<Scalar> memory(static_cast<std::size_t>(samples * n * outputs));
  const MatrixView<Scalar> predicted{memory.data(), samples * n, outputs};
  model.predict(weights, MaskedBatch<Scalar>(batch).batch().inputs, predicted);
  Residuals sum;
  for (std::int64_t i = 0; i < n; ++i) {
    const double weight = batch.row_weights.empty() ? 1 : static_cast<double>(batch.row_weights[i]);
    for (std::int64_t k = 0; k < batch.targets.columns; ++k) {
      for (std::int64_t s = 0; s < samples; ++s) {
        const double mean = predicted(s * n + i, chosen ? batch.outputs[i] : k);
        const double residual = static_cast<double>(batch.targets(i, k)) - mean;
        sum.squares += weight * residual * residual / static_cast<double>(samples);
      }
      sum.count += weight;
    }
  }
  const double scale = batch.likelihood_scale();
  return {.squares = scale * sum.squares, .count = scale * sum.count};
}

template Residuals residuals_of(Model<float>&, const ParticleRows<const float>&, const Batch<float>&);
template Residuals residuals_of(Model<double>&, const ParticleRows<const double>&, const Batch<double>&);

}  // namespace stein::inference
