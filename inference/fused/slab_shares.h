// The probabilities of the slab in SIMD on all threads: the arithmetic of priors/slab_shares.h.
#pragma once

#include <stein/inference/priors/slab_shares.h>

#include <span>

namespace stein::inference::fused {

/// What reference::move_slab_shares does, with exponentials that are right to the last two bits. Reads 16 bytes a
/// weight and writes 8; the same bits at any thread count.
double move_slab_shares(const SpikeOdds& odds, std::span<const double> weights, double omega, std::span<double> rho);

}  // namespace stein::inference::fused
