// What a trained captioning model is worth on images: `stein caption eval`.
#pragma once

#include <stein/lm/captioning/caption_experiment.h>
#include <stein/lm/captioning/caption_run.h>
#include <stein/runs/run_action.h>
#include <stein/training/predicting_weights.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace stein::lm {

/// Decodes and scores the test part, the validation part, or other captioned images, with other beams and other draws
/// of the weights than the run did.
class CaptionEvaluation final : public runs::RunActionOn<CaptionExperiment, CaptionRun> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// Which images of a set.
  enum class Part { test, validation, train };
  /// How captions are made: as the run says, or otherwise.
  enum class Decoding { run, beam, sampled };

  nlohmann::ordered_json perform_on(const CaptionExperiment& experiment, CaptionRun& run, const RunDirectory& directory,
                                    std::FILE* terminal) override;
  CaptionDecodingOptions decoding_of(const CaptionExperiment& experiment) const;

  Part part_ = Part::test;
  std::filesystem::path images_{}, features_{}, out_{};
  training::PredictingWeights weights_;
  Decoding decoding_ = Decoding::run;
  std::int64_t beam_width_ = 0, max_length_ = 0;
  double length_power_ = -1, sharpness_ = 0;
};

}  // namespace stein::lm
