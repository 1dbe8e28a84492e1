// The loops over a network's weights that parameterizations, priors and sharpened models make, in one way or another.
#pragma once

#include <stein/core/registry.h>
#include <stein/core/rng.h>
#include <stein/inference/priors/slab_shares.h>
#include <stein/inference/storage/device.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace stein::inference {

struct DroppedUnits;
template <class Scalar>
struct MeanField;
struct MeanFieldNoise;
template <class Scalar>
struct VariationalMatrix;
template <class Scalar>
struct VariationalMatrixGradient;
struct ScaleMixture;
struct RowMixture;
struct SharpeningNumbers;
template <class Scalar>
struct SharpenedStretch;

/// A table of functions: every loop over weights on one device. What each does stands with its reference; all spans and
/// rows lie on the device.
template <class Scalar>
struct WeightDriver {
  std::string_view name;  ///< "reference" (double on the host), "simd" (float), "cuda"

  /// A draw of a mean-field Gaussian, and the way back (mean_field_pass.h, as the next two).
  void (*draw)(const MeanField<Scalar>& law, const MeanFieldNoise& noise, std::span<Scalar> weights);
  void (*pull_back)(const MeanField<Scalar>& law, const MeanFieldNoise& noise, MatrixView<const Scalar> weight_gradient,
                    double precision, std::span<Scalar> mean_gradient, std::span<Scalar> deviation_gradient);
  double (*sum_of_log_deviations)(const MeanField<Scalar>& law);
  double (*sum_of_expected_squares)(const MeanField<Scalar>& law);

  /// The same of a variational matrix Gaussian (variational_matrix_pass.h).
  void (*draw_matrix)(const VariationalMatrix<Scalar>& law, const MeanFieldNoise& noise, std::span<Scalar> weights);
  void (*pull_back_matrix)(const VariationalMatrix<Scalar>& law, const MeanFieldNoise& noise,
                           MatrixView<const Scalar> weight_gradient, double precision,
                           const VariationalMatrixGradient<Scalar>& gradient);
  double (*expected_square_of_matrix)(const VariationalMatrix<Scalar>& law);

  /// Drops units of a matrix, and the way back (dropout_pass.h).
  void (*drop_units)(const DroppedUnits& units, std::uint32_t draw, std::span<Scalar> weights);
  void (*pull_back_units)(const DroppedUnits& units, std::uint32_t first_draw, MatrixView<const Scalar> weight_gradient,
                          std::span<Scalar> gradient);

  /// Adds σ ε to rows of `columns` weights that lie `stride` apart, whose ε lie end to end.
  void (*add_noise)(const MeanFieldNoise& noise, Scalar deviation, std::int64_t columns, std::int64_t stride,
                    std::span<Scalar> weights);

  /// Adds the gradient of a scale mixture (scale_mixture_pass.h), unless that is empty. @param sum  Σ log p(w) goes
  /// there; null: it is not asked for
  void (*add_scale_mixture)(const ScaleMixture& law, std::span<const Scalar> weights, std::span<Scalar> gradient,
                            double* sum);

  /// The same where rows have one component each.
  void (*add_row_mixture)(const RowMixture& law, std::span<const Scalar> weights, std::span<Scalar> gradient,
                          double* sum);

  /// Moves weights along their gradient, and what their rates get back (sharpening_pass.h).
  void (*sharpen)(const SharpeningNumbers& numbers, const SharpenedStretch<Scalar>& stretch, const NoiseKey& key,
                  std::uint32_t row, std::uint64_t first, std::span<Scalar> weights);
  void (*pull_back_rates)(const SharpeningNumbers& numbers, const SharpenedStretch<Scalar>& stretch,
                          std::span<const Scalar> gradient, std::span<Scalar> rate_gradient, std::span<Scalar> vector,
                          double* divergence);

  /// Widens numbers to doubles.
  void (*widen)(std::span<const Scalar> from, std::span<double> to);
  /// gradient ← gradient − (1 − ρ) spike sgn(β) − ρ slab β (slab_shares.h, as the next two).
  void (*add_spike_and_slab)(double spike, double slab, std::span<const double> rho, std::span<const Scalar> weights,
                             std::span<Scalar> gradient);
  double (*move_slab_shares)(const SpikeOdds& odds, std::span<const double> weights, double omega,
                             std::span<double> rho);
  SlabSums (*slab_sums)(std::span<const double> rho, std::span<const double> weights);

  /// Writes numbers that lie end to end as rows of `columns`, `stride` apart, zeros between them.
  void (*spread)(std::span<const Scalar> packed, std::int64_t columns, std::int64_t stride, std::span<Scalar> rows);
  /// The reverse, summed over the rows of `spread_rows`, each of which holds all of them.
  void (*pack_sum)(MatrixView<const Scalar> spread_rows, std::int64_t columns, std::int64_t stride,
                   std::span<Scalar> packed);
  void (*fill)(std::span<Scalar> values, Scalar number);   ///< values ← number
  void (*shift)(std::span<Scalar> values, Scalar number);  ///< values ← values + number
  void (*scale)(std::span<Scalar> values, Scalar factor);  ///< values ← values · factor
  double (*sum)(std::span<const Scalar> values);           ///< Σ values, in double, in a fixed order
  /// Σ value²/divisor, in double, in a fixed order.
  double (*sum_of_squares_over)(std::span<const Scalar> values, std::span<const double> divisors);
  /// sums ← sums + factor · value².
  void (*add_squares)(std::span<const Scalar> values, double factor, std::span<double> sums);
};

/// Drivers of devices other than the host, by the name of their kind; empty until the library of a device is loaded.
Registry<const WeightDriver<float>*>& weight_drivers();

/// The driver of a device; on the host there is one for each precision.
/// Throws Error(usage) where Stein was built without the library of the device, and in double on a device.
template <class Scalar>
const WeightDriver<Scalar>& weight_driver(Device device);

}  // namespace stein::inference
