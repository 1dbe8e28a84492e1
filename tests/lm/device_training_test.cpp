// Training of sequence models on another device than the host: the fenced device ends a step that reaches around the
// device with a signal, and has the numbers of the host's reference.
#include <stein/lm/captioning/caption_decoder.h>
#include <stein/lm/captioning/caption_prediction.h>
#include <stein/lm/captioning/caption_trainer.h>
#include <stein/lm/classification/sentence_rows.h>
#include <stein/lm/evaluation/text_uncertainty.h>
#include <stein/lm/language/text_prediction.h>
#include <stein/lm/language/uncertainty_file.h>
#include <stein/torch/recurrent_reference.h>
#include <stein/training/classifier_trainer.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/temporary_directory.h"
#include "inference/gpu.h"
#include "lm/captioning/captioned_images.h"
#include "lm/device_training.h"

namespace stein::lm {
namespace {

using training::ClassifierTrainer;

const char* const device_methods[] = {"sgd",   "rmsprop", "adam", "sgld", "psgld",      "sghmc",   "sgnht",
                                      "santa", "svgd",    "bbb",  "vmg",  "sharpening", "sgld-sa", "sghmc-sa"};

std::unique_ptr<CaptionTrainer> caption_trainer(const CaptionCorpus& corpus, const std::string& method, Device device) {
  inference::RecurrentSpec spec = test::small_network(corpus.vocabulary.size(), inference::FeatureUse::initial_state);
  spec.dropout = 0.2, spec.start_range = 0.1;
  const CaptionTrainingOptions options{
      .epochs = {.batch_size = 5, .epochs = 3, .burn_in = 0.4, .samples_per_epoch = 3, .draws = 3}};
  return std::make_unique<CaptionTrainer>(corpus, options, method_of(method), spec,
                                          inference::make_recurrent_reference(spec, device), 0);
}

/// Sentences of words 0 … 9, good where the first word is even.
training::LabelledParts sentences() {
  const auto vocabulary = std::make_shared<const Vocabulary>(
      TokenUnit::words, std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h", "i", "<unk>"});
  const auto part = [&](std::int32_t count) {
    std::vector<NumberedSentence> rows;
    for (std::int32_t i = 0; i < count; ++i) {
      NumberedSentence& row = rows.emplace_back(NumberedSentence{.words = {i % 9}, .label = i % 9 % 2});
      for (std::int32_t k = 0; k < i % 4; ++k) row.words.push_back((3 * i + k) % 9);
    }
    return std::make_unique<SentenceRows>(std::move(rows), vocabulary);
  };
  return {.train = part(30), .validation = part(9), .test = part(12)};
}

std::unique_ptr<ClassifierTrainer> sentence_trainer(const std::string& method, Device device) {
  const inference::RecurrentSpec spec{.vocabulary = 10,
                                      .embedding = 5,
                                      .hidden = 6,
                                      .layers = 1,
                                      .bidirectional = true,
                                      .readout = inference::Readout::last_state,
                                      .classes = 2,
                                      .dropout = 0.2};
  return std::make_unique<ClassifierTrainer>(
      sentences(), training::EpochOptions{.batch_size = 5, .epochs = 4, .burn_in = 0.3, .samples_per_epoch = 2},
      method_of(method), inference::make_recurrent_reference(spec, device), 0);
}

TEST_CASE("a language model on a device goes through the numbers of the host, and scores texts as it does",
          "[lm][device]") {
  const Corpus corpus = test::small_text(600);
  for (const char* const method : device_methods) {
    CAPTURE(method);
    const auto host = language_trainer(corpus, method, {}),
               device = language_trainer(corpus, method, test::fenced_device());
    train(*host), train(*device);
    check_same(*host, *device);
    check_near(device->validation_losses(), host->validation_losses());
    check_near(device->test_losses(), host->test_losses());
  }
}

TEST_CASE("a language model whose host runs ahead of its device goes through the numbers of the host",
          "[lm][device][run-ahead]") {
  const Corpus corpus = test::small_text(600);
  for (const char* const method : {"sgd", "sgld", "sghmc", "svgd", "bbb", "sharpening", "sghmc-sa"}) {
    CAPTURE(method);
    // 200 minibatches, of which the host looks at losses behind every one up to 128, then behind every second.
    const auto make = [&](Device device) { return language_trainer(corpus, method_of(method), device, 0.2, 1, 8); };
    const auto host = make({}), device = make(test::fenced_device()), resumed = make(test::fenced_device());
    train(*host), train(*device);
    check_same(*host, *device);
    const auto first = make(test::fenced_device());
    train(*first, 24 * 161);
    Snapshot state;
    first->save(state);
    resumed->restore(state);
    train(*resumed);
    check_same(*host, *resumed);
  }
}

TEST_CASE("a language model whose minibatches are taken apart on a device goes through the numbers of the host",
          "[lm][device]") {
  const Corpus corpus = test::small_text(600);
  for (const char* const method : {"sghmc", "svgd"}) {
    CAPTURE(method);
    const auto make = [&](Device device) { return language_trainer(corpus, method_of(method), device, 0.2, 3); };
    const auto host = make({}), device = make(test::fenced_device());
    train(*host), train(*device);
    check_same(*host, *device);
    const auto whole = language_trainer(corpus, method_of(method), {});
    train(*whole);
    CHECK((training_state(*whole) != training_state(*host)));  // other dropout
  }
}

TEST_CASE("a captioning model on a device goes through the numbers of the host, and decodes the same captions",
          "[lm][caption][device]") {
  const CaptionCorpus corpus = make_caption_corpus(test::small_images(16), 1);
  for (const char* const method : {"adam", "psgld", "sghmc", "svgd", "bbb", "sharpening"}) {
    CAPTURE(method);
    const test::TemporaryDirectory folder;
    const auto host = caption_trainer(corpus, method, {}),
               device = caption_trainer(corpus, method, test::fenced_device());
    host->store_samples_in(folder / "host"), device->store_samples_in(folder / "device");
    train(*host), train(*device);
    check_same(*host, *device);
    check_near(device->test_losses(), host->test_losses());
    const auto captions = [&](CaptionTrainer& trainer) {
      const CaptionDecoder decoder(trainer.weights().posterior().model(), trainer.spec(), corpus.vocabulary,
                                   corpus.data.features.view(), {});
      training::WeightDraws draws = trainer.draws();
      const inference::Matrix<float> weights = draws.all();
      const std::vector<std::int64_t> rows{32, 33, 34};
      return decoder.texts(decoder.decode(weights.view(), rows, 0));
    };
    CHECK(captions(*device) == captions(*host));
  }
}

TEST_CASE("a classifier of sentences on a device goes through the numbers of the host", "[lm][device]") {
  for (const char* const method : {"rmsprop", "sgld", "santa", "svgd", "bbb", "sghmc-sa"}) {
    CAPTURE(method);
    const auto host = sentence_trainer(method, {}), device = sentence_trainer(method, test::fenced_device());
    train(*host), train(*device);
    check_same(*host, *device);
    const training::ClassifierResult found = device->test_result(), expected = host->test_result();
    CHECK(found.averaged.log_likelihood == expected.averaged.log_likelihood);
    CHECK(found.single.brier == expected.single.brier);
    CHECK(found.final_weights.error == expected.final_weights.error);
  }
}

TEST_CASE("a checkpoint of a device goes on there and on the host with the same numbers", "[lm][device][resume]") {
  const Corpus corpus = test::small_text(600);
  for (const char* const method : {"adam", "sghmc", "svgd", "bbb", "sharpening", "sghmc-sa"}) {
    CAPTURE(method);
    const auto whole = language_trainer(corpus, method, {});
    train(*whole);
    const auto first = language_trainer(corpus, method, test::fenced_device());
    train(*first, 700);
    REQUIRE_FALSE(first->ended());
    Snapshot state;
    first->save(state);
    const auto there = language_trainer(corpus, method, test::fenced_device()),
               here = language_trainer(corpus, method, {});
    there->restore(state), here->restore(state);
    train(*there), train(*here);
    check_same(*whole, *there);
    CHECK((training_state(*here) == training_state(*whole)));
  }
}

TEST_CASE("a language model on a device predicts token by token, and says how sure it is", "[lm][device]") {
  const Corpus corpus = test::small_text(600);
  const test::TemporaryDirectory folder;
  const auto host = language_trainer(corpus, "sgld", {}),
             device = language_trainer(corpus, "sgld", test::fenced_device());
  host->store_samples_in(folder / "host"), device->store_samples_in(folder / "device");
  train(*host), train(*device);
  const auto draws_of = [](LanguageTrainer& trainer) {
    return training::WeightDraws(trainer.weights(), {.dropout = true, .seed = 3}, trainer.sample_folder(),
                                 trainer.stored_samples());
  };
  training::WeightDraws host_draws = draws_of(*host), device_draws = draws_of(*device);
  REQUIRE(device_draws.count() > 1);
  TextPrediction expected(host->weights().posterior().model(), host_draws),
      found(device->weights().posterior().model(), device_draws);
  for (const std::int32_t token : {1, 5, 2}) {
    expected.read(token), found.read(token);
    CHECK(std::ranges::equal(found.average(), expected.average()));
  }
  const auto uncertainty = [&](LanguageTrainer& trainer, training::WeightDraws& draws) {
    return uncertainty_json(trainer.weights(), draws, corpus.test, corpus.vocabulary, 20);
  };
  const auto one = uncertainty(*device, device_draws), other = uncertainty(*host, host_draws);
  CHECK(one["passage"] == other["passage"]);
  CHECK(one["gap"] == other["gap"]);
  for (std::size_t k = 0; k < other["pruning"]["perplexity"].size(); ++k)
    CHECK(one["pruning"]["perplexity"][k].get<double>() ==
          Approx(other["pruning"]["perplexity"][k].get<double>()).epsilon(1e-4));
}

TEST_CASE("a language model on a GPU learns what the host learns", "[lm][device][gpu]") {
  const Device gpu = test::gpu();
  const Corpus corpus = test::small_text(600);
  for (const char* const method : device_methods) {
    CAPTURE(method);
    const auto host = language_trainer(corpus, steady_method(method), {}, /*dropout=*/0),
               device = language_trainer(corpus, steady_method(method), gpu, /*dropout=*/0);
    train(*host), train(*device);
    CHECK(device->weights().particles().device() == gpu);
    const TextLosses found = device->test_losses(), expected = host->test_losses();
    CHECK(found.averaged == Approx(expected.averaged).epsilon(1e-3));
    CHECK(found.final_weights == Approx(expected.final_weights).epsilon(1e-3));
  }
}

TEST_CASE("a language model on a GPU learns in bfloat16 and TF32 what it learns in single precision but for rounding",
          "[lm][device][gpu][precision]") {
  const Device gpu = test::gpu();
  const Corpus corpus = test::small_text(600);
  const auto losses = [&](inference::Precision precision) {
    const auto trainer = language_trainer(corpus, steady_method("adam"), gpu, /*dropout=*/0, 1, 3, precision);
    train(*trainer);
    return trainer->test_losses();
  };
  const TextLosses single = losses(inference::Precision::single);
  for (const inference::Precision precision : {inference::Precision::bfloat16, inference::Precision::tf32}) {
    const TextLosses found = losses(precision);
    CHECK(found.final_weights == Approx(single.final_weights).epsilon(0.02));
    CHECK(found.final_weights != single.final_weights);
  }
}

}  // namespace
}  // namespace stein::lm
