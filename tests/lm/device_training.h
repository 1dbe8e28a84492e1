// Trainings of language models on a device and on the host, and what both must have in common.
#pragma once

#include <stein/lm/language/language_trainer.h>
#include <stein/torch/recurrent_reference.h>

#include <catch2/catch.hpp>

#include "inference/fenced_device.h"
#include "lm/language/trained_text.h"
#include "training/method_with.h"

namespace stein::lm {

using inference::Device;

/// The method in the arithmetic of the fenced device: the reference.
inline training::WeightMethodOptions method_of(const std::string& name, test::Settings settings = {}) {
  settings.insert({{"step_size", "1e-3"}, {"arithmetic", "reference"}});
  return test::method_with(name, settings);
}

/// A chain so cold that its losses do not magnify rounding: changes of 1e-6 of all weights after 30 tokens change the
/// losses at the end by at most 4e-6 of them, those of SGD by 1e-5. At a temperature of 1 Santa's change by 1e-3; and
/// those of SGHMC-SA by 1e-2 at a step size of 1e-3, where weights enter and leave the slab with each rounding.
inline training::WeightMethodOptions steady_method(const std::string& name) {
  training::WeightMethodOptions method = method_of(name);
  OptionTable table = OptionTable::of(method);
  if (table.contains("temperature")) table.set("temperature", "1e-3");
  if (name == "sghmc-sa") table.set("step_size", "1e-4");
  return method;
}

inline std::unique_ptr<LanguageTrainer> language_trainer(
    const Corpus& corpus, const training::WeightMethodOptions& method, Device device, double dropout = 0.2,
    std::int64_t chunks = 1, std::int64_t epochs = 3, inference::Precision precision = inference::Precision::single) {
  const LanguageTrainingOptions options{.epochs = {.batch_size = 4,
                                                   .gradient_chunks = chunks,
                                                   .epochs = epochs,
                                                   .burn_in = 0.4,
                                                   .samples_per_epoch = 3,
                                                   .draws = 3},
                                        .unroll = 6};
  const inference::RecurrentSpec spec{
      .vocabulary = 12, .hidden = 16, .layers = 2, .dropout = dropout, .precision = precision};
  return std::make_unique<LanguageTrainer>(corpus, options, method, inference::make_recurrent_reference(spec, device),
                                           0);
}

inline std::unique_ptr<LanguageTrainer> language_trainer(const Corpus& corpus, const std::string& method,
                                                         Device device) {
  return language_trainer(corpus, method_of(method), device);
}

/// Goes on to the end, or to about `until` steps.
inline void train(training::EpochTrainer& trainer, std::int64_t until = 1'000'000'000) {
  runs::Records records(false);
  while (!trainer.ended() && trainer.steps_done() < until) trainer.advance(until, {}, records);
}

/// Weights, sampler, carried state and temperatures: all but the scores of texts, which LibTorch adds up in another
/// order than the host.
inline std::map<std::string, Snapshot::Bytes> training_state(const training::EpochTrainer& trainer) {
  Snapshot snapshot;
  trainer.save(snapshot);
  std::map<std::string, Snapshot::Bytes> found;
  for (const auto& [name, array] : snapshot.arrays())
    if (name.find("samples") == std::string::npos && name.find("best") == std::string::npos) found[name] = array.bytes;
  return found;
}

/// Both went through the same numbers.
inline void check_same(const training::EpochTrainer& host, const training::EpochTrainer& device) {
  CHECK(device.weights().particles().device() == test::fenced_device());
  const auto expected = training_state(host), found = training_state(device);
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, bytes] : expected) {
    CAPTURE(name);
    CHECK(found.at(name) == bytes);
  }
}

inline void check_near(const TextLosses& found, const TextLosses& expected) {
  CHECK(found.tokens == expected.tokens);
  CHECK(found.single == Approx(expected.single).epsilon(1e-6));
  CHECK(found.averaged == Approx(expected.averaged).epsilon(1e-6));
  CHECK(found.final_weights == Approx(expected.final_weights).epsilon(1e-6));
}

}  // namespace stein::lm
