// What a trained captioning model is worth on images: `stein caption eval`.
#pragma once

#include <stein/lm/captioning/caption_experiment.h>
#include <stein/lm/captioning/decoding_changes.h>
#include <stein/lm/scenes/scene.h>
#include <stein/runs/run_action.h>
#include <stein/training/predicting_weights.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace stein::lm {

/// Decodes and scores the test part, the validation part, or other captioned images, with other beams and other draws
/// of the weights than the run did. For other images it needs nothing but the run's directory.
class CaptionEvaluation final : public runs::SavedRunAction<CaptionExperiment> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// Which images of a set.
  enum class Part { test, validation, train, all };
  /// Images that are described, and what is known of them.
  struct ScoredImages {
    CaptionData data;
    std::map<std::string, Scene> scenes{};  ///< what they show, by their ids; empty: that is not known
  };

  nlohmann::ordered_json perform_saved(const CaptionExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;
  /// Those that `part` names. Throws Error(data) where there are none.
  std::vector<CaptionedImage> images_of_part(const CaptionData& data) const;
  ScoredImages images_of(const CaptionExperiment& experiment, const runs::SavedRun& saved,
                         const training::TrainedNetwork& network) const;

  Part part_ = Part::test;
  std::filesystem::path images_{}, features_{}, out_{};
  training::PredictingWeights weights_;
  DecodingChanges decoding_;
};

}  // namespace stein::lm
