// Distributions, priors and masks of weights on another device than the host: the fenced device ends a step that
// reaches around the device with a signal, and has the numbers of the host.
#include <stein/lm/evaluation/sharpened_bound.h>
#include <stein/lm/evaluation/weight_pruning.h>
#include <stein/lm/network/recurrent_options.h>
#include <stein/training/network_sparsity.h>
#include <stein/training/weight_draws.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "inference/cuda/networks_on_host.h"
#include "lm/device_training.h"

namespace stein::lm {
namespace {

TEST_CASE("priors, draws and masks of weights on a device are those of the host", "[lm][device]") {
  const Corpus corpus = test::small_text(600);
  const std::vector<std::pair<std::string, test::Settings>> methods{
      {"bbb", {{"weight_samples", "2"}}},
      {"bbb", {{"prior", "gaussian"}, {"weight_precision", "3"}, {"outer_deviation", "1.5"}}},
      {"vmg", {{"weight_samples", "2"}}},
      {"sharpening", {{"weight_samples", "2"}, {"initial_rate", "0.01"}, {"rate_scale", "2"}}},
      {"sharpening", {{"sharpening_objective", "as_published"}, {"prior", "gaussian"}}},
      {"sharpening", {{"sharpening_gradient", "exact"}, {"initial_rate", "0.01"}, {"mixture_over", "row"}}},
      {"bbb", {{"mixture_over", "row"}}},
      {"psgld", {{"prior", "scale_mixture"}}},
      {"psgld", {{"prior", "scale_mixture"}, {"mixture_over", "row"}}},
      {"sghmc", {{"learn_weight_precision", "true"}, {"precision_per_layer", "true"}}},
      {"svgd", {{"learn_weight_precision", "true"}}},
      {"svgd", {{"prior", "scale_mixture"}}},
      {"sghmc-sa", {{"pruning.final_share", "0.5"}, {"pruning.decay_steps", "2"}}},
      {"sgld-sa", {{"pruning.final_share", "0.3"}, {"adaptation", "em"}}}};
  for (const auto& [name, settings] : methods) {
    CAPTURE(name, settings);
    const auto host = language_trainer(corpus, method_of(name, settings), {}),
               device = language_trainer(corpus, method_of(name, settings), test::fenced_device());
    train(*host), train(*device);
    check_same(*host, *device);
    check_near(device->test_losses(), host->test_losses());
    if (host->weights().kind() == training::MethodKind::variational)
      CHECK(device->weights().divergence({.seed = 3}) == host->weights().divergence({.seed = 3}));
  }
}

TEST_CASE("structured weights of a language model learn on a device what they learn on the host", "[lm][device]") {
  const Corpus corpus = test::small_text(600);
  const training::WeightMethodOptions method = method_of("s2vgd", {{"particles", "3"}});
  const auto host = language_trainer(corpus, method, {}, /*dropout=*/0),
             device = language_trainer(corpus, method, test::fenced_networks(), /*dropout=*/0);
  const double untrained = host->test_losses().averaged;
  train(*host), train(*device);
  CHECK(device->weights().particles().device() == test::fenced_device());
  const TextLosses found = device->test_losses(), expected = host->test_losses();
  CHECK(expected.averaged < 0.99 * untrained);
  CHECK(found.averaged == Approx(expected.averaged).epsilon(1e-3));
  CHECK(found.final_weights == Approx(expected.final_weights).epsilon(1e-3));
}

TEST_CASE("weights are drawn, averaged, pruned and counted on a device as on the host", "[lm][device]") {
  const Corpus corpus = test::small_text(600);
  for (const char* const name : {"bbb", "vmg", "sharpening"}) {
    CAPTURE(name);
    const auto host = language_trainer(corpus, name, {}),
               device = language_trainer(corpus, name, test::fenced_device());
    train(*host, 700), train(*device, 700);
    for (const bool mean : {true, false}) {
      training::WeightDraws expected(host->weights(), {.draws = 3, .mean = mean}, {}, 0),
          found(device->weights(), {.draws = 3, .mean = mean}, {}, 0);
      const inference::Matrix<float> host_draws = expected.all(), device_draws = found.all().to({});
      REQUIRE(device_draws.rows() == (mean ? 1 : 3));
      for (std::int64_t k = 0; k < host_draws.rows(); ++k)
        CHECK(std::ranges::equal(device_draws.row(k), host_draws.row(k)));
    }
    const WeightPruning expected(host->weights()), found(device->weights());
    CHECK(std::ranges::equal(std::as_const(found).pruned(0.4).to({}).row(0), expected.pruned(0.4).row(0)));
  }
  const auto settings = test::Settings{{"pruning.final_share", "0.5"}, {"pruning.decay_steps", "2"}};
  const auto host = language_trainer(corpus, method_of("sghmc-sa", settings), {}),
             device = language_trainer(corpus, method_of("sghmc-sa", settings), test::fenced_device());
  train(*host), train(*device);
  const training::NetworkSparsity expected = training::sparsity_of(host->weights()),
                                  found = training::sparsity_of(device->weights());
  CHECK(found.parameters_left == expected.parameters_left);
  CHECK(found.parameters_left < found.parameters);
  CHECK(found.layers.back().slab_probabilities == expected.layers.back().slab_probabilities);
}

TEST_CASE("the bound of sharpening on a device is that of the host", "[lm][device]") {
  const Corpus corpus = test::small_text(600);
  const training::WeightMethodOptions method = method_of("sharpening", {{"initial_rate", "0.01"}});
  const inference::RecurrentSpec spec{.vocabulary = 12, .hidden = 16, .layers = 2};
  const auto bound = [&](Device device) {
    const auto trainer = language_trainer(corpus, method, device);
    training::WeightDraws draws(trainer->weights(), {.draws = 2}, {}, 0);
    inference::SharpenedModel<float> model(inference::make_recurrent_reference(spec, device),
                                           method.posterior.sharpening);
    return sharpened_bound(model, draws, corpus.test, {.rows = 4, .unroll = 6}, 5);
  };
  const double expected = bound({});
  CHECK(expected > 0);
  CHECK(bound(test::fenced_device()) == Approx(expected).epsilon(1e-6));
}

TEST_CASE("a checkpoint of LibTorch's network on a device goes on in the SIMD network of the host",
          "[lm][device][resume]") {
  const Corpus corpus = test::small_text(600);
  for (const char* const name : {"adam", "bbb", "vmg", "sghmc-sa"}) {
    CAPTURE(name);
    const auto whole = language_trainer(corpus, steady_method(name), test::fenced_device(), /*dropout=*/0),
               first = language_trainer(corpus, steady_method(name), test::fenced_device(), /*dropout=*/0);
    train(*whole), train(*first, 700);
    Snapshot state;
    first->save(state);
    const LanguageTrainingOptions options{
        .epochs = {.batch_size = 4, .epochs = 3, .burn_in = 0.4, .samples_per_epoch = 3, .draws = 3}, .unroll = 6};
    const inference::RecurrentSpec spec{.vocabulary = 12, .hidden = 16, .layers = 2, .dropout = 0};
    LanguageTrainer here(corpus, options, steady_method(name),
                         make_recurrent_model(spec, inference::Arithmetic::fused, {}, 1), 0);
    here.restore(state);
    train(here);
    CHECK(here.test_losses().averaged == Approx(whole->test_losses().averaged).epsilon(1e-4));
    CHECK(here.test_losses().final_weights == Approx(whole->test_losses().final_weights).epsilon(1e-4));
  }
}

TEST_CASE("what is on the host only is refused on a device", "[lm][device]") {
  inference::RecurrentSpec spec{.vocabulary = 12, .hidden = 4, .layers = 1};
  CHECK_ERROR(make_recurrent_model(spec, inference::Arithmetic::reference, test::fenced_device(), 1), usage,
              "arithmetic=reference is of the processor");
  spec.precision = inference::Precision::bfloat16;
  CHECK_ERROR(make_recurrent_model(spec, inference::Arithmetic::reference, {}, 1), usage,
              "bfloat16 needs arithmetic=fused");
  spec.precision = inference::Precision::tf32;
  CHECK_ERROR(make_recurrent_model(spec, inference::Arithmetic::fused, {}, 1), usage, "tf32 is of a GPU");
  const auto model = inference::make_recurrent_reference({.vocabulary = 12, .hidden = 4}, test::fenced_device());
  const inference::Matrix<float> weights(1, model->layout().size());
  const std::int32_t token = 0;
  inference::Inputs<float> inputs;
  inputs.tokens = {&token, 1, 1};
  std::vector<float> logits(12);
  CHECK_ERROR(model->predict({weights.view(), 0}, inputs, {logits.data(), 1, 12}), usage,
              "expected weights on device fenced");
}

}  // namespace
}  // namespace stein::lm
