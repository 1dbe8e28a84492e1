// What is done to the layers of large perceptrons beside the products of matrices: biases and activations, the
// likelihood of each row, and the ways back. A thread takes one number, row or network. Units of a layer are
// [m, rows, outputs] for the rows of a chunk of the batch; all pointers are to memory of the device.
#pragma once

#include <stein/inference/cuda/activation.h>
#include <stein/inference/models/likelihood_terms.h>
#include <stein/inference/models/mlp_launch.h>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace stein::inference::cuda {

/// One number of a dense row of one-hot inputs: how many of its ones are there; `index` is the place of the number
/// among the rows of a chunk, network by network where they have rows of their own.
struct SpreadOnes {
  const std::int32_t* ones;     ///< of the first row of the chunk
  std::int64_t rows, all_rows;  ///< of the chunk, and of the batch
  int ones_in_row, inputs;
  float* dense;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t row = index / inputs, column = index % inputs;
    const std::int64_t place = row / rows * all_rows + row % rows;
    int count = 0;
    for (int k = 0; k < ones_in_row; ++k) count += ones[place * ones_in_row + k] == column ? 1 : 0;
    dense[index] = static_cast<float>(count);
  }
};

/// unit ← a(unit + bias), or unit + bias of the last layer; `index` is the place of a unit.
struct FinishUnit {
  float* units;
  std::int64_t rows;
  std::int64_t step;  ///< of units, from network to network
  int outputs;
  const float* biases;  ///< of the first network
  std::int64_t weight_stride;
  bool activates;
  Activation activation;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t of_network = rows * outputs, network = index / of_network, place = index % of_network;
    float& unit = units[network * step + place];
    const float sum = unit + biases[network * weight_stride + place % outputs];
    unit = activates ? activated(activation, sum) : sum;
  }
};

/// The likelihood of one row of one network, and its slopes in place of the outputs; `index` counts rows of the chunk,
/// network by network. To row_sums [m, rows, 2]: its value, and its slope of log γ.
struct ScoreRow {
  MlpLaunch launch;
  std::int64_t first, rows;  ///< of the batch
  float* units;              ///< of the last layer

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t network = index / rows, number = first + index % rows;
    const int count = launch.shape.outputs();
    float* const outputs = units + index * count;
    double value = 0, noise = 0;
    if (launch.rows.slopes != nullptr) {
      for (int k = 0; k < count; ++k)
        outputs[k] = launch.rows.slopes[(network * launch.rows.rows + number) * count + k];
    } else if (launch.shape.likelihood == Likelihood::categorical) {
      value = categorical_term(outputs, count, 1, static_cast<std::int64_t>(targets_of(network, number)[0]),
                               weight_of(network, number), outputs);
    } else {
      score_numbers(network, number, outputs, value, noise);
    }
    launch.layers.row_sums[2 * index] = value, launch.layers.row_sums[2 * index + 1] = noise;
  }

 private:
  /// Place of row `number` among rows of which every particle may have its own.
  STEIN_HOST_DEVICE std::int64_t place_of(std::int64_t network, std::int64_t number, bool own) const {
    return own ? network / launch.samples * launch.rows.rows + number : number;
  }
  STEIN_HOST_DEVICE double weight_of(std::int64_t network, std::int64_t number) const {
    if (launch.rows.weights == nullptr) return launch.scale;
    return launch.scale * launch.rows.weights[place_of(network, number, launch.rows.own_weights)];
  }
  STEIN_HOST_DEVICE const float* targets_of(std::int64_t network, std::int64_t number) const {
    return launch.rows.targets + place_of(network, number, launch.rows.own_targets) * launch.rows.target_columns;
  }
  /// Slopes of outputs without a target are zeros.
  STEIN_HOST_DEVICE void score_numbers(std::int64_t network, std::int64_t number, float* outputs, double& value,
                                       double& noise) const {
    const MlpShape& shape = launch.shape;
    const int begin = launch.rows.outputs == nullptr ? 0 : launch.rows.outputs[number];
    const int end = launch.rows.outputs == nullptr ? shape.outputs() : begin + 1;
    const double precision =
        shape.log_noise_precision >= 0
            ? std::exp(static_cast<double>(launch.weights[network * launch.weight_stride + shape.log_noise_precision]))
            : shape.noise_precision;
    const double log_normaliser = 0.5 * std::log(precision / (2 * std::numbers::pi));
    const double weight = weight_of(network, number);
    for (int k = 0; k < shape.outputs(); ++k) {
      float slope = 0;
      if (k >= begin && k < end) {
        const double target = targets_of(network, number)[k - begin];
        const LikelihoodTerm term = shape.likelihood == Likelihood::gaussian
                                        ? gaussian_term(outputs[k], target, precision, log_normaliser)
                                        : bernoulli_term(outputs[k], target);
        value += weight * term.value;
        noise += weight * term.noise_derivative;
        slope = static_cast<float>(weight * term.derivative);
      }
      outputs[k] = slope;
    }
  }
};

/// Adds up the rows of one network, in their order, to sums [m, 2]; `index` is the network.
struct AddRowSums {
  const double* row_sums;  ///< [m, rows, 2]
  std::int64_t rows;
  bool adds;  ///< to the sums of earlier chunks
  double* sums;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    double value = adds ? sums[2 * index] : 0, noise = adds ? sums[2 * index + 1] : 0;
    for (std::int64_t row = index * rows; row < (index + 1) * rows; ++row)
      value += row_sums[2 * row], noise += row_sums[2 * row + 1];
    sums[2 * index] = value, sums[2 * index + 1] = noise;
  }
};

/// The slope of one bias: those of its unit, added up row by row; `index` counts the units of a layer, network by
/// network.
struct AddUpBias {
  const float* slopes;  ///< [m, rows, outputs]
  std::int64_t rows;
  int outputs;
  bool adds;        ///< to the gradient of earlier chunks
  float* gradient;  ///< of the biases of the first network
  std::int64_t gradient_stride;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t network = index / outputs, unit = index % outputs;
    const float* const from = slopes + network * rows * outputs + unit;
    float& to = gradient[network * gradient_stride + unit];
    float sum = adds ? to : 0;
    for (std::int64_t row = 0; row < rows; ++row) sum += from[row * outputs];
    to = sum;
  }
};

/// Slopes behind the activation take the place of the units; `index` is the place of a unit.
struct PullBackUnit {
  const float* slopes;
  float* units;
  Activation activation;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    units[index] = pulled_back(activation, slopes[index], units[index]);
  }
};

/// Slopes of what is no weight: log γ, and constants, which only somebody else's score sees; `index` is the network.
struct FinishGradient {
  MlpLaunch launch;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const MlpShape& shape = launch.shape;
    float* const gradient = launch.gradient + index * launch.gradient_stride;
    if (shape.log_noise_precision >= 0)
      gradient[shape.log_noise_precision] = static_cast<float>(launch.sums[2 * index + 1]);
    const float* const given = launch.rows.constant_slopes;
    for (int k = 0; k < shape.constants; ++k)
      gradient[shape.constant + k] = given == nullptr ? 0 : given[index * shape.constants + k];
  }
};

}  // namespace stein::inference::cuda
