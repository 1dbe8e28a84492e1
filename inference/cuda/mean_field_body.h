// What one thread of the CUDA kernels of mean-field Gaussians does: the bits of the SIMD passes in
// fused/mean_field_pass.h, whose arithmetic stands in mean_field_steps.inc. All pointers are to memory of the device.
#pragma once

#include <stein/inference/cuda/number_group.h>
#include <stein/inference/density_operations.h>
#include <stein/inference/parameterizations/mean_field_pass.h>

namespace stein::inference::cuda {

/// The Gaussian of a parameter, where its ε are, and how its weights lie.
struct MeanFieldRows {
  const float *mean, *rho;
  NoiseGroups noise;
  SpacedRows rows;

  /// Of the host's description.
  MeanFieldRows(const MeanField<float>& law, const MeanFieldNoise& epsilon)
      : mean(law.mean.data()),
        rho(law.log_deviation.data()),
        noise{epsilon.key, epsilon.row, epsilon.first, law.size()},
        rows{law.columns, law.stride} {}

  STEIN_HOST_DEVICE std::int64_t size() const { return noise.count; }
};

/// Draws four weights, and writes the zeros behind a row that ends among them.
struct DrawWeights {
  MeanFieldRows law;
  float* weights;

  STEIN_HOST_DEVICE void operator()(std::int64_t group) const {
    const std::int64_t first = law.noise.first(group), size = law.size();
    const FourNumbers mean = numbers_at(law.mean, first, size), rho = numbers_at(law.rho, first, size);
    FourNumbers drawn = law.noise.normals(group);
    for (int j = 0; j < group_size; ++j)
      drawn.number[j] = draw_step<DensityOperations>(mean.number[j], rho.number[j],
                                                     decay_steps<DensityOperations>(rho.number[j]), drawn.number[j]);
    if (law.rows.end_to_end()) return put_numbers(drawn, weights, first, size);
    for (int j = 0; j < group_size; ++j)
      if (first + j >= 0 && first + j < size) law.rows.put(first + j, drawn.number[j], weights);
  }
};

/// Gradients of four means and four ρ from those of S draws, whose ε are made again.
struct PullBackWeights {
  MeanFieldRows law;
  MatrixView<const float> slopes;  ///< [S, ·], this parameter first in each row
  float precision;
  float *mean_gradient, *rho_gradient;

  STEIN_HOST_DEVICE void operator()(std::int64_t group) const {
    const std::int64_t first = law.noise.first(group), size = law.size();
    FourNumbers sums{}, pulls{};
    for (std::int64_t s = 0; s < slopes.rows; ++s) {
      const FourNumbers slope = slopes_at(slopes.data + s * slopes.stride, first);
      const FourNumbers epsilon = law.noise.normals(group, static_cast<std::uint32_t>(s));
      for (int j = 0; j < group_size; ++j) {
        const float g = slope.number[j], e = epsilon.number[j];
        sums.number[j] = slopes.rows == 1 ? g : sums.number[j] + g;
        pulls.number[j] = slopes.rows == 1 ? g * e : std::fma(g, e, pulls.number[j]);
      }
    }
    const FourNumbers mean = numbers_at(law.mean, first, size), rho = numbers_at(law.rho, first, size);
    for (int j = 0; j < group_size; ++j) {
      const PullBackStep<DensityOperations> step(precision, mean.number[j], rho.number[j],
                                                 decay_steps<DensityOperations>(rho.number[j]), sums.number[j],
                                                 pulls.number[j]);
      sums.number[j] = step.mean, pulls.number[j] = step.rho;
    }
    put_numbers(sums, mean_gradient, first, size);
    put_numbers(pulls, rho_gradient, first, size);
  }

 private:
  STEIN_HOST_DEVICE FourNumbers slopes_at(const float* row, std::int64_t first) const {
    if (law.rows.end_to_end()) return numbers_at(row, first, law.size());
    FourNumbers found{};
    for (int j = 0; j < group_size; ++j)
      if (first + j >= 0 && first + j < law.size()) found.number[j] = row[law.rows.place(first + j)];
    return found;
  }
};

/// σ = softplus(ρ).
STEIN_HOST_DEVICE inline float deviation_of(float rho) {
  return DeviationStep<DensityOperations>(rho, decay_steps<DensityOperations>(rho)).value;
}

/// log σ of one weight.
struct LogDeviationTerm {
  const float* rho;
  STEIN_HOST_DEVICE double operator()(std::int64_t q) const { return std::log(deviation_of(rho[q])); }
};

/// μ² + σ² of one weight.
struct ExpectedSquareTerm {
  const float *mean, *rho;
  STEIN_HOST_DEVICE double operator()(std::int64_t q) const {
    const float deviation = deviation_of(rho[q]);
    return mean[q] * mean[q] + deviation * deviation;
  }
};

}  // namespace stein::inference::cuda
