// Training steps of a word-level LSTM of two layers on a GPU, against plain SGD in LibTorch there.
#include <stein/bench/gpu.h>
#include <stein/bench/torch/language_step.h>

namespace stein::bench {
namespace {

struct LanguageGpuOptions {
  std::string device = "cuda";
  std::vector<std::int64_t> hidden{650};
  std::vector<std::string> methods{"sgd", "sgld", "psgld", "bbb", "sharpening"};
  double round_seconds = 1;

  template <class V>
  void describe(V& v) {
    v("device", device, "the GPU: cuda, or cuda:INDEX");
    v("hidden", hidden, "units of both layers", between(1, 10'000));
    v("methods", methods, "methods that are measured");
    v("round_seconds", round_seconds, "how long each is measured in a round", positive, "seconds");
  }
};

std::vector<Row> measure_lm_gpu(const LanguageGpuOptions& options) {
  std::vector<Row> measured;
  for (const std::int64_t hidden : options.hidden)
    for (const Row& row :
         measure_language_steps_on(gpu_named(options.device, "lm"), options.methods, {.hidden = hidden},
                                   {.round_seconds = options.round_seconds, .warm_up_seconds = 0.5}))
      measured.push_back(row);
  return measured;
}

[[maybe_unused]] const bool registered = torch_measures().add("lm-gpu", Measure::of(measure_lm_gpu));

}  // namespace
}  // namespace stein::bench
