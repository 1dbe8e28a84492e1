// Classes of new images by a trained classifier: `stein predict`.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/supervised/classification/image_classes.h>
#include <stein/training/predicting_network.h>

#include <filesystem>
#include <string>

namespace stein::supervised {

/// A file of images in, a line of JSON for each out: {"image": its number, "class", "probabilities": {CLASS: p},
/// "deviations": {CLASS: sd over draws}, "entropy", "mutual_information"} [nats]. It needs the run's directory and the
/// images, no labels.
class ImageClassPrediction final : public runs::SavedRunAction<ImageClassExperiment> {
 public:
  void describe(OptionTable& table) override;
  bool streams() const override { return true; }
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// {images}. Throws Error(usage) without a file; Error(data) for images of another size than the network reads;
  /// Error(io).
  nlohmann::ordered_json perform_saved(const ImageClassExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  std::filesystem::path images_;
  training::PredictingNetwork network_;
};

}  // namespace stein::supervised
