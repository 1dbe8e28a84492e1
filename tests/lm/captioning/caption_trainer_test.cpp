// Training of captioning models: what is learned, resumed, repeated and collected.
#include <stein/core/checkpoint.h>
#include <stein/core/parallel.h>
#include <stein/core/safetensors.h>
#include <stein/lm/captioning/caption_decoder.h>
#include <stein/lm/captioning/caption_prediction.h>
#include <stein/lm/captioning/caption_trainer.h>
#include <stein/training/network_experiment.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "lm/captioning/captioned_images.h"
#include "lm/language/trained_text.h"
#include "training/noting_model.h"

namespace stein::lm {
namespace {

using inference::FeatureUse;

const CaptionTrainingOptions short_training{
    .epochs = {.batch_size = 5, .epochs = 3, .burn_in = 0.4, .samples_per_epoch = 3, .draws = 3}};

struct CaptionCase {
  std::string method;
  test::Settings settings{};
  CaptionTrainingOptions training = short_training;
  FeatureUse use = FeatureUse::first_input;
  double dropout = 0;

  inference::RecurrentSpec spec(const CaptionCorpus& corpus) const {
    inference::RecurrentSpec made = test::small_network(corpus.vocabulary.size(), use);
    made.hidden = 16, made.layers = 1, made.start_range = 0.1, made.dropout = dropout;
    made.features = corpus.data.features.columns();
    return made;
  }
  std::unique_ptr<CaptionTrainer> make(const CaptionCorpus& corpus, std::uint64_t seed = 0) const {
    return make(corpus, std::make_unique<inference::ParticleRecurrent>(spec(corpus)), seed);
  }
  std::unique_ptr<CaptionTrainer> make(const CaptionCorpus& corpus, std::unique_ptr<inference::Model<float>> model,
                                       std::uint64_t seed = 0) const {
    return std::make_unique<CaptionTrainer>(corpus, training, test::method_with(method, settings), spec(corpus),
                                            std::move(model), seed);
  }
};

/// Goes on to the end, or to about `until` tokens.
void train(CaptionTrainer& trainer, std::int64_t until = 1'000'000'000) {
  runs::Records records(false);
  while (!trainer.ended() && trainer.steps_done() < until) trainer.advance(until, {}, records);
}

std::vector<double> numbers_of(CaptionTrainer& trainer) {
  const TextLosses validation = trainer.validation_losses(), test = trainer.test_losses();
  return {validation.single, validation.averaged, validation.final_weights, validation.chosen.value_or(0),
          test.single,       test.averaged,       test.final_weights,       test.chosen.value_or(0)};
}

TEST_CASE("every method goes on with captions from the middle of an epoch with the same bits",
          "[lm][caption][trainer][resume]") {
  const int threads = thread_count();
  const CaptionCorpus corpus = make_caption_corpus(test::small_images(16), 1);  // 32 captions: 7 minibatches
  for (const std::string& name : training::methods_for(training::NetworkInputs::words)) {
    CAPTURE(name);
    CaptionCase each{.method = name, .settings = {{"step_size", "1e-3"}}, .dropout = 0.2};
    if (name == "svgd" || name == "s2vgd") each.settings["particles"] = "2";
    each.use = name == "psgld" ? FeatureUse::initial_state : FeatureUse::first_input;
    set_thread_count(1);
    const auto whole = each.make(corpus);
    train(*whole);
    const auto first = each.make(corpus);
    train(*first, 250);
    REQUIRE(first->share_done() < 1);
    const double minibatches = 3 * 7 * first->share_done();
    REQUIRE(std::fmod(std::round(minibatches), 7.0) != 0);
    const test::TemporaryDirectory folder;
    Snapshot state;
    first->save(state);
    save_checkpoint(folder.path(), 1, state);
    set_thread_count(2);
    const auto second = each.make(corpus);
    second->restore(load_latest_checkpoint(folder.path())->state);
    train(*second);
    CHECK(second->steps_done() == whole->steps_done());
    CHECK(numbers_of(*second) == numbers_of(*whole));
    Snapshot a, b;
    whole->save(a);
    second->save(b);
    REQUIRE(a.arrays().size() == b.arrays().size());
    for (const auto& [key, array] : a.arrays()) {
      INFO(key);
      CHECK(array.bytes == b.arrays().at(key).bytes);
    }
  }
  set_thread_count(threads);
}

TEST_CASE("captions that were found where a training concluded are in its state until they are forgotten",
          "[lm][caption][trainer]") {
  CaptionData data = test::small_images(16);
  data.synthetic = false;  // their scenes are not known
  const CaptionCorpus corpus = make_caption_corpus(std::move(data), 1);
  for (const char* const method : {"svgd", "adam"}) {
    CAPTURE(method);
    const CaptionCase each{.method = method};
    const auto trainer = each.make(corpus), other = each.make(corpus);
    train(*trainer);
    const auto state_of = [](const CaptionTrainer& of) {
      Snapshot state;
      of.save(state);
      return state;
    };
    const auto found_of = [](CaptionTrainer& of) {
      Snapshot found;
      found.put_saved("validation", of.validation_worth()), found.put_saved("test", of.test_worth());
      return encode_safetensors(found);
    };
    const std::size_t before = state_of(*trainer).arrays().size();
    const std::string expected = found_of(*trainer);
    const std::vector<double> losses = numbers_of(*trainer);
    trainer->forget_draws();
    StopToken stop;
    stop.request_stop();
    trainer->conclude(stop);
    trainer->forget_draws();  // as far as it came
    CHECK(state_of(*trainer).arrays().size() == before);
    trainer->conclude({});
    other->restore(state_of(*trainer));
    std::ranges::fill(other->weights().particles().values().row(0), 0.0F);  // it looks at the weights no more
    CHECK((found_of(*other) == expected));
    CHECK(numbers_of(*other) == losses);
    other->forget_draws();
    CHECK((found_of(*other) != expected));
    other->forget_draws();
    CHECK(state_of(*other).arrays().size() == before);
  }
}

TEST_CASE("steps are tokens, data are captions", "[lm][caption][trainer]") {
  const CaptionCorpus corpus = make_caption_corpus(test::small_images(16), 1);
  const auto trainer = CaptionCase{.method = "adam"}.make(corpus);
  CHECK(trainer->epoch().data == 32);
  CHECK(trainer->epoch().minibatches == 7);
  train(*trainer);
  CHECK(trainer->steps_done() == 3 * 16 * (4 + 7));  // "a red box <eos>", "there is a red box here <eos>"
  CHECK(trainer->test_losses().tokens == 16 * (4 + 7));
}

TEST_CASE("one validation an epoch is at its end, of which every token is a step", "[lm][caption][trainer]") {
  const CaptionCorpus corpus = make_caption_corpus(test::small_images(16), 1);
  CaptionTrainingOptions training = short_training;
  training.epochs.validations_per_epoch = 1;
  const auto trainer = CaptionCase{.method = "adam", .training = training}.make(corpus);
  runs::Records records(false);
  while (!trainer->ended()) trainer->advance(1'000'000, {}, records);
  std::vector<std::int64_t> steps;
  for (const runs::Records::Number& number : records.numbers())
    if (number.tag == "validation") steps.push_back(number.step);
  constexpr std::int64_t epoch = 16 * (4 + 7);
  CHECK(steps == std::vector<std::int64_t>{epoch, 2 * epoch, 3 * epoch});
}

/// Mean −log p of the tokens of some captions under the weights as they are.
double loss_of(CaptionTrainer& trainer, const std::vector<CaptionSequence>& captions, const CaptionCorpus& corpus) {
  CaptionScorer scorer(captions, corpus.data.features.view());
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  inference::Matrix<float> memory;
  scorer.score(trainer.weights().posterior().model(), {trainer.weights().weights_now(memory), 0}, log_probability);
  double sum = 0;
  for (const float log_p : log_probability) sum -= log_p;
  return sum / static_cast<double>(log_probability.size());
}

TEST_CASE("validation and test are captions of their own, and validation alone chooses the weights",
          "[lm][caption][trainer]") {
  CaptionData data = test::small_images(16);
  for (CaptionedImage& image : data.validation) image.captions.resize(1);  // "a red box" alone
  const CaptionCorpus corpus = make_caption_corpus(std::move(data), 1);
  const auto trainer = CaptionCase{.method = "adam", .settings = {{"step_size", "1e-2"}}}.make(corpus);
  runs::Records records(false);
  while (!trainer->ended()) trainer->advance(1'000'000, {}, records);
  std::vector<double> scores;
  for (const runs::Records::Number& number : records.numbers())
    if (number.tag == "validation") scores.push_back(number.value);
  REQUIRE_FALSE(scores.empty());
  const TextLosses validation = trainer->validation_losses(), test = trainer->test_losses();
  CHECK(validation.tokens == 16 * 4);
  CHECK(test.tokens == 16 * (4 + 7));
  CHECK(validation.final_weights == Approx(loss_of(*trainer, corpus.validation, corpus)).epsilon(1e-6));
  CHECK(test.final_weights == Approx(loss_of(*trainer, corpus.test, corpus)).epsilon(1e-6));
  trainer->restore_best();
  const double least = *std::ranges::min_element(scores), found = loss_of(*trainer, corpus.validation, corpus);
  CHECK(trainer->validation()->best()->score == least);
  CHECK(found == Approx(least).epsilon(1e-6));
  CHECK(found != Approx(loss_of(*trainer, corpus.test, corpus)).epsilon(1e-4));
  CHECK(*validation.chosen == Approx(least).epsilon(1e-6));
}

TEST_CASE("every minibatch stands for all captions of the training part", "[lm][caption][trainer]") {
  const CaptionCorpus corpus = make_caption_corpus(test::small_images(16), 1);
  const CaptionCase each{.method = "adam"};
  std::vector<test::NotingModel::Share> noted;
  const auto trainer = each.make(corpus, std::make_unique<test::NotingModel>(
                                             std::make_unique<inference::ParticleRecurrent>(each.spec(corpus)), noted));
  train(*trainer);
  REQUIRE(noted.size() == 3 * 7);
  for (std::size_t i = 0; i < noted.size(); ++i) {
    CHECK(noted[i].data == 32);  // two captions an image, however many tokens they have
    CHECK(noted[i].count == (i % 7 == 6 ? 2 : 5));
  }
}

TEST_CASE("captions that a decoder draws have its sharpness, and a seed's own draws", "[lm][caption][trainer]") {
  const CaptionCorpus corpus = make_caption_corpus(test::small_images(16), 1);
  const CaptionCase each{.method = "adam", .settings = {{"step_size", "1e-2"}}};
  const auto trainer = each.make(corpus);
  train(*trainer);
  const inference::Matrix<float> weights = trainer->weights().host_weights_now();
  std::vector<std::int64_t> rows;
  for (const CaptionedImage& image : corpus.data.test) rows.push_back(image.row);
  const auto words_of = [&](const CaptionDecodingOptions& options, std::uint64_t seed) {
    const CaptionDecoder decoder(trainer->weights().posterior().model(), each.spec(corpus), corpus.vocabulary,
                                 corpus.data.features.view(), options);
    std::vector<std::vector<std::int32_t>> words;
    for (const auto& captions : decoder.decode(weights.view(), rows, seed)) words.push_back(captions.at(0).words);
    return words;
  };
  CaptionDecodingOptions greedy, sampled;
  greedy.beam.beam_width = 1;
  sampled.decoding = CaptionDecodingOptions::Decoding::sampled;
  CHECK(words_of(sampled, 1) == words_of(sampled, 1));
  CHECK(words_of(sampled, 1) != words_of(sampled, 2));
  CHECK(words_of(sampled, 1) != words_of(greedy, 0));
  sampled.sharpness = 1e6;
  CHECK(words_of(sampled, 1) == words_of(greedy, 0));
}

TEST_CASE("the same seed trains the same captions, another seed other ones", "[lm][caption][trainer]") {
  const CaptionCorpus corpus = make_caption_corpus(test::small_images(16), 1);
  const CaptionCase each{.method = "psgld"};
  const auto one = each.make(corpus, 1), again = each.make(corpus, 1), other = each.make(corpus, 2);
  for (CaptionTrainer* trainer : {one.get(), again.get(), other.get()}) train(*trainer);
  CHECK(numbers_of(*one) == numbers_of(*again));
  CHECK(numbers_of(*one) != numbers_of(*other));
  CHECK(one->test_losses().samples > 1);
  CHECK(one->test_losses().averaged <= one->test_losses().single);
}

TEST_CASE("a trained model says what is on images, however they enter", "[lm][caption][trainer]") {
  const FeatureUse use = GENERATE(FeatureUse::first_input, FeatureUse::initial_state);
  const CaptionCorpus corpus = make_caption_corpus(test::small_images(60), 1);
  CaptionTrainingOptions training = short_training;
  training.epochs.epochs = 300, training.epochs.batch_size = 10;
  const auto trainer =
      CaptionCase{.method = "adam", .settings = {{"step_size", "0.02"}}, .training = training, .use = use}.make(corpus);
  train(*trainer);
  // Of each image two captions are equally likely: ln 2 nats for 11 tokens of two captions, 2 ln 2/11 = 0.126 a token.
  const double best = 2 * std::log(2.0) / 11;
  CHECK(trainer->test_losses().final_weights > best);
  CHECK(trainer->test_losses().final_weights < 1.05 * best);
  training::WeightDraws draws = trainer->draws();
  const inference::Matrix<float> weights = draws.all();
  const CaptionDecoder decoder(trainer->weights().posterior().model(), trainer->spec(), corpus.vocabulary,
                               corpus.data.features.view(), {.beam = {.beam_width = 2}});
  std::vector<std::int64_t> rows;
  for (const CaptionedImage& image : corpus.data.test) rows.push_back(image.row);
  const auto found = decoder.decode(weights.view(), rows, 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<std::string>& truth = corpus.data.test[i].captions;
    for (const DecodedCaption& caption : found[i])
      CHECK(std::ranges::count(truth, caption_of(caption.words, corpus.vocabulary)) == 1);
    CHECK(found[i][0].log_probability == Approx(std::log(0.5)).margin(0.2));
  }
}

TEST_CASE("how sure a word is of is its mean probability over networks, and their spread", "[lm][caption]") {
  const CaptionCorpus corpus = make_caption_corpus(test::small_images(4), 1);
  const inference::RecurrentSpec spec = test::small_network(corpus.vocabulary.size(), FeatureUse::initial_state);
  inference::ParticleRecurrent model(spec);
  const inference::Matrix<float> weights = test::random_weights(model, 2);
  const CaptionDecoder decoder(model, spec, corpus.vocabulary, corpus.data.features.view(),
                               {.beam = {.beam_width = 3, .max_length = 6}});
  const std::vector<std::int64_t> rows{3, 1};
  const auto found = decoder.decode(weights.view(), rows, 0);
  const std::vector<DecodedCaption> best{found[0][0], found[1][0]};
  const auto both = decoder.certainty(weights.view(), rows, best);
  const auto first = decoder.certainty(weights.view().block(0, 1), rows, best);
  const auto second = decoder.certainty(weights.view().block(1, 1), rows, best);
  for (std::size_t i = 0; i < best.size(); ++i) {
    REQUIRE(both[i].size() == best[i].words.size() + 1);
    CHECK(both[i].back().token == end_token);
    double log_probability = 0;
    for (std::size_t t = 0; t < both[i].size(); ++t) {
      const double p = first[i][t].probability, q = second[i][t].probability;
      CHECK(both[i][t].probability == Approx((p + q) / 2).epsilon(1e-9));
      CHECK(both[i][t].deviation == Approx(std::abs(p - q) / 2).epsilon(1e-9));
      CHECK(first[i][t].deviation == 0);
      log_probability += std::log(both[i][t].probability);
    }
    CHECK(best[i].log_probability == Approx(log_probability).epsilon(1e-4));
  }
}

TEST_CASE("captions are learned without images too", "[lm][caption][trainer]") {
  CaptionData data = test::small_images(16);
  data.features = {};
  const CaptionCorpus corpus = make_caption_corpus(std::move(data), 1);
  const auto trainer = CaptionCase{.method = "adam"}.make(corpus);
  train(*trainer);
  CHECK(std::isfinite(trainer->test_losses().final_weights));
}

}  // namespace
}  // namespace stein::lm
