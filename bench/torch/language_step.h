// A training step of a word-level LSTM of two layers on any device: by one of Stein's methods, and as plain SGD written
// in LibTorch.
#pragma once

#include <stein/bench/benchmark.h>
#include <stein/inference/model.h>
#include <stein/inference/models/recurrent_spec.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/training/weight_sampler.h>
#include <torch/nn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stein::bench {

/// What is trained on: a minibatch of B rows of T tokens, as of Penn Treebank.
struct LanguageCase {
  std::int64_t rows = 20, unroll = 35, words = 10'000;
  std::int64_t hidden = 650;   ///< units of both layers, and of the embedding
  double data_size = 929'589;  ///< tokens of the text

  double tokens() const { return static_cast<double>(rows * unroll); }  ///< of a minibatch
};

/// Random tokens of one minibatch and what follows each.
struct RandomTokens {
  explicit RandomTokens(const LanguageCase& given);

  LanguageCase which;
  std::vector<std::int32_t> tokens;
  std::vector<float> targets;
};

/// As `stein lm train` has it, with a step size that goes nowhere. `data` has to live as long.
class MethodStep {
 public:
  /// @param device  where the networks lie: fused products on the host, LibTorch's layers elsewhere
  MethodStep(const std::string& method, const RandomTokens& data, inference::Device device,
             inference::Precision precision = inference::Precision::single);

  void step();

 private:
  inference::Batch<float> batch() const;

  const RandomTokens& data_;
  training::WeightSampler weights_;
  inference::CarriedState<float> state_;
};

/// Plain SGD as its own best user writes it in LibTorch, with the state carried.
class PlainStep {
 public:
  PlainStep(const RandomTokens& data, torch::Device device);

  void step();

 private:
  std::int64_t scored_;  ///< tokens of a minibatch
  torch::nn::Embedding embedding_;
  torch::nn::LSTM lstm_;
  torch::nn::Linear output_;
  torch::Tensor h_, c_, tokens_, targets_;
  std::vector<torch::Tensor> parameters_;
};

/// Tokens a second of a training step of each method where networks lie on a device, against plain SGD in LibTorch on
/// the same GPU (on the host for another device): both are waited for after every tenth step.
/// @throws Error(usage)  where there is no such device, or a method cannot train there
std::vector<Row> measure_language_steps_on(inference::Device device, const std::vector<std::string>& methods,
                                           const LanguageCase& which, const PairSettings& settings = {});

}  // namespace stein::bench
