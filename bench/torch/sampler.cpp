// One update of a long vector of parameters by every sampler and optimizer, in one fused pass: against the speed at
// which this machine copies memory, and against the same update in LibTorch's tensor operations.
#include <stein/bench/allocation_count.h>
#include <stein/bench/benchmark.h>
#include <stein/bench/copy.h>
#include <stein/bench/sampler_case.h>
#include <stein/bench/torch/parameter_update.h>
#include <stein/core/parallel.h>
#include <stein/torch/tensor_threads.h>

namespace stein::bench {
namespace {

struct SamplerOptions {
  std::int64_t parameters = 64'000'000;
  std::string only;

  template <class V>
  void describe(V& v) {
    v("parameters", parameters, "length of the vector; a short one stays in the cache", between(1000, 1e9));
    v("only", only, "measure the cases whose name begins so; empty: all");
  }
};

/// Throws Error(numeric) unless both move the same way, without noise or with the same, to 1e-4 of how far they go.
void check_same(const UpdateCase& which) {
  constexpr std::int64_t parameters = 10'007;
  const auto ours = which.fused(parameters, Noise::comparable),
             reference = which.tensors(parameters, Noise::comparable);
  const std::vector<float> start(ours->values().row(0).begin(), ours->values().row(0).end());
  for (int t = 0; t < 3; ++t) ours->step(), reference->step();
  check_same_move("sampler", which.name, start, ours->values().row(0), reference->values().row(0));
}

/// Runs `body` with this many threads.
template <class Body>
auto with_threads(int count, const Body& body) {
  const int before = thread_count();
  set_thread_count(count);
  const auto result = body();
  set_thread_count(before);
  return result;
}

constexpr PairSettings sampler_settings{.warm_up_seconds = 0.05};

class Measurement {
 public:
  explicit Measurement(const SamplerOptions& options)
      : size_(options.parameters),
        parameters_(static_cast<double>(size_)),
        all_threads_(thread_count()),
        copy_(size_) {}

  void measure(const UpdateCase& which, std::vector<Row>& rows) {
    const std::vector<int> threads = all_threads_ > 1 ? std::vector<int>{all_threads_, 1} : std::vector<int>{1};
    check_same(which);
    const auto ours = which.fused(size_, Noise::own);
    for (const int count : threads)
      rows.push_back(with_threads(count, [&] { return beside_copy(which, *ours, count); }));
    const auto tensors = which.tensors(size_, Noise::own);
    for (const int count : threads)
      rows.push_back(with_threads(count, [&] { return beside_tensors(which, *ours, *tensors, count); }));
  }

 private:
  /// All cores are what a case is about; one of several is said.
  std::string name_of(const std::string& name, int threads) const {
    return threads < all_threads_ ? name + "-one-core" : name;
  }

  Row beside_copy(const UpdateCase& which, ParameterUpdate& ours, int threads) {
    const auto step = [&] { ours.step(); };
    const Pair seconds = measure_pair(
        step, [&] { copy_(); }, sampler_settings);
    const auto rate = [&](double bytes, double time) { return bytes * parameters_ / time / 1e9; };
    Row row{.name = name_of(which.name, threads),
            .ours = rate(which.bytes, seconds.ours),
            .reference = rate(Copy::bytes, seconds.reference),
            .unit = "GB/s",
            .better = Better::higher,
            .extra = {{"reference_is", "copy of the same vector"},
                      {"threads", static_cast<double>(threads)},
                      {"parameters", parameters_},
                      {"bytes_per_parameter", which.bytes},
                      {"ns_per_parameter", seconds.ours / parameters_ * 1e9}}};
    if (const auto count = allocations_in(step)) row.extra.emplace_back("allocations", static_cast<double>(*count));
    return row;
  }

  /// LibTorch may use as many threads or one, whichever takes less time.
  Row beside_tensors(const UpdateCase& which, ParameterUpdate& ours, ParameterUpdate& tensors, int threads) {
    const auto measure_with = [&](int tensor_threads) {
      inference::set_tensor_threads(tensor_threads);
      const Pair seconds = measure_pair([&] { ours.step(); }, [&] { tensors.step(); }, sampler_settings);
      inference::set_tensor_threads(1);
      return seconds;
    };
    Pair seconds = measure_with(threads);
    int tensor_threads = threads;
    if (threads > 1) {
      const Pair one = measure_with(1);
      if (one.reference < seconds.reference) seconds = one, tensor_threads = 1;
    }
    return {.name = name_of("torch-" + which.name, threads),
            .ours = seconds.ours / parameters_ * 1e9,
            .reference = seconds.reference / parameters_ * 1e9,
            .unit = "ns/parameter",
            .extra = {{"reference_is", "LibTorch tensor operations, in place"},
                      {"threads", static_cast<double>(threads)},
                      {"reference_threads", static_cast<double>(tensor_threads)},
                      {"parameters", parameters_}}};
  }

  std::int64_t size_;
  double parameters_;
  int all_threads_;
  Copy copy_;
};

std::vector<Row> measure_sampler(const SamplerOptions& options) {
  Measurement measurement(options);
  std::vector<Row> rows;
  for (const UpdateCase& which : update_cases())
    if (which.name.starts_with(options.only)) measurement.measure(which, rows);
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("sampler", Measure::of(measure_sampler));

}  // namespace
}  // namespace stein::bench
