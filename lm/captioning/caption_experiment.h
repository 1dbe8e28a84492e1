// A captioning model as a person describes it: images, network, method, training, decoding.
#pragma once

#include <stein/lm/captioning/caption_corpus.h>
#include <stein/lm/captioning/caption_options.h>
#include <stein/training/network_experiment.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::lm {

/// What `stein caption train` starts.
class CaptionExperiment final : public training::NetworkExperiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  CaptionExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  const CaptionTrainingOptions& training() const { return training_; }
  /// The images and their captions, with the vocabulary. Throws Error(data) where they are missing or damaged.
  CaptionCorpus read_captions() const;
  /// The network for a vocabulary and images of these sizes.
  inference::RecurrentSpec network(std::int64_t vocabulary, std::int64_t features) const;
  /// The network for inputs and outputs of this meaning (CaptionTrainer).
  inference::RecurrentSpec network(const Snapshot& meaning) const;

 private:
  std::unique_ptr<training::EpochRun> make_trainings() const override;
  static Published published();
  const std::string& data() const override { return data_.data; }
  std::unique_ptr<inference::Model<float>> make_model(const Snapshot& meaning, inference::Device device) const override;

  CaptionDataOptions data_;
  CaptionNetworkOptions network_;
  CaptionTrainingOptions training_;
};

/// The parts that experiments can be put together from.
std::vector<runs::Part> caption_parts();

}  // namespace stein::lm
