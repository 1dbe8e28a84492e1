// Every method against a text whose truth is known.
#include <stein/training/network_experiment.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "lm/language/trained_text.h"

namespace stein::lm {
namespace {

using test::TrainerCase;

LanguageTrainingOptions training_of(std::int64_t epochs, double decay = 1, std::int64_t full = 1) {
  return {.epochs = {.batch_size = 20,
                     .epochs = epochs,
                     .rate_decay = decay,
                     .full_rate_epochs = full,
                     .burn_in = 0.2,
                     .draws = 20},
          .unroll = 20};
}

TEST_CASE("every method comes within one percent of what the truth loses, and averages lose no more than samples",
          "[lm][methods][slow]") {
  const Corpus corpus = test::small_text(100'000);
  const std::vector<TrainerCase> cases{
      {"sgd", {{"rate_unit", "sequence"}, {"step_size", "0.1"}, {"momentum", "0.9"}}, training_of(10, 0.7, 5)},
      {"rmsprop", {{"step_size", "1e-2"}}, training_of(10, 0.6, 4)},
      {"adam", {{"step_size", "1e-2"}}, training_of(10, 0.7, 5)},
      {"sgld", {{"rate_unit", "sequence"}, {"step_size", "0.1"}}, training_of(20)},
      {"psgld", {{"step_size", "5e-3"}, {"temperature", "0.1"}}, training_of(20)},
      {"sghmc", {{"rate_unit", "sequence"}, {"step_size", "0.01"}}, training_of(20)},
      {"sgnht", {{"step_size", "1e-3"}}, training_of(20)},
      {"santa", {{"step_size", "1e-2"}}, training_of(20)},
      {"bbb", {{"step_size", "1e-2"}, {"prior", "gaussian"}}, training_of(20, 0.8, 11)},
      {"sharpening", {{"step_size", "1e-2"}, {"prior", "gaussian"}}, training_of(20, 0.8, 11)},
      {"vmg", {{"step_size", "1e-2"}}, training_of(20, 0.8, 11)},
      // A narrow spike holds all weights of a recurrent network at zero, where they start and gradients are small.
      {"sgld-sa", {{"rate_unit", "sequence"}, {"step_size", "0.1"}, {"laplace_scale", "1"}}, training_of(20)},
      {"sghmc-sa", {{"rate_unit", "sequence"}, {"step_size", "0.01"}, {"laplace_scale", "1"}}, training_of(20)},
      {"svgd", {{"step_size", "1e-2"}}, training_of(10, 0.7, 5)},
      {"s2vgd", {{"step_size", "1e-2"}}, training_of(10, 0.7, 5)}};
  REQUIRE(cases.size() == training::methods_for(training::NetworkInputs::words).size());
  for (const TrainerCase& each : cases) {
    CAPTURE(each.method);
    const auto trainer = each.make(corpus);
    test::train(*trainer);
    const TextLosses losses = trainer->test_losses();
    const double truth = trainer->test_loss_of(*corpus.truth);
    CAPTURE(losses.averaged, losses.single, truth);
    CHECK(losses.averaged / truth - 1 < 0.01);
    CHECK(losses.averaged <= losses.single * (1 + 1e-9));
  }
}

TEST_CASE("no default of a method diverges", "[lm][methods][slow]") {
  const Corpus corpus = test::small_text(20'000);
  for (const std::string& name : training::methods_for(training::NetworkInputs::words))
    for (const std::uint64_t seed : {0, 1, 2}) {
      CAPTURE(name, seed);
      LanguageTrainer trainer(corpus, training_of(5), training::weight_methods().at(name).defaults,
                              std::make_unique<inference::ParticleRecurrent>(
                                  inference::RecurrentSpec{.vocabulary = 12, .hidden = 16, .layers = 1}),
                              seed);
      test::train(trainer);
      const double uniform = std::log(12.0), truth = trainer.test_loss_of(*corpus.truth);
      const TextLosses losses = trainer.test_losses();
      CAPTURE(losses.averaged, losses.final_weights, truth, uniform);
      CHECK(losses.final_weights < uniform);   // a default that diverges is far above
      CHECK(losses.averaged < uniform + 0.2);  // samples of a short run may be from before it has learned
    }
}

}  // namespace
}  // namespace stein::lm
#include <stein/training/network_experiment.h>
