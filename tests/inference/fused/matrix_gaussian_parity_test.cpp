// Both float drivers of the structured parameterization against the reflections in double.
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/matrix_gaussian.h>
#include <stein/torch/matrix_gaussian_reference.h>

#include <catch2/catch.hpp>

#include "inference/tensor_error.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr double largest_error = 1e-5;

/// Random numbers for every coordinate of three rows; log scales of sd 0.4.
Particles<float> random_coordinates(const Layout& layout) {
  Particles<float> particles(layout, 3);
  for (const LayoutEntry& entry : layout.entries())
    for (std::int64_t m = 0; m < 3; ++m) {
      const auto values = particles.values().row(m).subspan(entry.offset, entry.size());
      fill_normal(values, {.seed = 9, .stream = Stream::test}, static_cast<std::uint32_t>(m), entry.offset);
      if (entry.role == Role::log_scale)
        for (float& value : values) value *= 0.4F;
    }
  return particles;
}

Particles<double> in_double(const Particles<float>& from) {
  Particles<double> to(from.layout(), from.rows());
  for (std::int64_t i = 0; i < from.rows(); ++i) std::ranges::copy(from.values().row(i), to.values().row(i).begin());
  return to;
}

/// Weights of all rows, then the gradient of Σ G ∘ W in `particles`; weights and G without padding.
template <class Scalar>
std::vector<Scalar> map_and_pull(Parameterization<Scalar>& map, Particles<Scalar>& particles,
                                 const Particles<Scalar>& slopes) {
  const std::int64_t rows = particles.rows(), size = map.weights().size();
  AlignedBuffer<Scalar> weights(static_cast<std::size_t>(rows * size)), padded_slopes(weights);
  const MatrixView<Scalar> weight_rows{weights.data(), rows, size}, slope_rows{padded_slopes.data(), rows, size};
  add_padding<Scalar>(map.weights(), slopes.values(), slope_rows);
  const auto trace = map.make_trace();
  map.forward(particles.coordinates(), {}, weight_rows, *trace);
  map.pullback(particles.coordinates(), {}, slope_rows, particles.gradients(), *trace);
  std::vector<Scalar> packed(static_cast<std::size_t>(rows * slopes.size()));
  remove_padding<Scalar>(map.weights(), weight_rows, {packed.data(), rows, slopes.size()});
  return packed;
}

void check_layer_parity(const MlpSpec& spec, const MatrixGaussianOptions& options) {
  const Layout unpadded = mlp_layout(spec), padded = mlp_layout(spec, 16);
  MatrixGaussianReference<double> exact_map(unpadded, options);
  const Particles<float> start = random_coordinates(exact_map.coordinates());
  const Particles<float> slopes = random_coordinates(unpadded);
  Particles<double> exact = in_double(start);
  const std::vector<double> exact_weights = map_and_pull(exact_map, exact, in_double(slopes));

  MatrixGaussian fused(padded, options);
  MatrixGaussianReference<float> reference(padded, options);
  for (Parameterization<float>* map :
       {static_cast<Parameterization<float>*>(&fused), static_cast<Parameterization<float>*>(&reference)}) {
    Particles<float> particles = start;
    const std::vector<float> weights = map_and_pull(*map, particles, slopes);
    const TensorError forward = largest_tensor_error(unpadded, {weights.data(), 3, unpadded.size()},
                                                     {exact_weights.data(), 3, unpadded.size()});
    const TensorError back = largest_tensor_error(exact_map.coordinates(), particles.gradients(), exact.gradients());
    INFO((map == &fused ? "fused" : "reference in float")
         << ", K = " << options.reflectors << ", forward " << forward.tensor << ", back " << back.tensor);
    CHECK(forward.relative <= largest_error);
    CHECK(back.relative <= largest_error);
  }
}

}  // namespace

TEST_CASE("both float structured maps are within 1e-5 of the reflections in double for every shape and K",
          "[inference][matrix_gaussian][parity]") {
  const std::int64_t reflectors = GENERATE(0, 1, 3, 8, 17);
  const Scales scales = GENERATE(Scales::free, Scales::identity);
  check_layer_parity({.inputs = 117, .hidden = {50, 50}, .outputs = 2}, {reflectors, scales});
  check_layer_parity({.inputs = 33, .hidden = {20, 5, 18}, .outputs = 1, .learn_noise_precision = true},
                     {reflectors, scales});
  check_layer_parity({.inputs = 1, .hidden = {64, 1, 9}, .outputs = 16}, {reflectors, scales});
  check_layer_parity({.inputs = 2, .hidden = {31}, .outputs = 3}, {reflectors, scales});
}
