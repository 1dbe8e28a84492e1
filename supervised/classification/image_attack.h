// How a classifier of images stands changes that are made against it: `stein attack`.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/supervised/classification/image_classes.h>
#include <stein/training/predicting_weights.h>

#include <string>
#include <vector>

namespace stein::supervised {

/// Errors on test images that are changed by FastGradientSign, against the average over draws of the weights and
/// against single draws, for several sizes of the change. The result is kept in the run as adversarial.json, which
/// reports show.
class ImageAttack final : public runs::SavedRunAction<ImageClassExperiment> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  nlohmann::ordered_json perform_saved(const ImageClassExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  std::vector<std::string> sizes_{"0.1", "0.2", "0.3", "0.4", "0.5"};
  training::PredictingWeights weights_;
};

}  // namespace stein::supervised
