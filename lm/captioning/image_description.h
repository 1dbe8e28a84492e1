// Captions of new images by a trained model: `stein predict`.
#pragma once

#include <stein/lm/captioning/caption_experiment.h>
#include <stein/lm/captioning/decoding_changes.h>
#include <stein/runs/run_action.h>
#include <stein/training/predicting_network.h>

#include <filesystem>
#include <string>

namespace stein::lm {

/// Features of images in, a line of JSON out for each: {"image": its id or row, "caption", "log_probability",
/// "words": [[word, probability, sd over draws], …], its end last, "others": [{"caption", "log_probability"}, …]}. It
/// needs nothing but the run's directory and the features.
class ImageDescription final : public runs::SavedRunAction<CaptionExperiment> {
 public:
  void describe(OptionTable& table) override;
  bool streams() const override { return true; }
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// {images}.
  nlohmann::ordered_json perform_saved(const CaptionExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  std::filesystem::path features_{}, ids_{};
  training::PredictingNetwork network_;
  DecodingChanges decoding_;
};

}  // namespace stein::lm
