// A training step of a word-level LSTM of two layers by each method, against plain SGD on the same network written in
// LibTorch.
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/inference/models/particle_recurrent.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/training/weight_sampler.h>
#include <torch/nn.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::bench {
namespace {

using namespace stein::inference;
using namespace stein::training;

constexpr std::int64_t rows = 20, unroll = 35, words = 10'000;
constexpr double data_size = 929'589;

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

/// Tokens of one minibatch and what follows each.
struct Data {
  std::vector<std::int32_t> tokens;
  std::vector<float> targets;
  Data() {
    Draws draws({.seed = 1}, 0);
    for (std::int64_t i = 0; i < rows * unroll; ++i) {
      tokens.push_back(static_cast<std::int32_t>(draws.integer(words)));
      targets.push_back(static_cast<float>(draws.integer(words)));
    }
  }
};

/// As `stein lm train` has it.
class Ours {
 public:
  Ours(const std::string& method, std::int64_t hidden, Precision precision, const Data& data)
      : data_(data),
        weights_(options_of(method),
                 std::make_unique<ParticleRecurrent>(
                     RecurrentSpec{.vocabulary = words, .hidden = hidden, .precision = precision}),
                 {.size = data_size, .sequence = unroll, .minibatches = data_size / (rows * unroll)}, 1),
        state_(weights_.weight_rows(), weights_.posterior().model().carried_size(batch().inputs)) {}

  void step() {
    Batch<float> now = batch();
    now.inputs.carried = state_.rows();
    weights_.step(now);
  }

 private:
  static WeightMethodOptions options_of(const std::string& method) {
    WeightMethodOptions options = weight_methods().at(method).defaults;
    OptionTable table = OptionTable::of(options);
    table.set("step_size", "1e-7");  // of a measure, not of a training: it goes nowhere
    if (table.contains("optimizer")) table.set("optimizer", "sgd"), table.set("momentum", "0");
    return options;
  }
  Batch<float> batch() const {
    Batch<float> made;
    made.inputs.tokens = {data_.tokens.data(), rows, unroll};
    made.targets = {data_.targets.data(), rows, unroll};
    made.rows = rows, made.size = rows * unroll, made.data_size = data_size, made.unit = DataUnit::tokens;
    return made;
  }

  const Data& data_;
  WeightSampler weights_;
  CarriedState<float> state_;
};

/// Plain SGD as its own best user writes it in LibTorch, with the state carried.
class Reference {
 public:
  Reference(std::int64_t hidden, const Data& data)
      : embedding_(torch::nn::EmbeddingOptions(words, hidden)),
        lstm_(torch::nn::LSTMOptions(hidden, hidden).num_layers(2)),
        output_(hidden, words),
        h_(torch::zeros({2, rows, hidden})),
        c_(torch::zeros({2, rows, hidden})) {
    tokens_ = torch::tensor(std::vector<std::int64_t>(data.tokens.begin(), data.tokens.end()))
                  .view({rows, unroll})
                  .t()
                  .contiguous();
    targets_ = torch::tensor(std::vector<std::int64_t>(data.targets.begin(), data.targets.end()))
                   .view({rows, unroll})
                   .t()
                   .reshape(-1);
    for (const auto& part : {embedding_->parameters(), lstm_->parameters(), output_->parameters()})
      parameters_.insert(parameters_.end(), part.begin(), part.end());
  }
  void step() {
    for (torch::Tensor& parameter : parameters_) parameter.mutable_grad() = torch::Tensor();
    const auto [states, last] = lstm_(embedding_(tokens_), std::make_tuple(h_, c_));
    h_ = std::get<0>(last).detach(), c_ = std::get<1>(last).detach();
    torch::nn::functional::cross_entropy(output_(states.reshape({rows * unroll, -1})), targets_).backward();
    const torch::NoGradGuard no_gradient;
    for (torch::Tensor& parameter : parameters_) parameter.sub_(parameter.grad(), 1e-7);
  }

 private:
  torch::nn::Embedding embedding_;
  torch::nn::LSTM lstm_;
  torch::nn::Linear output_;
  torch::Tensor h_, c_, tokens_, targets_;
  std::vector<torch::Tensor> parameters_;
};

std::vector<Row> measure(const LanguageOptions& options) {
  const Data data;
  std::vector<Row> measured;
  for (const std::int64_t hidden : options.hidden) {
    Reference reference(hidden, data);
    const auto measure_method = [&](const std::string& method, Precision precision) {
      Ours ours(method, hidden, precision, data);
      const TensorPair pair = measure_tensor_pair([&] { ours.step(); }, [&] { reference.step(); },
                                                  {.round_seconds = options.round_seconds, .warm_up_seconds = 0.5});
      const double tokens = rows * unroll;
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

[[maybe_unused]] const bool registered = torch_measures().add("lm", Measure::of(measure));

}  // namespace
}  // namespace stein::bench
