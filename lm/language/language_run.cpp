#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/lm/evaluation/loss_json.h>
#include <stein/lm/language/language_run.h>
#include <stein/lm/language/uncertainty_file.h>
#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/training/predictive_agreement.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;
using runs::of_each;

Json part_json(const std::vector<TextLosses>& losses, std::optional<double> tokens_a_character) {
  const TextLosses& first = losses.front();
  Json json{{"protocol", first.protocol},
            {"tokens", first.tokens},
            {"samples", first.samples},
            {"single_sample", loss_json(of_each(losses, &TextLosses::single), tokens_a_character)},
            {"averaged", loss_json(of_each(losses, &TextLosses::averaged), tokens_a_character)},
            {"final_weights", loss_json(of_each(losses, &TextLosses::final_weights), tokens_a_character)}};
  if (std::ranges::all_of(losses, [](const TextLosses& l) { return l.chosen.has_value(); }))
    json["validation_chosen"] =
        loss_json(of_each(losses, [](const TextLosses& l) { return *l.chosen; }), tokens_a_character);
  training::add_agreement(json, of_each(losses, &TextLosses::agreement));
  return json;
}

/// Throws Error(numeric) where a perplexity is beyond all numbers.
void check_finite(const std::vector<double>& losses) {
  for (const double loss : losses)
    if (!std::isfinite(std::exp(loss)))
      fail(ErrorKind::numeric,
           "the training diverged: its weights are finite, but a token of the test part costs {:.3g} nats; shorter "
           "steps, or of a chain a lower temperature, may help",
           loss);
}

}  // namespace

LanguageRun::LanguageRun(runs::SeedRange seeds, std::shared_ptr<const Corpus> corpus, Facts facts,
                         const std::function<std::unique_ptr<LanguageTrainer>(std::uint64_t seed)>& make_trainer)
    : EpochRunOf(seeds, [&](std::uint64_t seed) { return make_trainer(seed); }),
      corpus_(std::move(corpus)),
      facts_(std::move(facts)) {}

std::string LanguageRun::source() const {
  return corpus_->synthetic ? "a made-up text whose truth is known" : "text " + corpus_->name;
}

std::vector<std::string> LanguageRun::notices() const {
  std::vector<std::string> found{
      fmt::format("{} {} of training, vocabulary of {}; {} weights; {} minibatches of an epoch",
                  token_count(corpus_->train), unit_name(corpus_->vocabulary.unit()), corpus_->vocabulary.size(),
                  repetition(0).weights().parameter_count(), repetition(0).epoch().minibatches)};
  std::ranges::copy(chain_notices("token"), std::back_inserter(found));
  if (corpus_->unknown_train + corpus_->unknown_validation + corpus_->unknown_test > 0)
    found.push_back(
        fmt::format("words that are not in the vocabulary stand as {}: {} of training, {} of validation, {} of test",
                    unknown_word, corpus_->unknown_train, corpus_->unknown_validation, corpus_->unknown_test));
  return found;
}

Json LanguageRun::protocol() const {
  return {{"env", corpus_->name},
          {"env_options", facts_.text_options},
          {"model", facts_.network},
          {"sampler", facts_.method},
          {"tokens", unit_name(corpus_->vocabulary.unit())},
          {"vocabulary", corpus_->vocabulary.size()},
          {"N", static_cast<double>(repetition(0).epoch().data)},
          {"unit", "tokens"},
          {"minibatches", repetition(0).epoch().minibatches}};
}

std::vector<std::string> LanguageRun::warnings() const {
  std::vector<std::string> found = EpochRun::warnings();
  if (const auto warning = chance_warning(of_each(test_losses_, &TextLosses::averaged),
                                          static_cast<double>(corpus_->vocabulary.size()), "token"))
    found.push_back(*warning);
  return found;
}

Json LanguageRun::summarize(const Watch& watch) {
  validation_losses_.clear(), test_losses_.clear();
  watch.begin("final evaluation", "passes over texts",
              static_cast<std::uint64_t>(2 * count() * repetition(0).passes()));
  for (std::int64_t i = 0; i < count() && !watch.stop_requested(); ++i) {
    validation_losses_.push_back(repetition(i).validation_losses(watch));
    test_losses_.push_back(repetition(i).test_losses(watch));
  }
  if (watch.stop_requested()) return {};
  for (std::int64_t i = 0; i < count(); ++i) repetition(i).forget_draws();
  check_finite(of_each(test_losses_, &TextLosses::averaged));
  Json summary{
      {"env", corpus_->name},
      {"data", corpus_->name},
      {"synthetic", corpus_->synthetic},
      {"model", facts_.network},
      {"sampler", facts_.method},
      {"tokens", unit_name(corpus_->vocabulary.unit())},
      {"vocabulary", corpus_->vocabulary.size()},
      {"parameters", repetition(0).weights().parameter_count()},
      {"epochs", facts_.epochs},
      {"tokens_per_second", runs::rounded(data_per_second())},
      {"validation", part_json(validation_losses_, tokens_per_character(corpus_->validation, corpus_->vocabulary))},
      {"test", part_json(test_losses_, tokens_per_character(corpus_->test, corpus_->vocabulary))}};
  if (corpus_->truth) {
    const double truth = repetition(0).test_loss_of(*corpus_->truth);
    std::vector<double> excess;
    for (const TextLosses& each : test_losses_) excess.push_back(each.averaged / truth - 1);
    summary["truth"] = {{"entropy_rate", runs::rounded(corpus_->truth->entropy_rate())},
                        {"test_loss", runs::rounded(truth)},
                        {"excess", runs::measured(excess)}};
  }
  describe_weights(summary);
  return summary;
}

void LanguageRun::write_results(const RunDirectory& directory) {
  write_file_atomically(directory.file("vocabulary.txt"), corpus_->vocabulary.text());
  const Json curves{{"validation", training::curves_json(of_each(validation_losses_, &TextLosses::curves))},
                    {"test", training::curves_json(of_each(test_losses_, &TextLosses::curves))}};
  write_file_atomically(directory.file("curves.json"), curves.dump() + "\n");
  if (facts_.report_tokens == 0) return;
  LanguageTrainer& trainer = repetition(0);
  training::WeightDraws draws(trainer.weights(), {.draws = facts_.draws, .seed = trainer.seed()},
                              sample_folder(directory, trainer.seed()), trainer.stored_samples());
  const Json uncertainty =
      uncertainty_json(trainer.weights(), draws, corpus_->test, corpus_->vocabulary, facts_.report_tokens);
  write_file_atomically(directory.file("uncertainty.json"), uncertainty.dump() + "\n");
}

}  // namespace stein::lm
