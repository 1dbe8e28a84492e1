#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/lm/captioning/caption_examples.h>
#include <stein/lm/captioning/caption_prediction.h>
#include <stein/lm/captioning/caption_run.h>
#include <stein/lm/evaluation/loss_json.h>
#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/training/predictive_agreement.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;
using runs::of_each;

}  // namespace

Json quality_json(const std::vector<double>& losses, const std::vector<CaptionQuality>& qualities) {
  Json json = loss_json(losses);
  json.erase("bits_per_character");
  for (const auto& metric : qualities.front().metrics)
    json[metric.first] =
        runs::measured(of_each(qualities, [&](const CaptionQuality& q) { return q.metric(metric.first); }));
  if (!qualities.front().truth) return json;
  const auto share = [&](double TruthShares::*which) {
    return runs::measured(of_each(qualities, [&](const CaptionQuality& q) { return (*q.truth).*which; }));
  };
  json["exact_truth"] = share(&TruthShares::is_true);
  json["false"] = share(&TruthShares::is_false);
  json["no_caption"] = share(&TruthShares::no_caption);
  return json;
}

CaptionRun::CaptionRun(runs::SeedRange seeds, std::shared_ptr<const CaptionCorpus> corpus, Facts facts,
                       const std::function<std::unique_ptr<CaptionTrainer>(std::uint64_t seed)>& make_trainer)
    : EpochRunOf(seeds, [&](std::uint64_t seed) { return make_trainer(seed); }),
      corpus_(std::move(corpus)),
      facts_(std::move(facts)) {}

std::string CaptionRun::source() const {
  return corpus_->data.synthetic ? "made-up images whose truth is known" : "captioned images " + corpus_->data.name;
}

std::vector<std::string> CaptionRun::notices() const {
  const CaptionData& data = corpus_->data;
  std::vector<std::string> found{fmt::format(
      "{} captions of {} images, {} tokens of training, vocabulary of {}, {} features an image; {} weights; {} "
      "minibatches of an epoch",
      corpus_->train.size(), data.train.size(), token_count(corpus_->train), corpus_->vocabulary.size(),
      data.features.columns(), repetition(0).weights().parameter_count(), repetition(0).epoch().minibatches)};
  std::ranges::copy(chain_notices("caption"), std::back_inserter(found));
  if (!data.has_features())
    found.emplace_back("captions without images: the model learns their words, and all images get the same caption");
  if (corpus_->unknown_train + corpus_->unknown_validation + corpus_->unknown_test > 0)
    found.push_back(
        fmt::format("words that are not in the vocabulary stand as {}: {} of training, {} of validation, {} "
                    "of test",
                    unknown_word, corpus_->unknown_train, corpus_->unknown_validation, corpus_->unknown_test));
  return found;
}

Json CaptionRun::protocol() const {
  return {{"env", corpus_->data.name},
          {"env_options", facts_.data_options},
          {"model", facts_.network},
          {"sampler", facts_.method},
          {"vocabulary", corpus_->vocabulary.size()},
          {"features", corpus_->data.features.columns()},
          {"N", static_cast<double>(repetition(0).epoch().data)},
          {"unit", "captions"},
          {"minibatches", repetition(0).epoch().minibatches}};
}

std::map<std::string, std::string> CaptionRun::data_checksums() const {
  std::map<std::string, std::string> checksums = corpus_->data.checksums;
  checksums["vocabulary"] = sha256(corpus_->vocabulary.text());
  return checksums;
}

Json CaptionRun::part_json(const std::vector<PartWorth>& worths, const std::vector<CaptionedImage>& images,
                           std::size_t captions) const {
  const auto json = [&](const auto& loss, const auto& quality) {
    return quality_json(of_each(worths, loss), of_each(worths, quality));
  };
  const PartWorth& first = worths.front();
  Json part{{"protocol", first.losses.protocol},
            {"decoding", decoding_name(repetition(0).decoding())},
            {"images", images.size()},
            {"captions", captions},
            {"tokens", first.losses.tokens},
            {"samples", first.losses.samples},
            {"caption_samples", first.captions.samples},
            {"single_sample", json([](const PartWorth& w) { return w.losses.single; },
                                   [](const PartWorth& w) { return w.captions.single; })},
            {"averaged", json([](const PartWorth& w) { return w.losses.averaged; },
                              [](const PartWorth& w) { return w.captions.averaged; })},
            {"final_weights", json([](const PartWorth& w) { return w.losses.final_weights; },
                                   [](const PartWorth& w) { return w.captions.final_weights; })}};
  if (std::ranges::all_of(worths, [](const PartWorth& w) { return w.losses.chosen && w.captions.chosen; }))
    part["validation_chosen"] = json([](const PartWorth& w) { return *w.losses.chosen; },
                                     [](const PartWorth& w) { return *w.captions.chosen; });
  training::add_agreement(part, of_each(worths, [](const PartWorth& w) { return w.losses.agreement; }));
  return part;
}

Json CaptionRun::summarize(const Watch& watch) {
  const CaptionData& data = corpus_->data;
  validation_.clear(), test_.clear();
  watch.begin("final evaluation", "rounds of captions",
              static_cast<std::uint64_t>(2 * count() * repetition(0).rounds()));
  for (std::int64_t i = 0; i < count() && !watch.stop_requested(); ++i) {
    CaptionTrainer& trainer = repetition(i);
    validation_.push_back({trainer.validation_losses(watch.stop()), trainer.validation_worth(watch)});
    if (watch.stop_requested()) break;
    test_.push_back({trainer.test_losses(watch.stop()), trainer.test_worth(watch)});
  }
  if (watch.stop_requested()) return {};
  for (std::int64_t i = 0; i < count(); ++i) repetition(i).forget_draws();
  Json summary{{"env", data.name},
               {"data", data.name},
               {"synthetic", data.synthetic},
               {"model", facts_.network},
               {"sampler", facts_.method},
               {"vocabulary", corpus_->vocabulary.size()},
               {"features", data.features.columns()},
               {"parameters", repetition(0).weights().parameter_count()},
               {"epochs", facts_.epochs},
               {"tokens_per_second", runs::rounded(data_per_second())},
               {"validation", part_json(validation_, data.validation, corpus_->validation.size())},
               {"test", part_json(test_, data.test, corpus_->test.size())}};
  describe_weights(summary);
  return summary;
}

void CaptionRun::write_results(const RunDirectory& directory) {
  const CaptionData& data = corpus_->data;
  CaptionTrainer& trainer = repetition(0);
  const CaptionDecoder decode = trainer.decoder();
  training::WeightDraws draws = trainer.draws();
  const inference::Matrix<float> weights = draws.all();
  const std::vector<std::int64_t> rows = rows_of(data.test);
  const Captions& decoded = test_.front().captions.decoded;
  const std::vector<CandidateCaption> candidates = candidate_captions(data.test, decode.texts(decoded));
  const std::vector<DecodedCaption> best = best_captions(decoded);
  const auto sure = decode.certainty(weights.view(), rows, best);
  Json captions = captions_json(candidates);
  for (std::size_t i = 0; i < captions.size(); ++i) {
    captions[i]["log_probability"] = runs::rounded(best[i].log_probability);
    captions[i]["words"] = sure_words_json(sure[i], corpus_->vocabulary);
  }
  const auto curves_of = [](const PartWorth& worth) { return worth.losses.curves; };
  const Json curves{{"validation", training::curves_json(of_each(validation_, curves_of))},
                    {"test", training::curves_json(of_each(test_, curves_of))}};
  write_file_atomically(directory.file("vocabulary.txt"), corpus_->vocabulary.text());
  write_file_atomically(directory.file("captions.json"), captions.dump() + "\n");
  write_file_atomically(directory.file("references.json"), references_json(candidates).dump() + "\n");
  write_file_atomically(directory.file("curves.json"), curves.dump() + "\n");
  write_file_atomically(
      directory.file("examples.json"),
      caption_examples(decode, corpus_->vocabulary, weights.view(), data.test, corpus_->scenes).dump() + "\n");
}

}  // namespace stein::lm
