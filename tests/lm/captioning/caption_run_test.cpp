// The summary of a captioning run, of networks whose captions and probabilities are known.
#include <stein/core/run_directory.h>
#include <stein/lm/captioning/caption_run.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/temporary_directory.h"
#include "lm/captioning/captioned_images.h"
#include "training/method_with.h"

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// A network that says the same word of every image: all its weights are 0 but that word's bias of the output, so that
/// at every place the word is e^logit times as likely as each other token.
struct OneWord {
  std::string word;
  double logit;

  double probability(std::int32_t token, const Vocabulary& vocabulary) const {
    const double odds = std::exp(logit);
    return (vocabulary.find(word) == token ? odds : 1.0) / (odds + vocabulary.size() - 1);
  }
  /// Puts its weights in the place of the trainer's.
  void put_into(CaptionTrainer& trainer, const Vocabulary& vocabulary) const {
    inference::Particles<float>& particles = trainer.weights().particles();
    std::ranges::fill(particles.values().row(0), 0.0F);
    particles.view("output.bias", 0)(0, vocabulary.find(word).value()) = static_cast<float>(logit);
  }
};

/// Mean −log of the average probability of tokens.
double loss_of_networks(const std::vector<OneWord>& networks, const std::vector<CaptionSequence>& captions,
                        const Vocabulary& vocabulary) {
  double sum = 0;
  for (const CaptionSequence& caption : captions)
    for (const std::int32_t token : caption.tokens) {
      double total = 0;
      for (const OneWord& network : networks) total += network.probability(token, vocabulary);
      sum -= std::log(total / static_cast<double>(networks.size()));
    }
  return sum / static_cast<double>(token_count(captions));
}

/// What a word is worth as the caption of all images.
CaptionQuality quality_of(const std::string& word, const std::vector<CaptionedImage>& images) {
  return caption_quality(candidate_captions(images, std::vector<std::string>(images.size(), word)), {});
}

/// Scores of a summary are a loss, and the means of metrics over some captions.
void check_scores(const Json& scores, double loss, const std::vector<CaptionQuality>& qualities) {
  CAPTURE(scores.dump());
  CHECK(scores["loss"]["mean"].get<double>() == Approx(loss).epsilon(1e-4));
  CHECK(scores["perplexity"]["mean"].get<double>() == Approx(std::exp(loss)).epsilon(1e-3));
  for (const auto& metric : qualities.front().metrics) {
    CAPTURE(metric.first);
    double sum = 0;
    for (const CaptionQuality& each : qualities) sum += each.metric(metric.first);
    CHECK(scores[metric.first]["mean"].get<double>() == Approx(sum / static_cast<double>(qualities.size())));
  }
}

/// Red things are in the validation part, blue ones in the test part.
CaptionCorpus red_and_blue() {
  CaptionData data{.name = "words"};
  data.features = inference::Matrix<float>(7, 2);
  data.features.fill(1);
  data.train = {{"t0", 0, {"a red ball"}}, {"t1", 1, {"a blue box"}}};
  data.validation = {{"r0", 2, {"a red box", "red box"}}, {"r1", 3, {"a red ball"}}};
  data.test = {{"b0", 4, {"a blue ball"}}, {"b1", 5, {"a blue box", "blue box"}}, {"b2", 6, {"blue ball"}}};
  return make_caption_corpus(std::move(data), 1);
}

TEST_CASE("a summary says of either part what samples, their average, the last and the best weights are worth",
          "[lm][caption][run]") {
  const auto corpus = std::make_shared<const CaptionCorpus>(red_and_blue());
  const Vocabulary& vocabulary = corpus->vocabulary;
  REQUIRE(vocabulary.size() == 8);  // three tokens that are no words; a, ball, blue, box, red
  const inference::RecurrentSpec spec = test::small_network(vocabulary.size(), inference::FeatureUse::first_input);
  // A chain that stays where it is put: its steps are some 1e-6 long.
  const auto method = test::method_with("sgld", {{"step_size", "1e-12"}, {"temperature_every", "0"}});
  const CaptionTrainingOptions training{
      .epochs = {.batch_size = 100, .epochs = 3, .burn_in = 0, .samples_per_epoch = 1},
      .decoding = {.beam = {.beam_width = 1, .max_length = 1, .min_length = 1}}};
  CaptionRun run({0, 1}, corpus, CaptionRun::Facts{.network = "lstm 2x6", .method = "sgld", .epochs = 3},
                 [&](std::uint64_t seed) {
                   return std::make_unique<CaptionTrainer>(*corpus, training, method, spec,
                                                           std::make_unique<inference::ParticleRecurrent>(spec), seed);
                 });
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  for (std::int64_t i = 0; i < run.count(); ++i) run.open_files(directory, i);
  // Every epoch is one minibatch, behind which stand a validation and a sample. The average of the samples says what
  // the surest of them says.
  const std::vector<OneWord> samples{{"blue", 2}, {"red", 1}, {"ball", 3}};
  const std::string averaged = "ball";
  const OneWord &best = samples[1], last{"box", 1.5};
  CaptionTrainer& trainer = run.repetition(0);
  runs::Records records(false);
  for (const OneWord& each : samples) {
    each.put_into(trainer, vocabulary);
    trainer.advance(1, {}, records);
  }
  REQUIRE(trainer.ended());
  last.put_into(trainer, vocabulary);

  const Json summary = run.summarize({});
  const auto check_part = [&](const char* name, const std::vector<CaptionedImage>& images,
                              const std::vector<CaptionSequence>& captions) {
    CAPTURE(name);
    const Json& part = summary[name];
    CHECK(part["samples"] == 3);
    CHECK(part["caption_samples"] == 3);
    CHECK(part["images"] == images.size());
    CHECK(part["captions"] == captions.size());
    CHECK(part["tokens"] == token_count(captions));
    double single = 0;
    std::vector<CaptionQuality> of_each;
    for (const OneWord& each : samples) {
      single += loss_of_networks({each}, captions, vocabulary) / static_cast<double>(samples.size());
      of_each.push_back(quality_of(each.word, images));
    }
    check_scores(part["single_sample"], single, of_each);
    check_scores(part["averaged"], loss_of_networks(samples, captions, vocabulary), {quality_of(averaged, images)});
    check_scores(part["final_weights"], loss_of_networks({last}, captions, vocabulary),
                 {quality_of(last.word, images)});
    check_scores(part["validation_chosen"], loss_of_networks({best}, captions, vocabulary),
                 {quality_of(best.word, images)});
  };
  check_part("validation", corpus->data.validation, corpus->validation);
  check_part("test", corpus->data.test, corpus->test);
  // BLEU-1 by hand: how many of the words are in a reference, times exp(1 − words of the shortest references/words).
  const auto bleu = [&](const char* part, const char* which) {
    return summary[part][which]["BLEU-1"]["mean"].get<double>();
  };
  CHECK(bleu("validation", "single_sample") == Approx((0 + 1 + 1. / 2) / 3 * std::exp(1 - 5. / 2)));
  CHECK(bleu("validation", "validation_chosen") == Approx(std::exp(1 - 5. / 2)));
  CHECK(bleu("validation", "final_weights") == Approx(std::exp(1 - 5. / 2) / 2));
  CHECK(bleu("test", "single_sample") == Approx((1 + 0 + 2. / 3) / 3 * std::exp(1 - 7. / 3)));
  CHECK(bleu("test", "validation_chosen") == 0);
  CHECK(bleu("test", "final_weights") == Approx(std::exp(1 - 7. / 3) / 3));
}

}  // namespace
}  // namespace stein::lm
