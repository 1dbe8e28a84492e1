// What a trained classifier is worth: `stein eval`.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/training/classifier_run.h>

#include <cstdint>
#include <string>

namespace stein::training {

/// Classifies the test or the validation part by averages over draws of the weights.
class ClassifierEvaluation final : public runs::RunActionOn<runs::Experiment, ClassifierRun> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// Which rows.
  enum class Part { test, validation };
  /// Which weights predict.
  enum class By { draws, mean, best };

  nlohmann::ordered_json perform_on(const runs::Experiment& experiment, ClassifierRun& run,
                                    const RunDirectory& directory, std::FILE* terminal) override;

  Part part_ = Part::test;
  By by_ = By::draws;
  std::int64_t draws_ = 10, seed_ = 0;
  bool dropout_ = false;
};

}  // namespace stein::training
