// `stein predict` of a replay.
#pragma once

#include <stein/replay/prediction.h>

#include <memory>
#include <string>

namespace stein::replay {

/// A policy that learned from a log decides for those who come after; the log is not needed.
class ReplayPrediction final : public Prediction {
 public:
  void describe(OptionTable& table) override;

 private:
  std::unique_ptr<ServedPolicy> make_policy(const runs::Experiment& experiment, const Snapshot& state,
                                            std::uint64_t seed, const RunDirectory& directory,
                                            const std::string& data) const override;
  std::string policy_name(const runs::Experiment& experiment) const override;
  std::unique_ptr<LogFormat> format_of(const runs::Experiment& experiment, const std::string& name) const override;

  std::string policy_;
};

}  // namespace stein::replay
