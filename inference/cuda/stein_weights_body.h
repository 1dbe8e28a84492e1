// The weights of SVGD's kernel on a GPU, from the sums over pairs of rows to what an update reads, so that the host
// need not wait for distances: one block, for as many particles as it has room for.
#pragma once

#include <stein/inference/cuda/pair_sums.h>
#include <stein/inference/cuda/stein_weights.h>

namespace stein::inference::cuda {

/// How a bandwidth follows from the squared distances of M rows: scale · median / log_count, the median over all M²
/// distances or over those of pairs; or it is given.
struct BandwidthNumbers {
  bool fixed;
  bool over_pairs;
  double given;      ///< where it is fixed
  double scale;      ///< 1 or ½
  double log_count;  ///< log(M + 1)
};

/// The body of the kernel, in four phases of one block. The median has the bits of stein::median of the same distances:
/// a thread counts how many distances come before its own.
struct MakeSteinWeights {
  static constexpr int most_rows = 45;
  static constexpr int most_pairs = most_rows * (most_rows - 1) / 2;

  SvgdKernel kernel;
  BandwidthNumbers numbers;
  PairGrid grid;
  const double* sums;  ///< [ranges, 16, tiles] of PairSums
  SteinWeights to;

  /// What the threads of the block share.
  struct Shared {
    double matrix[most_rows * most_rows];  ///< squared distances or inner products, then what pairs bring to c
    double pairs[most_pairs];              ///< those below the diagonal
    double middle[2];                      ///< the two distances that the median lies between, or twice the same
  };
  /// A thread keeps nothing.
  struct Own {};

  STEIN_HOST_DEVICE static constexpr std::int64_t blocks() { return 1; }
  STEIN_HOST_DEVICE static constexpr int phases() { return 4; }
  STEIN_HOST_DEVICE void operator()(std::int64_t phase, std::int64_t, int thread, Shared& shared, Own&) const {
    if (phase == 0) add_up(thread, shared);
    if (phase == 1) find_middle(thread, shared);
    if (phase == 2) weigh(thread, shared);
    if (phase == 3) add_own(thread, shared);
  }

 private:
  STEIN_HOST_DEVICE int rows() const { return static_cast<int>(grid.rows); }
  STEIN_HOST_DEVICE int pairs() const { return rows() * (rows() - 1) / 2; }
  /// Whether the bandwidth comes from a median.
  STEIN_HOST_DEVICE bool has_median() const { return kernel != SvgdKernel::linear && !numbers.fixed && rows() > 1; }

  /// The ranges of every pair, in their order.
  STEIN_HOST_DEVICE void add_up(int thread, Shared& shared) const {
    const int count = static_cast<int>(grid.sums()), tiles = static_cast<int>(grid.tiles);
    for (int unit = thread; unit < count; unit += PairGrid::threads) {
      int row = 0, other = unit % tiles;  // tiles, counted along the rows of the lower triangle
      for (; other > row; ++row) other -= row + 1;
      const int pair = unit / tiles, i = tile_rows * row + pair / tile_rows, j = tile_rows * other + pair % tile_rows;
      if (i >= rows() || j > i) continue;
      double total = 0;
      for (std::int64_t range = 0; range < grid.ranges; ++range) total += sums[range * count + unit];
      shared.matrix[i * rows() + j] = shared.matrix[j * rows() + i] = total;
      if (j < i) shared.pairs[i * (i - 1) / 2 + j] = total;
    }
  }

  /// Place of the k-th smallest of all distances among those of pairs; less than 0: it is a zero of the diagonal. Of
  /// the matrix every pair is there twice.
  STEIN_HOST_DEVICE int rank_of_pair(int k) const {
    if (numbers.over_pairs) return k;
    return k < rows() ? -1 : (k - rows()) / 2;
  }
  STEIN_HOST_DEVICE void find_middle(int thread, Shared& shared) const {
    if (!has_median()) return;
    const int count = numbers.over_pairs ? pairs() : rows() * rows();
    const int wanted[2] = {rank_of_pair(count % 2 == 1 ? count / 2 : count / 2 - 1), rank_of_pair(count / 2)};
    for (int which = 0; thread == 0 && which < 2; ++which)
      if (wanted[which] < 0) shared.middle[which] = 0;
    for (int p = thread; p < pairs(); p += PairGrid::threads) {
      const double own = shared.pairs[p];
      int rank = 0;
      for (int q = 0; q < pairs(); ++q) rank += shared.pairs[q] < own || (shared.pairs[q] == own && q < p) ? 1 : 0;
      for (int which = 0; which < 2; ++which)
        if (wanted[which] == rank) shared.middle[which] = own;
    }
  }
  STEIN_HOST_DEVICE double bandwidth(const Shared& shared) const {
    if (kernel == SvgdKernel::linear || rows() == 1) return 0;
    if (numbers.fixed) return numbers.given;
    const double low = shared.middle[0], high = shared.middle[1];
    const int count = numbers.over_pairs ? pairs() : rows() * rows();
    const double median = count % 2 == 1 ? high : (high + low) / 2;
    return numbers.scale * median / numbers.log_count;
  }

  STEIN_HOST_DEVICE void weigh(int thread, Shared& shared) const {
    const double h = bandwidth(shared), share = 1 / static_cast<double>(rows());
    const int padded = tile_rows * static_cast<int>(row_tiles(rows()));
    for (int unit = thread; unit < padded * rows(); unit += PairGrid::threads) {
      const int i = unit / rows(), j = unit % rows();
      PairWeights pair{};
      if (i < rows()) {
        const bool alone = rows() == 1;  // a particle has no kernel with itself, whatever the kernel
        if (!alone) pair = pair_weights(kernel, shared.matrix[unit], h, share);
        if (alone) pair.gradient = share;
        shared.matrix[unit] = pair.own;
      }
      to.gradient(i / tile_rows, j).number[i % tile_rows] = pair.gradient;
      if (to.with_positions) to.position(i / tile_rows, j).number[i % tile_rows] = pair.position;
    }
    if (thread == 0) to.shift() = rows() > 1 ? position_shift(kernel, h) : 0, to.bandwidth() = h;
  }

  STEIN_HOST_DEVICE void add_own(int thread, const Shared& shared) const {
    const int padded = tile_rows * static_cast<int>(row_tiles(rows()));
    if (thread >= padded) return;
    double sum = 0;
    if (thread < rows()) {
      if (rows() > 1) sum = own_weight(kernel);
      for (int j = 0; j < rows(); ++j) sum += shared.matrix[thread * rows() + j];
    }
    to.own(thread / tile_rows).number[thread % tile_rows] = sum;
  }
};

}  // namespace stein::inference::cuda
