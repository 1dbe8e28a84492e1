// A control run with the files that are its own.
#pragma once

#include <stein/agents/control/control_run.h>

#include <memory>
#include <string>

#include "control_experiment.h"

namespace stein::cli {

/// Writes visits.json at the end, and episode.svg where there is a picture of the task.
class RecordedControlRun final : public RecordedRun {
 public:
  /// @param experiment  must outlive this object
  RecordedControlRun(const ControlExperiment& experiment, std::unique_ptr<agents::ControlRun> run)
      : experiment_(experiment), run_(std::move(run)) {}

  std::int64_t steps_done() const override { return run_->steps_done(); }
  std::int64_t largest_advance() const override;
  std::string source() const override;
  std::vector<std::string> warnings() const override { return run_->warnings(); }
  RunManifest manifest() const override;
  void check_manifest(const nlohmann::ordered_json& manifest) const override;

  void advance(std::int64_t until, const StopToken& stop, const Outputs& outputs) override;
  void save(Snapshot& snapshot) override { run_->save(snapshot); }
  void restore(const Snapshot& snapshot) override { run_->restore(snapshot); }

  nlohmann::ordered_json cost() const override;
  void add_cost(const nlohmann::ordered_json& earlier) override;
  nlohmann::ordered_json finish(const RunDirectory& directory, const Outputs& outputs, const RunCost& cost) override;

 private:
  const ControlExperiment& experiment_;
  std::unique_ptr<agents::ControlRun> run_;
};

/// Throws Error(data) if the run of `manifest` was played in another version of the task.
void check_environment_version(const nlohmann::ordered_json& manifest, const envs::ControlSpec& spec);

}  // namespace stein::cli
