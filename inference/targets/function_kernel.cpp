#include <stein/core/error.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/targets/function_kernel.h>

#include <span>

namespace stein::inference {

FunctionKernel::FunctionKernel(const SvgdKernelOptions& options) : options_(checked(options)) {
  STEIN_CHECK(options.kernel != SvgdKernel::linear,
              "option 'kernel': between functions it must fall with the distance, expected rbf or imq, got linear");
}

void FunctionKernel::look_at(MatrixView<const float> functions) {
  const auto count = static_cast<std::size_t>(functions.rows);
  distances_.resize(count * count);
  driver<float>({}).squared_distances(functions, distances_);
  kernel_weights(options_, distances_, functions.rows, weights_);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = [&](std::vector<double>& matrix) { return std::span(matrix).subspan(i * count, count); };
    double total = 0;
    for (const double k : row(weights_.gradient)) total += k;
    for (double& k : row(weights_.gradient)) k /= total;
    weights_.own[i] /= total;
    if (weights_.position.empty()) continue;
    for (double& b : row(weights_.position)) b /= total;
  }
}

}  // namespace stein::inference
