// Large perceptrons layer by layer: products of matrices, and what is done to the layers between them, in order. For
// the driver of GPUs and for the tests.
#pragma once

#include <stein/inference/cuda/layer_bodies.h>
#include <stein/inference/models/batched_product.h>

#include <algorithm>

namespace stein::inference::cuda {

/// One chunk of rows of a launch with `layers`.
/// @tparam Work  what computes: multiply(product), and each(count, body), which is body(0), …, body(count − 1)
template <class Work>
class LayerPass {
 public:
  LayerPass(const MlpLaunch& launch, std::int64_t first, Work& work)
      : launch_(launch), first_(first), rows_(std::min(launch.layers.rows, launch.rows.rows - first)), work_(work) {}

  void forward() const {
    if (launch_.layers.inputs != nullptr) spread_ones();
    for (int l = 0; l <= last(); ++l) {
      const MlpShape::Layer& layer = launch_.shape.layer[l];
      const ProductMatrix<float> units = output(l);
      work_.multiply({.count = launch_.networks,
                      .rows = rows_,
                      .columns = layer.outputs,
                      .inner = layer.inputs,
                      .a = input(l),
                      .b = weights(l),
                      .c = units,
                      .precision = launch_.layers.precision});
      work_.each(launch_.networks * rows_ * layer.outputs, FinishUnit{.units = units.data,
                                                                      .rows = rows_,
                                                                      .step = units.step,
                                                                      .outputs = layer.outputs,
                                                                      .biases = launch_.weights + bias(l),
                                                                      .weight_stride = launch_.weight_stride,
                                                                      .activates = l < last(),
                                                                      .activation = launch_.shape.activation});
    }
  }

  void score() const {
    work_.each(launch_.networks * rows_, ScoreRow{launch_, first_, rows_, units(last())});
    if (launch_.sums != nullptr)
      work_.each(launch_.networks, AddRowSums{launch_.layers.row_sums, rows_, first_ > 0, launch_.sums});
  }

  void backward() const {
    for (int l = last(); l >= 0; --l) {
      const MlpShape::Layer& layer = launch_.shape.layer[l];
      ProductMatrix<const float> seen = input(l), slopes = of_chunk(units(l), layer.outputs), turned = weights(l);
      seen.turned = turned.turned = true;
      work_.multiply(
          {.count = launch_.networks,
           .rows = layer.inputs,
           .columns = layer.outputs,
           .inner = rows_,
           .a = seen,
           .b = slopes,
           .c = {.data = launch_.gradient + layer.weight, .stride = layer.outputs, .step = launch_.gradient_stride},
           .adds = first_ > 0,
           .precision = launch_.layers.precision});
      work_.each(launch_.networks * layer.outputs, AddUpBias{slopes.data, rows_, layer.outputs, first_ > 0,
                                                             launch_.gradient + bias(l), launch_.gradient_stride});
      if (l == 0) continue;
      float* const below = launch_.layers.slopes;
      work_.multiply({.count = launch_.networks,
                      .rows = rows_,
                      .columns = layer.inputs,
                      .inner = layer.outputs,
                      .a = slopes,
                      .b = turned,
                      .c = {.data = below, .stride = layer.inputs, .step = rows_ * layer.inputs},
                      .precision = launch_.layers.precision});
      work_.each(launch_.networks * rows_ * layer.inputs, PullBackUnit{below, units(l - 1), launch_.shape.activation});
    }
  }

 private:
  /// Rows of ones become dense, for products.
  void spread_ones() const {
    const MlpRows& rows = launch_.rows;
    work_.each((rows.own_inputs ? launch_.networks : 1) * rows_ * launch_.shape.inputs(),
               SpreadOnes{.ones = rows.ones + first_ * rows.ones_in_row,
                          .rows = rows_,
                          .all_rows = rows.rows,
                          .ones_in_row = rows.ones_in_row,
                          .inputs = launch_.shape.inputs(),
                          .dense = launch_.layers.inputs});
  }
  int last() const { return launch_.shape.layers - 1; }
  int bias(int l) const {
    const MlpShape::Layer& layer = launch_.shape.layer[l];
    return layer.weight + layer.inputs * layer.outputs;
  }
  /// Units of layer l, [m, rows, outputs].
  float* units(int l) const {
    std::int64_t before = 0;
    for (int k = 0; k < l; ++k) before += launch_.shape.layer[k].outputs;
    return launch_.layers.units + launch_.networks * rows_ * before;
  }
  ProductMatrix<const float> of_chunk(const float* data, int columns) const {
    return {.data = data, .stride = columns, .step = rows_ * columns};
  }
  ProductMatrix<const float> input(int l) const {
    const int columns = launch_.shape.layer[l].inputs;
    if (l > 0) return of_chunk(units(l - 1), columns);
    if (launch_.layers.inputs != nullptr)
      return {.data = launch_.layers.inputs, .stride = columns, .step = launch_.rows.own_inputs ? rows_ * columns : 0};
    return {.data = launch_.rows.dense + first_ * columns,
            .stride = columns,
            .step = launch_.rows.own_inputs ? launch_.rows.rows * columns : 0};
  }
  /// Where layer l goes: predictions to their place.
  ProductMatrix<float> output(int l) const {
    const std::int64_t columns = launch_.shape.layer[l].outputs;
    if (l < last() || launch_.outputs == nullptr) return {.data = units(l), .stride = columns, .step = rows_ * columns};
    return {.data = launch_.outputs + first_ * columns, .stride = columns, .step = launch_.rows.rows * columns};
  }
  ProductMatrix<const float> weights(int l) const {
    const MlpShape::Layer& layer = launch_.shape.layer[l];
    return {.data = launch_.weights + layer.weight, .stride = layer.outputs, .step = launch_.weight_stride};
  }

  const MlpLaunch& launch_;
  std::int64_t first_, rows_;
  Work& work_;
};

/// All rows of a launch with `layers`.
template <class Work>
void pass_layers(const MlpLaunch& launch, Work& work) {
  for (std::int64_t first = 0; first < launch.rows.rows; first += launch.layers.rows) {
    const LayerPass<Work> pass(launch, first, work);
    pass.forward();
    if (launch.outputs != nullptr) continue;
    pass.score();
    if (launch.gradient != nullptr) pass.backward();
  }
  if (launch.outputs == nullptr && launch.gradient != nullptr) work.each(launch.networks, FinishGradient{launch});
}

}  // namespace stein::inference::cuda
