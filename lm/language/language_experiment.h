// A language model as a person describes it: text, network, method, training.
#pragma once

#include <stein/lm/language/language_training.h>
#include <stein/lm/network/recurrent_options.h>
#include <stein/lm/text/corpus.h>
#include <stein/training/network_experiment.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::lm {

/// What `stein lm train` starts.
class LanguageExperiment final : public training::NetworkExperiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  LanguageExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  const LanguageTrainingOptions& training() const { return training_; }
  /// The text, with its parts. Throws Error(data) where it is missing or damaged.
  Corpus read_text() const { return read_corpus(corpus_); }
  /// The network for a vocabulary of this size.
  inference::RecurrentSpec network(std::int64_t vocabulary) const;

 private:
  std::unique_ptr<training::EpochRun> make_trainings() const override;
  static Published published();
  const std::string& data() const override { return corpus_.data; }
  std::unique_ptr<inference::Model<float>> make_model(const Snapshot& meaning, inference::Device device) const override;

  CorpusOptions corpus_;
  RecurrentOptions network_;
  LanguageTrainingOptions training_;
};

/// The parts that experiments can be put together from.
std::vector<runs::Part> language_parts();

}  // namespace stein::lm
