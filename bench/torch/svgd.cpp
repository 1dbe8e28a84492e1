// The kernel and the update of SVGD: arithmetic a second as a share of what LibTorch's matrix product of the same shape
// reaches.
#include <stein/bench/benchmark.h>
#include <stein/core/error.h>
#include <stein/inference/fused/svgd_pass.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/torch/tensor_threads.h>

#include <ATen/Functions.h>

namespace stein::bench {
namespace {

using namespace stein::inference;

struct SvgdBenchmarkOptions {
  std::vector<std::int64_t> particles{20, 100, 500}, coordinates{10'000, 1'000'000};

  template <class V>
  void describe(V& v) {
    v("particles", particles, "M, one case each", between(2, 10'000));
    v("coordinates", coordinates, "Q, one case each", between(16, 1e8));
  }
};

std::string power_of_ten(std::int64_t number) {
  int power = 0;
  std::int64_t rest = number;
  for (; rest % 10 == 0; rest /= 10) ++power;
  return rest == 1 ? fmt::format("1e{}", power) : std::to_string(number);
}

Row row_of(const std::string& name, double operations, const Pair& seconds, const char* reference) {
  return {.name = name,
          .ours = operations / seconds.ours / 1e9,
          .reference = operations / seconds.reference / 1e9,
          .unit = "GFLOP/s",
          .better = Better::higher,
          .extra = {{"reference_is", reference}, {"ms", seconds.ours * 1e3}}};
}

/// Distances, and direction with update, of `rows` particles of `size` coordinates.
///
/// The products that the mathematics asks for: half of the symmetric X Xᵀ, M(M + 1)/2 inner products, and K G, M² Q
/// multiply-adds. The reference is a product of [M, Q] and [Q, M], and one of [M, M] and [M, Q].
void measure_shape(std::int64_t rows, std::int64_t size, std::vector<Row>& result) {
  Layout layout;
  layout.add("position", {size}, Role::weight);
  Particles<float> particles(layout, rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    fill_normal(particles.values().row(i), {.seed = 1}, static_cast<std::uint32_t>(i));
    fill_normal(particles.gradients().row(i), {.seed = 2}, static_cast<std::uint32_t>(i));
  }
  const OptimizerOptions options{.method = OptimizerMethod::sgd, .step = {.step_size = 1e-6}, .momentum = 0};
  OptimizerState<float> state(options, particles.ensemble(0));
  std::vector<double> distances(static_cast<std::size_t>(rows * rows));
  KernelWeights weights;
  const auto kernel = [&] {
    fused::squared_distances(particles.values(), distances);
    kernel_weights({}, distances, rows, weights);
  };
  const auto update = [&] {
    fused::stein_update(particles.values(), particles.gradients(), weights, state, state.step(0, 1e-6));
  };
  kernel();

  inference::set_tensor_threads(1);
  const c10::InferenceMode no_autograd;
  const at::Tensor x = at::randn({rows, size}), transposed = x.t(), k = at::randn({rows, rows});
  at::Tensor gram = at::empty({rows, rows}), direction = at::empty_like(x);
  const PairSettings settings{.warm_up_seconds = 0.02};
  const Pair first = measure_pair(
      kernel, [&] { at::mm_out(gram, x, transposed); }, settings);
  const Pair second = measure_pair(
      update, [&] { at::mm_out(direction, k, x); }, settings);
  const auto m = static_cast<double>(rows), q = static_cast<double>(size);
  const std::string name = fmt::format("{}x{}", rows, power_of_ten(size));
  const double half = m * (m + 1) * q, whole = 2 * m * m * q;
  Row distance_row = row_of("svgd-kernel-" + name, half, first, "LibTorch's X Xᵀ, counted with its 2 M² Q operations");
  distance_row.reference = whole / first.reference / 1e9;
  result.push_back(distance_row);
  result.push_back(row_of("svgd-update-" + name, whole, second, "LibTorch's K G, nothing more"));
  const Pair both{.ours = first.ours + second.ours, .reference = first.reference + second.reference};
  Row all = row_of("svgd-" + name, half + whole, both, "both products, by their operations a second");
  all.reference = 2 * whole / both.reference / 1e9;
  result.push_back(all);
}

std::vector<Row> measure_svgd(const SvgdBenchmarkOptions& options) {
  std::vector<Row> rows;
  for (const std::int64_t particles : options.particles)
    for (const std::int64_t coordinates : options.coordinates) measure_shape(particles, coordinates, rows);
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("svgd", Measure::of(measure_svgd));

}  // namespace
}  // namespace stein::bench
