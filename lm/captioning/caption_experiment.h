// A captioning model as a person describes it: images, network, method, training, decoding.
#pragma once

#include <stein/lm/captioning/caption_options.h>
#include <stein/lm/captions/caption_data.h>
#include <stein/runs/experiment.h>
#include <stein/training/weight_method.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::lm {

/// What `stein caption train` starts.
class CaptionExperiment final : public runs::Experiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  CaptionExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  /// "scenes/psgld".
  std::string name() const override;
  std::unique_ptr<runs::Run> make_run(const std::string& data) const override;

  const CaptionTrainingOptions& training() const { return training_; }
  /// The network for a vocabulary and images of these sizes.
  inference::RecurrentSpec network(std::int64_t vocabulary, std::int64_t features) const;

 private:
  std::string method_ = "psgld";
  CaptionDataOptions data_;
  CaptionNetworkOptions network_;
  CaptionTrainingOptions training_;
  training::WeightMethodOptions method_options_;
};

/// The parts that experiments can be put together from.
std::vector<runs::Part> caption_parts();

}  // namespace stein::lm
