// What a block of the kernel of perceptrons does: one network through a share of the tiles of rows, forward, likelihood
// and backward, with the layers of a tile in the memory that its threads share. A block is phases with a barrier
// between them: a phase is a function of a thread, and mlp_phases.h puts phases in order.
#pragma once

#include <stein/inference/cuda/activation.h>
#include <stein/inference/cuda/mlp_memory.h>
#include <stein/inference/models/likelihood_terms.h>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace stein::inference::cuda {

inline constexpr int mlp_threads = 256;  ///< of a block

/// A block, as each of its threads sees it.
template <bool whole>
class MlpBlock : public MlpMemory<whole> {
  using Memory = MlpMemory<whole>;

 public:
  using Memory::adds_up, Memory::first_tile, Memory::goes_back, Memory::Memory;

  /// Phase: zeros where weights are padded.
  STEIN_HOST_DEVICE void clear(int thread) const {
    if constexpr (whole)
      for (int l = 0; l < shape_.layers; ++l)
        for (int at = tiling_.weight[l] + 4 * thread; at < tiling_.units[l]; at += 4 * mlp_threads)
          four_at(shared_ + at) = {};
    if (thread == 0) totals()[0] = totals()[1] = 0;
  }
  /// Phase: weights into shared memory, four numbers of the row at a time.
  STEIN_HOST_DEVICE void load_weights(int thread) const {
    if constexpr (whole)
      for (int first = 4 * thread; first < shape_.size; first += 4 * mlp_threads)
        spread(first, *reinterpret_cast<const FourNumbers*>(weights_ + first));
  }
  /// Phase: inputs of a tile, zeros past the last row.
  STEIN_HOST_DEVICE void load_inputs(int thread, std::int64_t tile) const {
    const std::int64_t first = input_row(tile);
    const int rows = rows_of(tile), padded = 4 * row_groups(tile);
    const int columns = one_hot() ? rows_.ones_in_row : shape_.inputs();
    for (int item = thread; item < padded * columns; item += mlp_threads) {
      const int row = item / columns, k = item % columns, to = tiling_.inputs + k * tiling_.pitch + row;
      const std::int64_t from = (first + row) * columns + k;
      if (one_hot())
        positions()[to] = row < rows ? rows_.ones[from] : 0;
      else
        shared_[to] = row < rows ? rows_.dense[from] : 0;
    }
  }

  /// Phase: layer l. Output j of a row is bias_j + Σ_k x_k w_kj, added up from k = 0 on in multiply-adds (of positions:
  /// in additions), then the activation unless it is the last layer. A thread takes four outputs of four rows at a
  /// time.
  STEIN_HOST_DEVICE void pass_layer(int thread, std::int64_t tile, int l) const {
    const MlpShape::Layer& layer = shape_.layer[l];
    const int groups = row_groups(tile), last = shape_.layers - 1;
    for (int item = thread; item < groups * fours(layer.outputs); item += mlp_threads) {
      const int row = item % groups * 4, j = item / groups * 4;
      const FourNumbers bias = weights_at(l, layer.inputs, j);
      FourNumbers sum[4];  // [output][row]
      for (int c = 0; c < 4; ++c)
        for (int r = 0; r < 4; ++r) sum[c].number[r] = bias.number[c];
      if (l == 0 && one_hot())
        add_ones(row, j, sum);
      else
        add_products(l, row, j, sum);
      for (int c = 0; c < 4; ++c) {
        if (l < last)
          for (float& unit : sum[c].number) unit = activated(shape_.activation, unit);
        four_at(units(l) + (j + c) * tiling_.pitch + row) = sum[c];
      }
    }
  }

  /// Phase: outputs of a tile to the memory of the device.
  STEIN_HOST_DEVICE void write_outputs(int thread, std::int64_t tile) const {
    const int columns = shape_.outputs(), rows = rows_of(tile);
    float* const to = launch_.outputs + (network_ * rows_.rows + tile * tiling_.rows) * columns;
    for (int item = thread; item < rows * columns; item += mlp_threads)
      to[item] = units(shape_.layers - 1)[item % columns * tiling_.pitch + item / columns];
  }

  /// Phase: the likelihood of each row and its slopes, which take the place of the outputs. A thread takes a row.
  STEIN_HOST_DEVICE void score_row(int row, std::int64_t tile) const {
    if (row >= 4 * row_groups(tile)) return;
    const bool there = row < rows_of(tile);
    const std::int64_t number = tile * tiling_.rows + row;
    double value = 0, noise = 0;
    if (rows_.slopes != nullptr) {
      take_slopes(row, number, there);
    } else if (there && shape_.likelihood == Likelihood::categorical) {
      value = score_class(row, number);
    } else {
      const int chosen = !there || rows_.outputs == nullptr ? 0 : rows_.outputs[number];
      const int end = !there ? chosen : rows_.outputs == nullptr ? shape_.outputs() : chosen + 1;
      score_numbers(row, number, chosen, end, value, noise);
    }
    row_sums()[2 * row] = value, row_sums()[2 * row + 1] = noise;
  }
  /// Beside a phase after that: one thread adds up the rows.
  STEIN_HOST_DEVICE void add_rows(int thread, std::int64_t tile) const {
    if (thread != mlp_threads - 1 || !adds_up()) return;
    double value = totals()[0], noise = totals()[1];
    for (int row = 0; row < rows_of(tile); ++row) value += row_sums()[2 * row], noise += row_sums()[2 * row + 1];
    totals()[0] = value, totals()[1] = noise;
  }

  /// Phase: the gradient of layer l, from the slopes of its outputs and what it has seen, added up row by row; later
  /// tiles of a share add to what is there. A thread takes four inputs by four outputs, each a quarter of the layer
  /// apart, so that threads beside one another read other banks and write beside one another.
  STEIN_HOST_DEVICE void layer_gradient(int thread, std::int64_t tile, int l) const {
    const MlpShape::Layer& layer = shape_.layer[l];
    const bool more = tile > first_tile(), of_ones = l == 0 && one_hot();
    const int biases = layer.weight + layer.inputs * layer.outputs;
    for (int j = thread; j < layer.outputs; j += mlp_threads) put(biases + j, slope_sum(tile, l, j), more);
    const int across = fours(layer.outputs), down = of_ones ? layer.inputs : fours(layer.inputs);
    for (int item = thread; item < across * down; item += mlp_threads) {
      if (of_ones)
        gather(tile, item / across, 4 * (item % across), more);
      else
        gradient_tile(tile, l, item / across, item % across, more);
    }
  }
  /// Phase: slopes of the units below layer l, l ≥ 1, in place of the units, from those of its outputs; of layer 0 for
  /// positions, row by row beside them.
  STEIN_HOST_DEVICE void pull_back(int thread, std::int64_t tile, int l) const {
    const MlpShape::Layer& layer = shape_.layer[l];
    const int groups = row_groups(tile);
    for (int item = thread; item < groups * fours(layer.inputs); item += mlp_threads) {
      const int row = item % groups * 4, k = item / groups * 4;
      FourNumbers sum[4]{};  // [unit][row]
      for (int j = 0; j < layer.outputs; j += 4) {
        FourNumbers slope[4];
        for (int q = 0; q < 4; ++q) slope[q] = four_at(units(l) + (j + q) * tiling_.pitch + row);
        for (int c = 0; c < 4; ++c) {
          const FourNumbers weights = weights_at(l, k + c, j);
          for (int q = 0; q < 4; ++q)
            for (int r = 0; r < 4; ++r)
              sum[c].number[r] = std::fma(slope[q].number[r], weights.number[q], sum[c].number[r]);
        }
      }
      for (int c = 0; c < 4; ++c) {
        FourNumbers& unit = four_at(units(l - 1) + (k + c) * tiling_.pitch + row);
        for (int r = 0; r < 4; ++r) sum[c].number[r] = pulled_back(shape_.activation, sum[c].number[r], unit.number[r]);
        if (l > 1 || !one_hot()) unit = sum[c];
      }
      if (l > 1 || !one_hot()) continue;
      for (int r = 0; r < 4; ++r)
        four_at(turned(row + r) + k) = {{sum[0].number[r], sum[1].number[r], sum[2].number[r], sum[3].number[r]}};
    }
  }

  /// Phase after all tiles: sums of the share, and the slopes of what is no weight.
  STEIN_HOST_DEVICE void finish(int thread) const {
    if (thread == 0 && adds_up()) {
      double* const to = launch_.sums + 2 * (share_ * launch_.networks + network_);
      to[0] = totals()[0], to[1] = totals()[1];
    }
    if (!goes_back()) return;
    if (thread == 0 && shape_.log_noise_precision >= 0)
      gradient_[shape_.log_noise_precision] = static_cast<float>(totals()[1]);
    for (int k = thread; k < shape_.constants; k += mlp_threads) gradient_[shape_.constant + k] = constant_slope(k);
  }

 private:
  using Memory::below, Memory::four_at, Memory::fours, Memory::gradient_, Memory::input_row, Memory::launch_,
      Memory::network_, Memory::one_hot, Memory::particle_, Memory::place_of, Memory::positions, Memory::row_groups,
      Memory::row_sums, Memory::rows_, Memory::rows_of, Memory::shape_, Memory::share_, Memory::shared_,
      Memory::slope_at, Memory::spread, Memory::tiling_, Memory::totals, Memory::turned, Memory::units,
      Memory::weights_, Memory::weights_at;

  STEIN_HOST_DEVICE void add_products(int l, int row, int j, FourNumbers (&sum)[4]) const {
    const float* const seen = below(l) + row;
    const int inputs = shape_.layer[l].inputs;
    for (int k = 0; k < inputs; ++k) {
      const FourNumbers x = *reinterpret_cast<const FourNumbers*>(seen + k * tiling_.pitch),
                        weights = weights_at(l, k, j);
      for (int c = 0; c < 4; ++c)
        for (int r = 0; r < 4; ++r) sum[c].number[r] = std::fma(x.number[r], weights.number[c], sum[c].number[r]);
    }
  }
  STEIN_HOST_DEVICE void add_ones(int row, int j, FourNumbers (&sum)[4]) const {
    for (int a = 0; a < rows_.ones_in_row; ++a)
      for (int r = 0; r < 4; ++r) {
        const FourNumbers weights = weights_at(0, positions()[tiling_.inputs + a * tiling_.pitch + row + r], j);
        for (int c = 0; c < 4; ++c) sum[c].number[r] += weights.number[c];
      }
  }
  STEIN_HOST_DEVICE double weight_of(std::int64_t number) const {
    return rows_.weights == nullptr ? launch_.scale
                                    : launch_.scale * rows_.weights[place_of(number, rows_.own_weights)];
  }
  STEIN_HOST_DEVICE const float* targets_of(std::int64_t number) const {
    return rows_.targets + place_of(number, rows_.own_targets) * rows_.target_columns;
  }
  /// Slopes that somebody else gives of one row.
  STEIN_HOST_DEVICE void take_slopes(int row, std::int64_t number, bool there) const {
    const int count = shape_.outputs();
    const float* const given = rows_.slopes + (network_ * rows_.rows + number) * count;
    for (int k = 0; k < 4 * fours(count); ++k) slope_at(shape_.layers - 1, row, k) = there && k < count ? given[k] : 0;
  }
  /// Only somebody else's score sees constants; of the shares one has their slopes.
  STEIN_HOST_DEVICE float constant_slope(int k) const {
    return rows_.constant_slopes == nullptr || share_ > 0 ? 0 : rows_.constant_slopes[network_ * shape_.constants + k];
  }
  STEIN_HOST_DEVICE double score_class(int row, std::int64_t number) const {
    const int last = shape_.layers - 1, count = shape_.outputs();
    float* const outputs = units(last) + row;
    const double value = categorical_term(outputs, count, tiling_.pitch,
                                          static_cast<std::int64_t>(targets_of(number)[0]), weight_of(number), outputs);
    for (int k = 0; k < 4 * fours(count); ++k) slope_at(last, row, k) = k < count ? outputs[k * tiling_.pitch] : 0;
    return value;
  }
  /// Outputs begin, …, end − 1 of a row have targets; slopes of the others are zeros.
  STEIN_HOST_DEVICE void score_numbers(int row, std::int64_t number, int begin, int end, double& value,
                                       double& noise) const {
    const int last = shape_.layers - 1;
    const double precision = shape_.log_noise_precision >= 0
                                 ? std::exp(static_cast<double>(weights_[shape_.log_noise_precision]))
                                 : shape_.noise_precision;
    const double log_normaliser = 0.5 * std::log(precision / (2 * std::numbers::pi));
    for (int k = 0; k < 4 * fours(shape_.outputs()); ++k) {
      float slope = 0;
      if (k >= begin && k < end) {
        const double weight = weight_of(number), output = units(last)[k * tiling_.pitch + row],
                     target = targets_of(number)[k - begin];
        const LikelihoodTerm term = shape_.likelihood == Likelihood::gaussian
                                        ? gaussian_term(output, target, precision, log_normaliser)
                                        : bernoulli_term(output, target);
        value += weight * term.value;
        noise += weight * term.noise_derivative;
        slope = static_cast<float>(weight * term.derivative);
      }
      slope_at(last, row, k) = slope;
    }
  }

  STEIN_HOST_DEVICE void put(int place, float number, bool more) const {
    gradient_[place] = more ? gradient_[place] + number : number;
  }
  STEIN_HOST_DEVICE float slope_sum(std::int64_t tile, int l, int unit) const {
    float sum = 0;
    const int rows = 4 * row_groups(tile);  // slopes past the last row are zeros
    if (l == 0 && one_hot()) {
      for (int row = 0; row < rows; ++row) sum += turned(row)[unit];
      return sum;
    }
    for (int row = 0; row < rows; row += 4) {
      const FourNumbers slopes = four_at(units(l) + unit * tiling_.pitch + row);
      for (const float slope : slopes.number) sum += slope;
    }
    return sum;
  }
  /// Rows of the tile that have a one at input k, in their order: the sum of their slopes.
  STEIN_HOST_DEVICE void gather(std::int64_t tile, int k, int j, bool more) const {
    const MlpShape::Layer& layer = shape_.layer[0];
    const std::int64_t group = rows_.own_inputs ? particle_ * tiling_.tiles + tile : tile;
    const std::int32_t* const start = rows_.starts + group * (layer.inputs + 1) + k;
    FourNumbers sum{};
    for (std::int32_t place = start[0]; place < start[1]; ++place) {
      const FourNumbers slopes = four_at(turned(rows_.members[place]) + j);
      for (int c = 0; c < 4; ++c) sum.number[c] += slopes.number[c];
    }
    for (int c = 0; c < 4 && j + c < layer.outputs; ++c)
      put(layer.weight + k * layer.outputs + j + c, sum.number[c], more);
  }
  STEIN_HOST_DEVICE void gradient_tile(std::int64_t tile, int l, int down, int across, bool more) const {
    const MlpShape::Layer& layer = shape_.layer[l];
    const int k_step = fours(layer.inputs), j_step = fours(layer.outputs), rows = 4 * row_groups(tile);
    float sum[4][4]{};
    for (int row = 0; row < rows; row += 4) {
      FourNumbers x[4], slope[4];
      for (int c = 0; c < 4; ++c) {
        x[c] = *reinterpret_cast<const FourNumbers*>(below(l) + (down + c * k_step) * tiling_.pitch + row);
        slope[c] = four_at(units(l) + (across + c * j_step) * tiling_.pitch + row);
      }
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
          for (int r = 0; r < 4; ++r) sum[a][b] = std::fma(x[a].number[r], slope[b].number[r], sum[a][b]);
    }
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) {
        const int k = down + a * k_step, j = across + b * j_step;
        if (k < layer.inputs && j < layer.outputs) put(layer.weight + k * layer.outputs + j, sum[a][b], more);
      }
  }
};

}  // namespace stein::inference::cuda
