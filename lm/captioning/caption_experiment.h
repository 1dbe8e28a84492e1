// A captioning model as a person describes it: images, network, method, training, decoding.
#pragma once

#include <stein/lm/captioning/caption_options.h>
#include <stein/lm/captions/caption_data.h>
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

  std::unique_ptr<runs::Run> make_run(const std::string& data) const override;

  const CaptionTrainingOptions& training() const { return training_; }
  /// The network for a vocabulary and images of these sizes.
  inference::RecurrentSpec network(std::int64_t vocabulary, std::int64_t features) const;

 private:
  static Published published();
  const std::string& data() const override { return data_.data; }

  CaptionDataOptions data_;
  CaptionNetworkOptions network_;
  CaptionTrainingOptions training_;
};

/// The parts that experiments can be put together from.
std::vector<runs::Part> caption_parts();

}  // namespace stein::lm
