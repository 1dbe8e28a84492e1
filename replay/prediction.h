// `stein predict`: the policy of a run as a decision service over a pipe.
#pragma once

#include <stein/core/line_stream.h>
#include <stein/replay/log_format.h>
#include <stein/replay/served_policy.h>
#include <stein/runs/run_action.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stein::replay {

/// A line in, a line out: contexts become decisions, outcomes are learned from. What cannot be understood becomes
/// {"error": …}, and the service goes on.
///
/// A decision is {"id", "action", "arm", "propensity", "propensities" [choices]}, and "reward_mean" and "reward_sd"
/// [choices] of the posterior if asked for. An outcome, {"id", "reward"}, is JSON whatever the contexts are written in.
class Prediction : public runs::RunAction {
 public:
  void describe(OptionTable& table) override;
  bool streams() const override { return true; }
  bool learns() const { return learn_; }
  /// {decisions, outcomes, errors}: of this service, outcomes of those before it too.
  nlohmann::ordered_json perform(const RunDirectory& directory, const std::string& data,
                                 const runs::Console& console) final;
  std::string readable(const nlohmann::ordered_json& result) const final;

  /// The policy as it is now: as its service left it, or as the run did. Throws Error(data) where there is no
  /// checkpoint.
  std::unique_ptr<ServedPolicy> serve(const RunDirectory& directory, const std::string& data) const;
  /// Keeps what a served policy has learned in the run's folder `service/POLICY-SEED`, where `serve` finds it.
  void save(const RunDirectory& directory, const ServedPolicy& policy) const;

 protected:
  std::int64_t seed() const { return seed_; }

 private:
  /// The policy of `experiment` as it was when `state` was saved.
  virtual std::unique_ptr<ServedPolicy> make_policy(const runs::Experiment& experiment, const Snapshot& state,
                                                    std::uint64_t seed, const RunDirectory& directory,
                                                    const std::string& data) const = 0;
  /// The format of contexts as the run had it; null: it had none of that name.
  virtual std::unique_ptr<LogFormat> format_of(const runs::Experiment& experiment, const std::string& name) const;

  /// Which policy of `experiment` is served.
  virtual std::string policy_name(const runs::Experiment& experiment) const = 0;

  std::filesystem::path folder(const RunDirectory& directory, const runs::Experiment& experiment) const;
  std::uint64_t served_seed(const runs::Experiment& experiment) const;
  std::unique_ptr<LogFormat> make_format(const runs::Experiment& experiment) const;

  std::string format_ = "json";
  bool learn_ = false, rewards_ = false;
  std::int64_t seed_ = -1, checkpoint_every_ = 1000;
};

}  // namespace stein::replay
