// A small made-up text, and trainers on it.
#pragma once

#include <stein/inference/models/particle_recurrent.h>
#include <stein/lm/language/language_trainer.h>

#include <memory>
#include <string>

#include "training/method_with.h"

namespace stein::test {

/// A chain of 12 words: `tokens` of training, a fifth of it for validation and as much for the test.
inline lm::Corpus small_text(std::int64_t tokens) {
  return lm::read_corpus({.synthetic_words = 12, .synthetic_tokens = tokens});
}

struct TrainerCase {
  std::string method;
  Settings settings{};
  lm::LanguageTrainingOptions training{};
  inference::RecurrentSpec network{.vocabulary = 12, .hidden = 16, .layers = 1};

  std::unique_ptr<lm::LanguageTrainer> make(const lm::Corpus& corpus, std::uint64_t seed = 0) const {
    return std::make_unique<lm::LanguageTrainer>(corpus, training, method_with(method, settings),
                                                 std::make_unique<inference::ParticleRecurrent>(network), seed);
  }
};

/// Goes on to the end, or to about `until` tokens.
inline void train(lm::LanguageTrainer& trainer, std::int64_t until = 1'000'000'000) {
  runs::Records records(false);
  while (!trainer.ended() && trainer.steps_done() < until) trainer.advance(until, {}, records);
}

}  // namespace stein::test
