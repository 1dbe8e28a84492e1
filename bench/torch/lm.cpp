// A training step of a word-level LSTM of two layers by each method, against plain SGD on the same network written in
// LibTorch.
#include <stein/bench/torch/language_step.h>
#include <stein/bench/torch/mushroom_case.h>

#include <string>
#include <vector>

namespace stein::bench {
namespace {

using inference::Precision;

struct LanguageOptions {
  std::vector<std::int64_t> hidden{200, 650};
  std::vector<std::string> methods{"sgd", "sgld", "psgld", "sghmc", "sgnht", "santa", "bbb", "sharpening"};
  std::vector<std::string> bfloat16_methods{"sgd"};
  double round_seconds = 1;

  template <class V>
  void describe(V& v) {
    v("hidden", hidden, "units of both layers", between(1, 10'000));
    v("methods", methods, "methods that are measured");
    v("bfloat16_methods", bfloat16_methods,
      "and with products in bfloat16: a gain where the processor multiplies such (AVX-512 BF16)");
    v("round_seconds", round_seconds, "how long each is measured in a round", positive, "seconds");
  }
};

std::vector<Row> measure_lm(const LanguageOptions& options) {
  std::vector<Row> measured;
  for (const std::int64_t hidden : options.hidden) {
    const RandomTokens data({.hidden = hidden});
    PlainStep reference(data, torch::kCPU);
    const auto measure_method = [&](const std::string& method, Precision precision) {
      MethodStep ours(method, data, {}, precision);
      const TensorPair pair = measure_tensor_pair([&] { ours.step(); }, [&] { reference.step(); },
                                                  {.round_seconds = options.round_seconds, .warm_up_seconds = 0.5});
      const double tokens = data.which.tokens();
      measured.push_back(
          {.name = fmt::format("{}{}-2x{}", method, precision == Precision::single ? "" : "-bfloat16", hidden),
           .ours = 1e3 * pair.seconds.ours,
           .reference = 1e3 * pair.seconds.reference,
           .unit = "ms",
           .extra = {{"tokens_per_second", tokens / pair.seconds.ours},
                     {"reference_tokens_per_second", tokens / pair.seconds.reference},
                     {"reference_is", "plain SGD in LibTorch"},
                     {"reference_threads", static_cast<double>(pair.threads)}}});
    };
    for (const std::string& method : options.methods) measure_method(method, Precision::single);
    for (const std::string& method : options.bfloat16_methods) measure_method(method, Precision::bfloat16);
  }
  return measured;
}

[[maybe_unused]] const bool registered = torch_measures().add("lm", Measure::of(measure_lm));

}  // namespace
}  // namespace stein::bench
