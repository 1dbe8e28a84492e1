#include <stein/lm/language/language_experiment.h>
#include <stein/lm/language/language_presets.h>
#include <stein/lm/language/language_run.h>
#include <stein/runs/run_kind.h>

namespace stein::lm {

LanguageExperiment::LanguageExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : NetworkExperiment(kind, sources, published(), /*checkpoint_every=*/100'000) {
  corpus_.data = named_data(sources, published(), corpus_.data);
  add_sampler(training::NetworkInputs::words);
  add_part("Text", [this](OptionTable& table) { corpus_.describe(table); });
  add_part("Network", [this](OptionTable& table) { network_.describe(table); });
  add_part("Training", [this](OptionTable& table) { training_.describe(table); });
  read_with_method(sources, corpus_.data, corpus_.is_file());
}

LanguageExperiment::Published LanguageExperiment::published() {
  return {language_presets(), "language models"};
}

inference::RecurrentSpec LanguageExperiment::network(std::int64_t vocabulary) const {
  inference::RecurrentSpec spec = network_.spec;
  spec.vocabulary = vocabulary;
  return spec;
}

std::unique_ptr<inference::Model<float>> LanguageExperiment::make_model(const Snapshot& meaning,
                                                                        inference::Device device) const {
  return make_recurrent_model(network(saved_vocabulary(meaning).size()), method().posterior.arithmetic, device, 1);
}

std::unique_ptr<training::EpochRun> LanguageExperiment::make_trainings() const {
  const inference::Device device = this->device();
  const auto corpus = std::make_shared<const Corpus>(read_text());
  const inference::RecurrentSpec spec = network(corpus->vocabulary.size());
  const auto make_trainer = [&](std::uint64_t seed) {
    return std::make_unique<LanguageTrainer>(
        *corpus, training_, method(),
        make_recurrent_model(spec, method().posterior.arithmetic, device, seeds().count()), seed);
  };
  return std::make_unique<LanguageRun>(seeds(), corpus,
                                       LanguageRun::Facts{.network = network_name(spec),
                                                          .method = method_name(),
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
  training::add_method_parts(parts, language_presets(), training::NetworkInputs::words);
  return parts;
}

}  // namespace stein::lm
