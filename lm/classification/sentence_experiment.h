// A classifier of sentences as a person describes it: sentences, network, method, training.
#pragma once

#include <stein/lm/network/recurrent_options.h>
#include <stein/lm/text/sentence_parts.h>
#include <stein/training/classifier_experiment.h>
#include <stein/training/epoch_options.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace stein::lm {

/// What `stein classify` starts where the data are sentences.
class SentenceExperiment final : public training::ClassifierExperiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  SentenceExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  /// Whether the sources mean sentences: the name of a set, a file that is no table, or a preset of such; and where
  /// they name neither data nor a preset.
  static bool recognises(const runs::OptionSources& sources);

  const SentenceOptions& sentences() const { return sentences_; }
  std::unique_ptr<training::LabelledRows> other_rows(const std::string& data, const Snapshot& meaning) const override;

  /// What a network that was trained has of its words and classes.
  struct Meaning {
    Vocabulary vocabulary;
    std::vector<std::string> classes;

    void save(Snapshot& snapshot) const;
    /// What `save` wrote. Throws Error(data) if it is not there or damaged.
    static Meaning saved_in(const Snapshot& snapshot);
  };

 private:
  /// Sentences are read, and parted as each seed wants. Throws Error(data) also for a damaged file of word vectors, and
  /// Error(usage) for vectors of another width than `embedding`.
  std::unique_ptr<training::EpochRun> make_trainings() const override;
  static Published published();
  /// The options with the names of the files, on which it depends which others there are.
  static SentenceOptions named_sentences(const runs::OptionSources& sources);
  const std::string& data() const override { return sentences_.data; }
  std::unique_ptr<inference::Model<float>> make_model(const Snapshot& meaning, inference::Device device) const override;

  SentenceOptions sentences_;
  std::filesystem::path word_vectors_;
  RecurrentOptions network_;
  training::EpochOptions training_;
};

/// The parts that experiments can be put together from.
std::vector<runs::Part> sentence_parts();

}  // namespace stein::lm
