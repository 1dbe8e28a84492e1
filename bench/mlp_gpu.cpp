#include <stein/bench/gpu.h>
#include <stein/bench/mlp_gpu.h>
#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/inference/models/device_mlp.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/device_memory.h>

#include <fmt/ranges.h>

#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;

/// Widths of all layers, that of the inputs first.
std::vector<std::int64_t> widths_of(const MlpGpuCase& which) {
  std::vector<std::int64_t> widths{which.inputs};
  widths.insert(widths.end(), which.hidden.begin(), which.hidden.end());
  widths.push_back(which.outputs);
  return widths;
}

/// N(0, 1) on a device.
Matrix<float> normals_on(Device device, std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  Matrix<float> numbers(rows, columns, device);
  driver<float>(Ensemble{.device = device}).draw(numbers.view(), {.seed = seed}, 0, 1);
  return numbers;
}

/// Until everything asked for so far has been made.
void wait_for(const Matrix<float>& numbers) {
  float first = 0;
  device_memory(numbers.device().kind).copy_out(numbers.device().index, &first, numbers.view().data, sizeof(float));
}

/// The networks, their minibatch, and their gradients.
class Gradients {
 public:
  Gradients(Model<float>& model, const MlpGpuCase& which)
      : model_(model),
        weights_(which.particles, model.layout().size(), model.device()),
        gradients_(which.particles, model.layout().size(), model.device()) {
    const MlpSpec spec = spec_of(which);
    Particles<float> particles(mlp_layout(spec), which.particles);
    initialise_coordinates(particles, 1, std::sqrt(2.0));
    Matrix<float> padded(which.particles, model.layout().size());
    add_padding<float>(model.layout(), particles.values(), padded.view());
    weights_ = padded.to(model.device());
    Draws draws({.seed = 2}, 0);
    for (std::int64_t k = 0; k < which.rows * which.inputs; ++k) inputs_.push_back(static_cast<float>(draws.normal()));
    for (std::int64_t i = 0; i < which.rows; ++i)
      classes_.push_back(static_cast<float>(draws.integer(static_cast<std::uint32_t>(which.outputs))));
    batch_.inputs.dense = {inputs_.data(), which.rows, which.inputs};
    batch_.targets = {classes_.data(), which.rows, 1};
    batch_.rows = which.rows;
    batch_.data_size = static_cast<double>(which.rows);
  }
  static MlpSpec spec_of(const MlpGpuCase& which) {
    return {.inputs = which.inputs,
            .hidden = which.hidden,
            .outputs = which.outputs,
            .likelihood = Likelihood::categorical};
  }

  void make() { model_.log_likelihood({weights_.view(), 0}, batch_, {}, {.gradient = gradients_.view()}); }
  void make_and_wait() { make(), wait_for(gradients_); }
  /// Without padding.
  Particles<float> found() const {
    Particles<float> particles(without_padding(model_.layout()), gradients_.rows());
    const Matrix<float> here = gradients_.to({});
    remove_padding<float>(model_.layout(), here.view(), particles.gradients());
    return particles;
  }

 private:
  Model<float>& model_;
  Matrix<float> weights_, gradients_;
  std::vector<float> inputs_, classes_;
  Batch<float> batch_;
};

/// The products of a gradient, from and to memory of their own.
class BareProducts {
 public:
  BareProducts(Device device, const ProductDriver& products, const MlpGpuCase& which)
      : device_(device), products_(products), which_(which), widths_(widths_of(which)) {
    for (std::size_t l = 0; l < widths_.size(); ++l) {
      units_.push_back(normals_on(device, 1, (l == 0 ? 1 : which.particles) * which.rows * widths_[l], l));
      if (l > 0) weights_.push_back(normals_on(device, 1, which.particles * widths_[l - 1] * widths_[l], 10 + l));
      if (l > 0) slopes_.push_back(normals_on(device, 1, which.particles * which.rows * widths_[l], 20 + l));
    }
  }
  void make_and_wait() {
    for (std::size_t l = 1; l < widths_.size(); ++l) multiply(units(l - 1), weights(l), units(l));
    for (std::size_t l = widths_.size() - 1; l > 0; --l) {
      if (l > 1) multiply(slopes(l), turned(weights(l)), slopes(l - 1));
      multiply(turned(units(l - 1)), slopes(l), weights(l));
    }
    wait_for(weights_.front());
  }

 private:
  /// A matrix of every particle, or one that all see, and its shape.
  struct Operand {
    ProductMatrix<float> matrix;
    std::int64_t rows, columns;
  };
  Operand of(Matrix<float>& memory, std::int64_t rows, std::int64_t columns, bool shared = false) {
    return {{.data = memory.view().data, .stride = columns, .step = shared ? 0 : rows * columns}, rows, columns};
  }
  Operand units(std::size_t l) { return of(units_[l], which_.rows, widths_[l], l == 0); }
  Operand weights(std::size_t l) { return of(weights_[l - 1], widths_[l - 1], widths_[l]); }
  Operand slopes(std::size_t l) { return of(slopes_[l - 1], which_.rows, widths_[l]); }
  static Operand turned(Operand operand) {
    operand.matrix.turned = true;
    std::swap(operand.rows, operand.columns);
    return operand;
  }
  void multiply(const Operand& a, const Operand& b, const Operand& c) {
    const auto read = [](const ProductMatrix<float>& matrix) {
      return ProductMatrix<const float>{matrix.data, matrix.stride, matrix.step, matrix.turned};
    };
    products_.multiply(device_.index, {.count = which_.particles,
                                       .rows = c.rows,
                                       .columns = c.columns,
                                       .inner = a.columns,
                                       .a = read(a.matrix),
                                       .b = read(b.matrix),
                                       .c = c.matrix});
  }

  Device device_;
  const ProductDriver& products_;
  MlpGpuCase which_;
  std::vector<std::int64_t> widths_;
  std::vector<Matrix<float>> units_, weights_, slopes_;
};

/// Throws Error(numeric) unless gradients of the device are those of the host to 1e-4 of their length.
void check_same_gradients(const Particles<float>& ours, const Particles<float>& reference) {
  double difference = 0, length = 0;
  for (std::int64_t i = 0; i < ours.rows(); ++i)
    for (std::int64_t q = 0; q < ours.size(); ++q) {
      const double expected = reference.gradients()(i, q);
      difference += std::pow(ours.gradients()(i, q) - expected, 2), length += expected * expected;
    }
  const double apart = std::sqrt(difference / length);
  if (!(apart <= 1e-4))
    fail(ErrorKind::numeric,
         "benchmark mlp-gpu: expected the gradients of the host to 1e-4 of their length, got some {:.1e} apart", apart);
}

struct MlpGpuOptions {
  std::string device = "cuda";
  MlpGpuCase which{};

  template <class V>
  void describe(V& v) {
    v("device", device, "the GPU: cuda, or cuda:INDEX");
    v("particles", which.particles, "networks", between(1, 1e4));
    v("rows", which.rows, "of a minibatch", between(1, 1e5));
    v("hidden", which.hidden, "widths of the hidden layers", between(1, 1e4));
  }
};

/// Throws Error(usage) where there is no GPU or no library of products.
const ProductDriver& products_on(Device device) {
  check_present(device);
  const ProductDriver* const found = product_driver(device);
  STEIN_CHECK(found != nullptr,
              "there are no products of matrices here: cuBLASLt is not installed, or Stein was built "
              "without it");
  return *found;
}

std::vector<Row> measure_mlp_gpu(const MlpGpuOptions& options) {
  const Device gpu = gpu_named(options.device, "supervised");
  return measure_gradients_on(gpu, products_on(gpu), options.which);
}

[[maybe_unused]] const bool registered = register_benchmark(
    "mlp-gpu", "gradients of large perceptrons on a GPU, against the bare products of matrices of cuBLASLt",
    measure_mlp_gpu, Cores::one, [] { static_cast<void>(products_on(parse_device(MlpGpuOptions{}.device))); });

}  // namespace

double MlpGpuCase::operations() const {
  const std::vector<std::int64_t> widths = widths_of(*this);
  double weights = 0;
  for (std::size_t l = 1; l < widths.size(); ++l)
    weights += static_cast<double>(widths[l - 1] * widths[l]) * (l == 1 ? 2 : 3);
  return 2 * static_cast<double>(particles * rows) * weights;
}

std::vector<Row> measure_gradients_on(Device device, const ProductDriver& products, const MlpGpuCase& which,
                                      const PairSettings& settings) {
  check_present(device);
  const MlpSpec spec = Gradients::spec_of(which);
  DeviceMlp model(spec, device, true);
  ParticleMlp host(spec);
  Gradients ours(model, which), expected(host, which);
  ours.make_and_wait(), expected.make();
  check_same_gradients(ours.found(), expected.found());
  BareProducts bare(device, products, which);
  const Pair seconds = measure_pair([&] { ours.make_and_wait(); }, [&] { bare.make_and_wait(); }, settings);
  return {{.name = "gradient",
           .ours = which.operations() / seconds.ours / 1e9,
           .reference = which.operations() / seconds.reference / 1e9,
           .unit = "GFLOP/s",
           .better = Better::higher,
           .extra = {{"reference_is", "the products of matrices alone"},
                     {"device", device_memory(device.kind).model(device.index)},
                     {"network", fmt::format("{}", fmt::join(widths_of(which), "-"))},
                     {"particles", static_cast<double>(which.particles)},
                     {"rows", static_cast<double>(which.rows)}}}};
}

}  // namespace stein::bench
