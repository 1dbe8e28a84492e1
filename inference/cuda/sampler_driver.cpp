// The loops of samplers on a GPU, registered as "cuda": the same bits as the reference in float, in the stream 0 of the
// GPU that the particles lie on. Numbers of a step that samplers keep on the host (thermostats, what is held, Σ r²) are
// copied in every step.
#include <stein/core/error.h>
#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/finite_flag.h>
#include <stein/inference/cuda/sampler_kernels.h>
#include <stein/inference/samplers/diffusion.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/samplers/optimizer.h>

#include <cmath>
#include <utility>
#include <vector>

namespace stein::inference::cuda {
namespace {

constexpr GpuStream stream = nullptr;

/// The GPU of an address. Throws Error(usage) where it is not of a GPU.
std::int32_t device_of(const float* numbers) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, numbers), "use a GPU");
  STEIN_CHECK(attributes.type == cudaMemoryTypeDevice,
              "the CUDA driver of samplers: expected numbers on a GPU, got some on the host");
  return attributes.device;
}

/// The same for rows. Throws Error(usage) where they do not begin as those of a Matrix may.
std::int32_t device_of(const MatrixView<const float>& rows) {
  STEIN_CHECK(reinterpret_cast<std::uintptr_t>(rows.data) % sizeof(FourNumbers) == 0 && rows.stride % group_size == 0,
              "the CUDA driver of samplers: expected rows that begin on 16 bytes, as those of a Matrix");
  return device_of(rows.data);
}

/// Some numbers on the current GPU, for the time of one function.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::size_t size) : size_(size) {
    if (size != 0) check(cudaMallocAsync(&memory_, size * sizeof(T), stream), "get memory on the GPU");
  }
  explicit Scratch(std::span<const T> numbers) : Scratch(numbers.size()) {
    if (size_ != 0)
      check(cudaMemcpyAsync(memory_, numbers.data(), size_ * sizeof(T), cudaMemcpyHostToDevice, stream),
            "copy to the GPU");
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (memory_ != nullptr) static_cast<void>(cudaFreeAsync(memory_, stream));
  }

  T* data() const { return static_cast<T*>(memory_); }
  /// The numbers, once all kernels have run.
  std::vector<T> on_host() const {
    std::vector<T> numbers(size_);
    check(cudaGetLastError(), "start a kernel");
    if (size_ != 0)
      check(cudaMemcpy(numbers.data(), memory_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "run a kernel");
    return numbers;
  }

 private:
  std::size_t size_;
  void* memory_ = nullptr;
};

void diffuse_rows(const DiffusionStep<float>& step, DiffusionResult& result) {
  const CurrentDevice device(device_of(step.values));
  const bool adds_up = step.dynamics == Dynamics::sgnht_scalar && !result.momentum_squares.empty();
  const auto lanes = static_cast<std::size_t>(adds_up ? sum_blocks(step.values.columns) * sum_lanes : 0);
  const Scratch<float> thermostats(step.thermostats), sums(lanes * static_cast<std::size_t>(step.values.rows));
  const FiniteFlag flag;
  DiffusionRows rows{.values = step.values,
                     .gradients = step.gradients,
                     .states = {step.states[0], step.states[1], step.states[2]},
                     .thermostats = thermostats.data(),
                     .noise = step.noise,
                     .first_row = step.first_row};
  diffuse(step.dynamics, step.numbers, rows, flag.data(), stream);
  if (adds_up) {
    add_up_momentum_squares(step.states[0], sums.data(), stream);
    const std::vector<float> on_host = sums.on_host();
    for (std::size_t i = 0; i < result.momentum_squares.size(); ++i)
      result.momentum_squares[i] = sum_of_block_lanes(std::span(on_host).subspan(i * lanes, lanes));
  }
  result.finite = flag.finite(stream);
}

bool ascend_rows(MatrixView<float> values, MatrixView<const float> directions, OptimizerState<float>& state,
                 const OptimizerStep& step) {
  const CurrentDevice device(device_of(values));
  const FiniteFlag flag;
  ascend(state.method(), step, values, directions, state.mean(), state.square(), flag.data(), stream);
  return flag.finite(stream);
}

[[noreturn]] void refuse(std::string_view function) {
  fail(ErrorKind::usage,
       "the CUDA driver of samplers has no {} yet, which SVGD needs: expected stochastic-gradient MCMC or an optimizer "
       "on a GPU, or SVGD on the host",
       function);
}

bool refuse_stein_update(MatrixView<float>, MatrixView<const float>, const KernelWeights&, OptimizerState<float>&,
                         const OptimizerStep&) {
  refuse("stein_update");
}

void refuse_squared_distances(MatrixView<const float>, std::span<double>) {
  refuse("squared_distances");
}

void refuse_inner_products(MatrixView<const float>, std::span<double>) {
  refuse("inner_products");
}

void draw_rows(MatrixView<float> rows, const NoiseKey& key, std::int64_t first_row, double deviation) {
  const CurrentDevice device(device_of(rows));
  draw(rows, key, first_row, deviation, stream);
  check(cudaGetLastError(), "draw numbers on the GPU");
}

/// The lanes of the squares of every row.
template <class Sum, class AddUp>
std::vector<Sum> lanes_of(MatrixView<const float> rows, const AddUp& add_up) {
  const Scratch<Sum> sums(static_cast<std::size_t>(rows.rows * sum_blocks(rows.columns) * sum_lanes));
  add_up(rows, sums.data(), stream);
  return sums.on_host();
}

/// The length of a row whose squares leave float's range: in double none does.
double wide_norm(MatrixView<const float> row) {
  return std::sqrt(sum_of_square_lanes<double>(lanes_of<double>(row, add_up_wide_squares), row.columns));
}

void clip_rows(MatrixView<float> gradients, const GradientClipOptions& options) {
  if (options.clip_norm == 0 || gradients.empty()) return;
  const CurrentDevice device(device_of(gradients));
  const std::vector<float> sums = lanes_of<float>(gradients, add_up_squares);
  const std::size_t lanes = sums.size() / static_cast<std::size_t>(gradients.rows);
  for (std::int64_t i = 0; i < gradients.rows; ++i) {
    const auto of_row = std::span(sums).subspan(static_cast<std::size_t>(i) * lanes, lanes);
    const double square = sum_of_square_lanes<float>(of_row, gradients.columns);
    const double norm = std::isfinite(square) ? std::sqrt(square) : wide_norm(gradients.block(i, 1));
    const double factor = clip_factor(norm, options);
    if (factor != 1) multiply(gradients.block(i, 1), factor, stream);
  }
  check(cudaGetLastError(), "clip gradients on the GPU");
}

bool all_finite_rows(MatrixView<const float> rows) {
  if (rows.empty()) return true;
  const CurrentDevice device(device_of(rows));
  const FiniteFlag flag;
  look_for_not_finite(rows, flag.data(), stream);
  return flag.finite(stream);
}

void hold_numbers(std::span<float> values, std::span<const std::uint8_t> free) {
  if (free.empty()) return;
  const CurrentDevice device(device_of({values.data(), 1, std::ssize(values), padded_columns(std::ssize(values))}));
  const Scratch<std::uint8_t> free_here(free);
  hold(values.data(), free_here.data(), std::ssize(free), stream);
  check(cudaGetLastError(), "hold numbers on the GPU");
}

/// Σ values² on the current GPU.
double sum_of_squares_here(std::span<const float> values) {
  const auto lanes = lanes_of<float>({values.data(), 1, std::ssize(values)}, add_up_squares);
  return sum_of_square_lanes<float>(lanes, std::ssize(values));
}

double sum_of_squares_on_gpu(std::span<const float> values) {
  if (values.empty()) return 0;
  const CurrentDevice device(device_of(values.data()));
  return sum_of_squares_here(values);
}

void subtract_numbers(std::span<const float> values, float scale, std::span<float> gradient, double* squares) {
  if (squares != nullptr) *squares = 0;
  if (values.empty()) return;
  const CurrentDevice device(device_of(values.data()));
  if (squares != nullptr) *squares = sum_of_squares_here(values);
  subtract(values.data(), scale, gradient.data(), std::ssize(values), stream);
  check(cudaGetLastError(), "subtract numbers on the GPU");
}

void add_products(std::span<const float> a, std::span<const float> b, double& sum) {
  if (a.empty()) return;
  const CurrentDevice device(device_of(a.data()));
  const Scratch<double> sums(static_cast<std::size_t>(sum_blocks(std::ssize(a)) * sum_lanes));
  add_up_products(a.data(), b.data(), std::ssize(a), sums.data(), stream);
  const std::vector<double> lanes = sums.on_host();
  sum += sum_of_block_lanes(std::span(lanes));
}

constexpr Driver<float> cuda_driver{.name = "cuda",
                                    .diffuse = diffuse_rows,
                                    .ascend = ascend_rows,
                                    .stein_update = refuse_stein_update,
                                    .squared_distances = refuse_squared_distances,
                                    .inner_products = refuse_inner_products,
                                    .draw = draw_rows,
                                    .clip = clip_rows,
                                    .all_finite = all_finite_rows,
                                    .hold = hold_numbers,
                                    .subtract_scaled = subtract_numbers,
                                    .sum_of_squares = sum_of_squares_on_gpu,
                                    .add_products = add_products};

const bool registered = device_drivers().add("cuda", &cuda_driver);

}  // namespace
}  // namespace stein::inference::cuda
