// Whether chains have mixed, and how many independent draws they are worth.
#pragma once

#include <stein/inference/storage/matrix_view.h>

namespace stein::inference {

/// Effective sample size of the mean of [chains, draws]: Geyer's initial monotone sequence on the autocorrelation that
/// all chains share (Geyer 1992; Gelman et al. 2013, section 11.5; as in Stan). At most chains · draws · log10 of that.
/// @returns NaN if a draw is not finite or all draws of a chain are equal
/// @throws Error(usage) unless there are at least 4 draws a chain
double effective_sample_size(MatrixView<const double> draws);

/// The same on halved chains of rank-normalised draws: does not need a variance (Vehtari et al. 2021, section 4.3).
/// @throws Error(usage) unless there are at least 8 draws a chain
double bulk_effective_sample_size(MatrixView<const double> draws);

/// R̂ of halved, rank-normalised chains: the larger of that for location and that for scale (Vehtari et al. 2021,
/// equations 3 to 5 and 14). Near 1 where chains agree; above 1.01 they do not; not a number where a draw is none, or
/// all are equal.
/// @throws Error(usage) unless there are at least 4 draws a chain
double split_r_hat(MatrixView<const double> draws);

}  // namespace stein::inference
