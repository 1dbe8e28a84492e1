#include <stein/bench/gpu.h>
#include <stein/bench/sampler_case.h>
#include <stein/bench/sampler_gpu.h>
#include <stein/core/error.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/copy_rows.h>
#include <stein/inference/storage/host_copy.h>

#include <memory>

namespace stein::bench {
namespace {

using namespace stein::inference;

/// A target whose gradient was made before: it leaves the numbers that stand in the sampler's gradient, which no
/// sampler changes unless it clips.
class StandingGradient final : public Target<float> {
 public:
  explicit StandingGradient(Layout layout) : layout_(std::move(layout)) {}
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const float>&, const Batch<float>&, const NoiseKey&,
                const Evaluation<float>&) override {}

 private:
  Layout layout_;
};

Layout vector_of(std::int64_t parameters) {
  Layout layout;
  layout.add("weight", {parameters}, Role::weight);
  return layout;
}

/// A row of values and a gradient, drawn from N(0, 1) where they lie, and the sampler that moves it.
class SteppedRow {
 public:
  SteppedRow(const SamplerCase& which, std::int64_t parameters, Device device)
      : particles_(vector_of(parameters), 1, 0, 1, device), target_(particles_.layout()) {
    const Ensemble ensemble = particles_.ensemble(1, Arithmetic::reference);
    const Driver<float>& loops = driver<float>(ensemble);
    loops.draw(particles_.values(), {.seed = 2, .step = 0}, 0, 1);
    loops.draw(particles_.gradients(), {.seed = 2, .step = 1}, 0, 1);
    sampler_ = which.sampler.make(ensemble);
    batch_.data_size = 1;
  }
  /// Has been made when the function returns.
  void step() {
    sampler_->step(particles_, target_, batch_);
    sampler_->settle(particles_, target_, batch_);
  }
  Matrix<float> values() const { return host_copy(particles_.values(), particles_.device()); }

 private:
  Particles<float> particles_;
  StandingGradient target_;
  Batch<float> batch_;
  std::unique_ptr<Sampler<float>> sampler_;
};

/// Throws Error(numeric) unless three steps on the device lead where they lead on the host.
void check_same(const SamplerCase& which, Device device) {
  constexpr std::int64_t parameters = 10'007;
  SteppedRow ours(which, parameters, device), reference(which, parameters, {});
  const Matrix<float> start = reference.values();
  for (int t = 0; t < 3; ++t) ours.step(), reference.step();
  check_same_move("sampler-gpu", which.name, start.row(0), ours.values().row(0), reference.values().row(0));
}

struct SamplerGpuOptions {
  std::int64_t parameters = 100'000'000;
  std::string device = "cuda";
  std::string only;

  template <class V>
  void describe(V& v) {
    v("parameters", parameters, "length of the vector; a short one stays in the cache", between(1000, 1e9));
    v("device", device, "the GPU: cuda, or cuda:INDEX");
    v("only", only, "measure the cases whose name begins so; empty: all");
  }
};

std::vector<Row> measure_sampler_gpu(const SamplerGpuOptions& options) {
  return measure_samplers_on(gpu_named(options.device, "sampler"), options.parameters, options.only);
}

[[maybe_unused]] const bool registered =
    register_benchmark("sampler-gpu", "one update of 100 million parameters on a GPU, against a copy within its memory",
                       measure_sampler_gpu, Cores::one, check_gpu);

}  // namespace

std::vector<Row> measure_samplers_on(Device device, std::int64_t parameters, const std::string& only,
                                     const PairSettings& settings) {
  check_present(device);
  const std::string model = device_memory(device.kind).model(device.index);
  const auto count = static_cast<double>(parameters);
  const Matrix<float> from(1, parameters, device);
  Matrix<float> to(1, parameters, device);
  constexpr double bytes_of_copy = 8;  // a number: read and written
  const auto copy = [&] {
    copy_rows<float>(from.view(), to.view(), device);
    static_cast<void>(host_copy<float>({to.view().data, 1, 1}, device));  // has been made when one number of it is here
  };
  std::vector<Row> rows;
  for (const SamplerCase& which : sampler_cases()) {
    if (!which.name.starts_with(only)) continue;
    check_same(which, device);
    SteppedRow row(which, parameters, device);
    const Pair seconds = measure_pair([&] { row.step(); }, copy, settings);
    const auto rate = [&](double bytes, double time) { return bytes * count / time / 1e9; };
    rows.push_back({.name = which.name,
                    .ours = rate(which.bytes, seconds.ours),
                    .reference = rate(bytes_of_copy, seconds.reference),
                    .unit = "GB/s",
                    .better = Better::higher,
                    .extra = {{"reference_is", "copy of as many floats within the memory of the device"},
                              {"device", model},
                              {"parameters", count},
                              {"bytes_per_parameter", which.bytes},
                              {"ns_per_parameter", seconds.ours / count * 1e9}}});
  }
  STEIN_CHECK(!rows.empty(), "benchmark sampler-gpu: no case begins with '{}'", only);
  return rows;
}

}  // namespace stein::bench
