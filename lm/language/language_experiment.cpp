#include <stein/lm/language/language_experiment.h>
#include <stein/lm/language/language_presets.h>
#include <stein/lm/language/language_run.h>
#include <stein/runs/run_kind.h>

#include <filesystem>

namespace stein::lm {
LanguageExperiment::LanguageExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : Experiment(kind, {.steps = 0,
                        .checkpoint_every = 1'000'000,
                        .may_end = true,
                        .note = ", all epochs, which is what it is for"}) {
  const training::PublishedPreset* const preset =
      training::named_preset(language_presets(), sources, "language models");
  corpus_.data = sources.look_ahead("data", preset != nullptr ? preset->data : corpus_.data);
  method_ = sources.look_ahead("sampler", preset != nullptr ? preset->sampler : method_);
  method_options_ = training::weight_methods().at(method_).defaults;
  add_run([this](OptionTable& table) {
    table("sampler", method_, "how weights are found; `stein list` names the methods");
  });
  add_part("Text", [this](OptionTable& table) { corpus_.describe(table); });
  add_part("Network", [this](OptionTable& table) { network_.describe(table); });
  add_part("Training", [this](OptionTable& table) { training_.describe(table); });
  add_part("Method " + method_, [this](OptionTable& table) { method_options_.describe(table); });
  for (const training::PublishedPreset& each : language_presets())
    if (each.data == corpus_.data && each.sampler == method_)
      offer_preset({.name = each.name, .description = each.source, .settings = each.settings});
  read(sources);
  if (corpus_.is_file()) corpus_.data = std::filesystem::absolute(corpus_.data).string();
}

std::string LanguageExperiment::name() const {
  const std::string text = corpus_.is_file() ? std::filesystem::path(corpus_.data).stem().string() : corpus_.data;
  return fmt::format("{}/{}", text, method_);
}

inference::RecurrentSpec LanguageExperiment::network(std::int64_t vocabulary) const {
  inference::RecurrentSpec spec = network_.spec;
  spec.vocabulary = vocabulary;
  return spec;
}

std::unique_ptr<runs::Run> LanguageExperiment::make_run(const std::string&) const {
  const auto corpus = std::make_shared<const Corpus>(read_corpus(corpus_));
  const inference::RecurrentSpec spec = network(corpus->vocabulary.size());
  const auto make_trainer = [&](std::uint64_t seed) {
    return std::make_unique<LanguageTrainer>(
        *corpus, training_, method_options_,
        make_recurrent_model(spec, method_options_.posterior.arithmetic, seeds().count()), seed);
  };
  return std::make_unique<LanguageRun>(seeds(), corpus,
                                       LanguageRun::Facts{.network = network_name(spec),
                                                          .method = method_,
                                                          .epochs = training_.epochs.epochs,
                                                          .text_options = values_of("Text"),
                                                          .draws = training_.epochs.draws,
                                                          .report_tokens = training_.report_tokens},
                                       make_trainer);
}

std::vector<runs::Part> language_parts() {
  CorpusOptions file{.data = "./TEXT"}, named{.data = "ptb"}, synthetic;
  RecurrentOptions network;
  LanguageTrainingOptions training;
  std::vector<runs::Part> parts{
      runs::make_part("text", "FILE", "a text of one's own", OptionTable::of(file)),
      runs::make_part("text", "ptb, war-and-peace, tiny-shakespeare", "published texts", OptionTable::of(named)),
      runs::make_part("text", "text-synthetic", corpora().at("text-synthetic").description, OptionTable::of(synthetic)),
      runs::make_part("network", "", "", OptionTable::of(network)),
      runs::make_part("training", "", "", OptionTable::of(training))};
  for (const auto& [name, method] : training::weight_methods().entries()) {
    training::WeightMethodOptions options = method.defaults;
    parts.push_back(runs::make_part("method", name, method.description, OptionTable::of(options)));
  }
  parts.push_back(training::published_part(language_presets()));
  return parts;
}

}  // namespace stein::lm
