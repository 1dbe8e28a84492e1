#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/lm/captioning/caption_examples.h>
#include <stein/lm/captioning/caption_prediction.h>
#include <stein/lm/captioning/caption_run.h>
#include <stein/lm/evaluation/loss_json.h>
#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;
using runs::of_each;

}  // namespace

std::vector<std::int64_t> rows_of(std::span<const CaptionedImage> images) {
  std::vector<std::int64_t> rows;
  for (const CaptionedImage& image : images) rows.push_back(image.row);
  return rows;
}

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
      facts_(std::move(facts)) {
  if (corpus_->data.synthetic) scenes_ = scenes_by_id();
}

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

CaptionDecoder CaptionRun::decoder(CaptionTrainer& trainer) const {
  return {trainer.weights().posterior().model(), trainer.spec(), corpus_->vocabulary, corpus_->data.features.view(),
          facts_.decoding};
}

std::int64_t CaptionRun::rounds() {
  CaptionTrainer& trainer = repetition(0);
  const bool at_end = trainer.weights().kind() == training::MethodKind::optimizer;
  const std::int64_t samples = trainer.draws().count();
  return 1 + (at_end ? 0 : 1) + (samples > 1 ? samples : 0) + (trainer.has_best() ? 1 : 0);
}

CaptionRun::PartWorth CaptionRun::worth(CaptionTrainer& trainer, const std::vector<CaptionedImage>& images,
                                        const TextLosses& losses, const Watch& watch) const {
  const CaptionDecoder decode = decoder(trainer);
  const std::vector<std::int64_t> rows = rows_of(images);
  const auto quality_of = [&](const Captions& captions) {
    return caption_quality(candidate_captions(images, decode.texts(captions)), scenes_);
  };
  const auto quality = [&](inference::MatrixView<const float> weights) {
    CaptionQuality found = quality_of(decode.decode(weights, rows, trainer.seed()));
    watch.advance();
    return found;
  };
  const auto quality_of_end = [&] {
    training::WeightDraws draws = trainer.final_weights();
    return quality(draws.all().view());
  };
  PartWorth found{.losses = losses};
  training::WeightDraws draws = trainer.draws();
  const inference::Matrix<float> weights = draws.all();
  found.samples = weights.rows();
  found.decoded = decode.decode(weights.view(), rows, trainer.seed());
  found.averaged = quality_of(found.decoded);
  watch.advance();
  if (watch.stop_requested()) return found;
  const bool at_end = trainer.weights().kind() == training::MethodKind::optimizer;
  found.final_weights = at_end ? found.averaged : quality_of_end();
  if (found.samples == 1) {
    found.single = found.averaged;
  } else {
    std::vector<CaptionQuality> each;
    for (std::int64_t k = 0; k < weights.rows() && !watch.stop_requested(); ++k)
      each.push_back(quality(weights.view().block(k, 1)));
    if (watch.stop_requested()) return found;
    found.single = mean_quality(each);
  }
  trainer.with_best([&] { found.chosen = quality_of_end(); });
  return found;
}

Json CaptionRun::part_json(const std::vector<PartWorth>& worths, const std::vector<CaptionedImage>& images,
                           std::size_t captions) const {
  const auto json = [&](const auto& loss, const auto& quality) {
    return quality_json(of_each(worths, loss), of_each(worths, quality));
  };
  const PartWorth& first = worths.front();
  Json part{{"protocol", first.losses.protocol},
            {"decoding", decoding_name(facts_.decoding)},
            {"images", images.size()},
            {"captions", captions},
            {"tokens", first.losses.tokens},
            {"samples", first.losses.samples},
            {"caption_samples", first.samples},
            {"single_sample",
             json([](const PartWorth& w) { return w.losses.single; }, [](const PartWorth& w) { return w.single; })},
            {"averaged",
             json([](const PartWorth& w) { return w.losses.averaged; }, [](const PartWorth& w) { return w.averaged; })},
            {"final_weights", json([](const PartWorth& w) { return w.losses.final_weights; },
                                   [](const PartWorth& w) { return w.final_weights; })}};
  if (std::ranges::all_of(worths, [](const PartWorth& w) { return w.losses.chosen && w.chosen; }))
    part["validation_chosen"] =
        json([](const PartWorth& w) { return *w.losses.chosen; }, [](const PartWorth& w) { return *w.chosen; });
  return part;
}

Json CaptionRun::summarize(const Watch& watch) {
  const CaptionData& data = corpus_->data;
  validation_.clear(), test_.clear();
  watch.begin("final evaluation", "rounds of captions", static_cast<std::uint64_t>(2 * count() * rounds()));
  for (std::int64_t i = 0; i < count() && !watch.stop_requested(); ++i) {
    CaptionTrainer& trainer = repetition(i);
    validation_.push_back(worth(trainer, data.validation, trainer.validation_losses(watch.stop()), watch));
    if (watch.stop_requested()) break;
    test_.push_back(worth(trainer, data.test, trainer.test_losses(watch.stop()), watch));
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
  const CaptionDecoder decode = decoder(trainer);
  training::WeightDraws draws = trainer.draws();
  const inference::Matrix<float> weights = draws.all();
  const std::vector<std::int64_t> rows = rows_of(data.test);
  const Captions& decoded = test_.front().decoded;
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
      caption_examples(decode, corpus_->vocabulary, weights.view(), data.test, scenes_).dump() + "\n");
}

}  // namespace stein::lm
