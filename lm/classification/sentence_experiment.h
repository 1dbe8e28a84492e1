// A classifier of sentences as a person describes it: sentences, network, method, training.
#pragma once

#include <stein/lm/network/recurrent_options.h>
#include <stein/lm/text/sentence_parts.h>
#include <stein/runs/experiment.h>
#include <stein/training/epoch_options.h>
#include <stein/training/published_preset.h>
#include <stein/training/weight_method.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace stein::lm {

/// What `stein classify` starts where the data are sentences.
class SentenceExperiment final : public runs::Experiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  SentenceExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  /// "trec/psgld".
  std::string name() const override;
  /// Sentences are read, and parted as each seed wants. Throws Error(data) also for a damaged file of word vectors, and
  /// Error(usage) for vectors of another width than `embedding`.
  std::unique_ptr<runs::Run> make_run(const std::string& data) const override;

  const SentenceOptions& sentences() const { return sentences_; }

 private:
  SentenceExperiment(const runs::RunKind& kind, const runs::OptionSources& sources,
                     const training::PublishedPreset* preset);

  std::string method_ = "psgld";
  SentenceOptions sentences_;
  std::filesystem::path word_vectors_;
  RecurrentOptions network_;
  training::EpochOptions training_;
  training::WeightMethodOptions method_options_;
};

/// The parts that experiments can be put together from.
std::vector<runs::Part> sentence_parts();

}  // namespace stein::lm
