// A bandit run with the files that are its own: the log of its decisions, its posteriors, its summary.
#pragma once

#include <stein/agents/bandits/bandit_run.h>
#include <stein/agents/bandits/decision_log.h>

#include <memory>
#include <string>
#include <vector>

#include "bandit_experiment.h"

namespace stein::cli {

/// Writes decisions.jsonl if it is wanted, and posteriors.json at the end.
class RecordedBanditRun final : public RecordedRun {
 public:
  /// @param experiment  must outlive this object
  /// @param data        folder with data sets, or empty
  RecordedBanditRun(const BanditExperiment& experiment, std::unique_ptr<agents::BanditRun> run, std::string data)
      : experiment_(experiment), run_(std::move(run)), data_(std::move(data)) {}

  std::int64_t steps_done() const override { return run_->steps_done(); }
  std::string source() const override;
  std::vector<std::string> notices() const override;
  std::vector<std::string> warnings() const override { return run_->result().warnings; }
  RunManifest manifest() const override;

  void open_logs(const RunDirectory& directory) override;
  void advance(std::int64_t until, const StopToken& stop, const Outputs& outputs) override;
  void save(Snapshot& snapshot) override;
  void restore(const Snapshot& snapshot) override;

  nlohmann::ordered_json cost() const override;
  void add_cost(const nlohmann::ordered_json& earlier) override;
  nlohmann::ordered_json finish(const RunDirectory& directory, const Outputs& outputs, const RunCost& cost) override;

 private:
  agents::BanditAgent::Timing timing() const;

  const BanditExperiment& experiment_;
  std::unique_ptr<agents::BanditRun> run_;
  std::string data_;
  std::unique_ptr<agents::DecisionLog> decisions_;
  std::uint64_t decisions_bytes_ = 0;  ///< when the restored state was saved
  agents::BanditAgent::Timing earlier_{};
};

}  // namespace stein::cli
